"""The alert's own expression: found, and narrowed to the alert that fired."""

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from engine.model.alert import Alert
from engine.model.evidence import Gap, Series
from engine.ports import RuleInfo


def rule_of(alert: Alert, rules: Sequence[RuleInfo] | Gap) -> RuleInfo | None:
    """Find the rule that fired; of rules of one name, the one whose labels fit best."""
    if isinstance(rules, Gap):
        return None
    named = [rule for rule in rules if rule.name == alert.rule]
    fitting = [rule for rule in named if _fits(rule, alert)]
    return max(fitting, key=lambda rule: len(rule.labels), default=None)


def _fits(rule: RuleInfo, alert: Alert) -> bool:
    """Templated labels are not compared: what they came to is not known."""
    return all("{{" in v or alert.labels.get(n) == v for n, v in rule.labels.items())


def linked_expression(alert: Alert) -> str | None:
    """Read the expression off the address of the graph that a Prometheus adds to its alerts."""
    if alert.generator_url is None:
        return None
    try:
        query = parse_qs(urlsplit(alert.generator_url).query)
    except ValueError:
        return None
    return next(iter(query.get("g0.expr", [])), None)


def of_alert(lines: Sequence[Series], alert: Alert) -> tuple[Series, ...]:
    """Keep the series whose labels are the alert's own."""
    known = alert.labels.items()
    return tuple(
        s for s in lines if {(n, v) for n, v in s.labels.items() if n != "__name__"} <= known
    )
