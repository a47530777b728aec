"""Questions in LogQL, written from values: no text of a stranger or a model is ever part of one."""

from collections.abc import Mapping
from typing import Final

from engine.promql.selectors import selector
from engine.promql.strings import quote

FAILURE_WORDS: Final = (
    "error", "exception", "fatal", "panic", "critical", "warn", "fail", "timeout", "timed out",
    "deadline", "refused", "reset by peer", "denied", "unavailable", "unreachable", "unhealthy",
    "unable to", "cannot", "could not", "killed", "out of memory", "exhausted", "too many",
    "no space", "deadlock", "traceback", "corrupt", "rollback", "shutting down", "abort",
)  # fmt: skip
"""What lines hold that tell of something going wrong."""


def log_query(
    labels: Mapping[str, str],
    matchers: Mapping[str, str],
    *,
    pods: str = "",
    contains: str = "",
    failures: bool = False,
) -> str:
    """Ask for the lines of whatever carries the labels.

    Args:
        labels: with their exact values.
        matchers: the client's own; they hold whatever the labels say.
        pods: pattern of the names of the pods that wrote them; empty is anybody.
        contains: text a line must hold.
        failures: only lines that tell of something going wrong.
    """
    chosen = selector(None, {**labels, **matchers})
    if pods and "pod" not in matchers:
        more = "," if labels or matchers else ""
        chosen = f"{chosen[:-1]}{more}pod=~{quote(pods)}}}"
    having = f" |= {quote(contains)}" if contains else ""
    wrong = f" |~ {quote('(?i)(' + '|'.join(FAILURE_WORDS) + ')')}" if failures else ""
    return f"{chosen}{having}{wrong}"
