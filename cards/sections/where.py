"""Where it fails, since when, and how many alerts say so."""

from datetime import datetime, timedelta

from cards.card import Line
from cards.figures import count
from cards.heading import where as place
from cards.line import code, joined, moment, say, text
from cards.section import Body, CardSection
from engine.model.pack import Anchor, OnsetSource
from engine.model.run import CaseFile

SHOWN_LABELS = (
    "environment",
    "env",
    "cluster",
    "namespace",
    "workload",
    "service",
    "host",
    "instance",
)
MOST_LABELS = 3
NEAR = timedelta(minutes=1)


def build(case: CaseFile, now: datetime) -> Body:
    """Scope, onset and alert time, number of alerts."""
    return Body(blocks=(text(joined((_scope(case), began(case, now), _number(case)))),))


def _scope(case: CaseFile) -> Line:
    anchor = case.pack.anchor if case.pack else None
    scope = dict(
        anchor.grouping_key if anchor else case.incident.group_of(case.incident.lead).scope
    )
    environment = anchor.environment if anchor and anchor.environment else ""
    said = ("", environment, place(case))
    known = [key for key in SHOWN_LABELS if scope.get(key, "") not in said]
    rest = [key for key in scope if key not in known and scope[key] not in said]
    named = [say(code(f"{key}={scope[key]}")) for key in (*known, *rest)[:MOST_LABELS]]
    return joined((say(code(environment)) if environment else (), *named))


def began(case: CaseFile, now: datetime) -> Line:
    """When the symptom began, and when the alert came, where these differ."""
    if case.pack is None:
        return say("alerted ", moment(case.incident.lead.alert.starts_at, now), *_assumed(case))
    anchor = case.pack.anchor
    alerted = (*say("alerted ", moment(anchor.fired_at, now)), *say(*_assumed(case)))
    if anchor.fired_at - _start(anchor) < NEAR:
        return alerted
    return (*say("began ", moment(_start(anchor), now), ", "), *alerted)


def _start(anchor: Anchor) -> datetime:
    return anchor.fired_at if anchor.onset_source is OnsetSource.FIRED else anchor.onset_at


def _assumed(case: CaseFile) -> tuple[str, ...]:
    return (" (no time zone sent, read as UTC)",) if case.incident.lead.alert.zone_assumed else ()


def _number(case: CaseFile) -> Line:
    total = len(case.incident.members) + case.incident.truncated
    again = case.incident.occurrences
    counted = say(count(total, "alert"))
    return (*counted, *say(f" · fired {again:,} times")) if again > 1 else counted


SECTION = CardSection(name="where", rank=10, keep=90, build=build, muted=True)
