"""How rule authors spell how bad it is."""

from collections.abc import Mapping

from engine.model.alert import Severity

PROMETHEUS: Mapping[str, Severity] = {
    spelling: severity
    for severity, spellings in {
        Severity.CRITICAL: "critical crit page pager paging p0 p1 sev0 sev1 s0 s1 emergency emerg "
        "disaster fatal panic blocker urgent alert",
        Severity.HIGH: "high error err major severe p2 sev2 s2",
        Severity.WARNING: "warning warn minor average medium moderate ticket p3 sev3 s3",
        Severity.INFO: "info information informational notice none low debug trivial ok p4 p5 "
        "sev4 sev5 s4 s5",
    }.items()
    for spelling in spellings.split()
}
"""Spellings seen in Prometheus rules; there is no standard, `critical` and `page` lead."""

LABELS = ("severity", "priority", "level")
"""Labels that may say it, first understood wins."""


def severity_of(labels: Mapping[str, str], table: Mapping[str, Severity]) -> Severity:
    """Read the severity a rule's author gave; unknown when no label is understood."""
    for name in LABELS:
        spelling = labels.get(name, "").strip().lower().replace("-", "").replace("_", "")
        if spelling in table:
            return table[spelling]
    return Severity.UNKNOWN
