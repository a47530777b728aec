"""`caveat try indicators` and `caveat try groundedness`: one JSON object a line, in and out."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engine.groundedness.extract import indicators
from engine.groundedness.kinds import Indicator
from engine.groundedness.score import score


def run_indicators(lines: Iterable[str]) -> Iterator[str]:
    """Find the indicators of each `{"text", "known": […]}`."""
    for given in _objects(lines):
        found = indicators(_text(given.get("text")), _texts(given.get("known")))
        yield json.dumps({"indicators": [_shown(one) for one in found]}, ensure_ascii=False)


def run_groundedness(lines: Iterable[str]) -> Iterator[str]:
    """Score each `{"finding", "evidence": […], "known": […], "memory": […]}`."""
    for given in _objects(lines):
        result = score(
            _texts(given.get("finding")),
            _texts(given.get("evidence")),
            known=_texts(given.get("known")),
            memory_texts=_texts(given.get("memory")),
        )
        told = {
            "score": result.score,
            "found": [_shown(one) for one in result.found],
            "missing": [_shown(one) for one in result.missing],
            "memory_only": [_shown(one) for one in result.memory_only],
            "derived": [_shown(one) for one in result.derived],
        }
        yield json.dumps(told, ensure_ascii=False)


def _objects(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Read each line; one that is no object counts as its text."""
    for line in lines:
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = line.strip()
        yield given if isinstance(given, dict) else {"text": given, "finding": given}


def _texts(given: object) -> list[str]:
    if given is None:
        return []
    return [_text(one) for one in given] if isinstance(given, list) else [_text(given)]


def _text(given: object) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _shown(one: Indicator) -> dict[str, str]:
    return {"kind": one.kind.value, "text": one.text}
