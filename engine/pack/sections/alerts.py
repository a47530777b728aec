"""The alerts themselves: one representative of each kind, with exact counts."""

from collections.abc import Sequence

from engine.model.alert import Alert
from engine.model.incident import Member, MemberState
from engine.model.pack import AlertFacts, SectionName
from engine.pack.figures import labelled, moment
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote

_LONGEST_TEXT = 300
_NAMED_VALUES = 3
"""Values named before "and n more"."""


async def gather(case: Case) -> Gathered:
    """Group like alerts; the worst first, then the earliest."""
    items = Items("A", case)
    for kind, differing in sorted(_kinds(case), key=lambda kind: _order(kind[0])):
        facts = _cleaned(kind, case)
        items.add(_text(facts, differing), facts)
    note = SectionNote.SENDER_TRUNCATED if case.incident.truncated else ""
    return items.section(SectionName.ALERTS, note=note)


def _kinds(case: Case) -> list[tuple[AlertFacts, str]]:
    together: dict[tuple[str, int], list[Member]] = {}
    for member in case.incident.members:
        key = (member.alert.rule, member.alert.severity.rank)
        together.setdefault(key, []).append(member)
    return [_facts(members, case) for members in together.values()]


def _facts(members: Sequence[Member], case: Case) -> tuple[AlertFacts, str]:
    alerts = [member.alert for member in members]
    first = min(alerts, key=lambda alert: (alert.starts_at, alert.fingerprint))
    shared = {n: v for n, v in first.labels.items() if all(a.labels.get(n) == v for a in alerts)}
    facts = AlertFacts(
        rule=first.rule,
        severity=first.severity,
        alert_class=case.incident.group_of(members[0]).alert_class,
        labels=shared,
        count=len(members),
        firing=sum(member.state is MemberState.FIRING for member in members),
        starts_at=first.starts_at,
        summary=first.annotations.get("summary", ""),
        description=first.annotations.get("description", ""),
    )
    return facts, _differing(alerts, shared)


def _differing(alerts: Sequence[Alert], shared: dict[str, str]) -> str:
    """Name the label that tells most of the alerts apart, with a few of its values."""
    values: dict[str, set[str]] = {}
    for alert in alerts:
        for name, value in alert.labels.items():
            if name not in shared:
                values.setdefault(name, set()).add(value)
    if not values:
        return ""
    name = min(values, key=lambda name: (-len(values[name]), name))
    known = sorted(values[name])
    more = len(known) - _NAMED_VALUES
    named = ", ".join(known[:_NAMED_VALUES])
    return f"{name} {named}" + (f" and {more} more" if more > 0 else "")


def _order(facts: AlertFacts) -> tuple[object, ...]:
    return (-facts.severity.rank, facts.starts_at, facts.rule)


def _text(facts: AlertFacts, differing: str) -> str:
    counted = f"{facts.count} alerts, {facts.firing} firing" if facts.count > 1 else ""
    if not counted:
        counted = "firing" if facts.firing else "no longer firing"
    scope = labelled({n: v for n, v in facts.labels.items() if n not in {"alertname", "severity"}})
    parts = [f"{facts.rule}{scope} {facts.severity}: {counted}", f"since {moment(facts.starts_at)}"]
    parts += [differing] if differing else []
    parts += [facts.summary or facts.description] if facts.summary or facts.description else []
    return "; ".join(parts)


def _cleaned(facts: AlertFacts, case: Case) -> AlertFacts:
    clean = case.ports.clean
    return facts.model_copy(
        update={
            "summary": clean(facts.summary)[:_LONGEST_TEXT],
            "description": clean(facts.description)[:_LONGEST_TEXT],
            "labels": case.ports.cleaned(facts.labels),
        }
    )


def _configured(_: Ports) -> bool:
    return True


SECTION = PackSection(
    name=SectionName.ALERTS, configured=_configured, gather=gather, anchored=False
)
