"""How rule authors spell how bad it is."""

import pytest

from bot.sources.severity import PROMETHEUS, severity_of
from engine.model.alert import Severity


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        *((s, Severity.CRITICAL) for s in ("critical", "CRITICAL", " Critical ", "page", "p1")),
        *(
            (s, Severity.CRITICAL)
            for s in ("P0", "sev1", "SEV-1", "emergency", "disaster", "fatal")
        ),
        *((s, Severity.HIGH) for s in ("high", "error", "major", "p2", "sev2")),
        *((s, Severity.WARNING) for s in ("warning", "warn", "minor", "average", "P3")),
        *((s, Severity.INFO) for s in ("info", "none", "notice", "informational", "low")),
        *((s, Severity.UNKNOWN) for s in ("", "критично", "5", "unknown", "very bad")),
    ],
)
def test_a_spelling_is_understood(spelling: str, expected: Severity) -> None:
    assert severity_of({"severity": spelling}, PROMETHEUS) is expected


def test_a_priority_is_read_where_the_severity_says_nothing() -> None:
    assert severity_of({"priority": "P1"}, PROMETHEUS) is Severity.CRITICAL
    assert severity_of({"severity": "info", "priority": "P1"}, PROMETHEUS) is Severity.INFO
    assert severity_of({"severity": "?", "priority": "P1"}, PROMETHEUS) is Severity.CRITICAL
