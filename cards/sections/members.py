"""The other alerts judged part of the same failure."""

from collections import Counter
from datetime import datetime

from cards.card import Line
from cards.figures import TIMES, count
from cards.line import code, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.incident import Incident
from engine.model.run import CaseFile

MOST = 4


def build(case: CaseFile, now: datetime) -> Body | None:
    """Rules and how many alerts each sent, and what the sender left out."""
    del now
    lines = tuple(filter(None, (_others(case.incident), _truncated(case.incident))))
    return Body(blocks=(text(*lines),)) if lines else None


def _others(incident: Incident) -> Line:
    if len(incident.members) < 2:  # noqa: PLR2004 - one alert has no others
        return ()
    rules = Counter(m.alert.rule or incident.group_of(m).rule for m in incident.members)
    line = say("alerts: ")
    for index, (rule, number) in enumerate(rules.most_common(MOST)):
        named = code(cut(clean(rule), 60))
        line = (
            *line,
            *say(", " if index else "", named, f" {TIMES}{number:,}" if number > 1 else ""),
        )
    hidden = len(rules) - MOST
    return (*line, *say(f" and {count(hidden, 'more rule')}")) if hidden > 0 else line


def _truncated(incident: Incident) -> Line:
    left_out = incident.truncated
    return (
        say(f"{left_out:,} more alerts in this group, left out by the sender") if left_out else ()
    )


SECTION = CardSection(name="members", rank=70, keep=48, build=build, muted=True)
