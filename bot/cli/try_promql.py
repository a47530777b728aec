"""`caveat try promql`: what the local check says of expressions, one a line."""

import json
from collections.abc import Iterable, Iterator

from engine.promql.check import check
from engine.promql.policy import Policy
from engine.promql.server import ServerInfo


def run_promql(
    lines: Iterable[str], *, server: ServerInfo | None = None, policy: Policy | None = None
) -> Iterator[str]:
    """Give one JSON object a line of input; blank lines give none.

    Args:
        lines: an expression a line, or a JSON object with an `expr`, for what spans lines.
        server: whose version and flags count; None means Prometheus 3 with its defaults.
        policy: also judge what a model may ask for.
    """
    for line in lines:
        expr = _expression(line.strip())
        if not expr:
            continue
        judged = check(expr, server=server, policy=policy)
        reason = None if judged.reason is None else judged.reason.value
        said = {"expr": expr, "verdict": judged.verdict.value, "reason": reason}
        yield json.dumps({**said, "detail": judged.detail})


def _expression(line: str) -> str:
    """Take the expression out of an object; no PromQL reads as an object with a key and a value."""
    if not line.startswith("{"):
        return line
    try:
        found = json.loads(line)
    except ValueError:
        return line
    expr = found.get("expr") if isinstance(found, dict) else None
    return expr if isinstance(expr, str) else line
