"""The only door to the parser library, which can raise what `except Exception` does not catch."""

from asyncio import CancelledError
from typing import Any

import promql_parser

from engine.model.base import Frozen


class Unparsable(Frozen):
    """The library refused the text; `detail` is its own sentence."""

    detail: str


def parse(expr: str) -> Any | Unparsable:
    """Parse a text that keeps the caps (`engine.promql.caps`) into the library's syntax tree."""
    try:
        return promql_parser.parse(expr)
    except (CancelledError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 a panic of the library is a BaseException
        return Unparsable(detail=str(error)[:200] or type(error).__name__)


def parses(expr: str) -> bool:
    """Whether the library takes the text."""
    return not isinstance(parse(expr), Unparsable)
