"""What became of it: resolved, closed for lack of news, merged, or a heartbeat that stopped."""

from datetime import datetime

from cards.card import Line
from cards.figures import count, duration
from cards.life import State, choose
from cards.line import bold, moment, say, text
from cards.section import Body, CardSection
from engine.model.alert import AlertClass
from engine.model.run import CaseFile


def build(case: CaseFile, now: datetime) -> Body | None:
    """One line on how it ended, or on what is missing."""
    match choose(case):
        case State.RESOLVED:
            line = _resolved(case, now)
        case State.CLOSED:
            quiet = duration((now - case.incident.activity_at).total_seconds())
            line = say(bold("Closed: no news"), f" for {quiet}; nobody said it was resolved")
        case State.MERGED:
            number = (
                f" incident {case.merged_number}" if case.merged_number else " another incident"
            )
            line = say(bold(f"Merged into{number}"), ": one failure; follow it there")
        case State.HEARTBEAT:
            line = _silent(case, now)
        case _:
            return None
    return Body(blocks=(text(line),))


def _resolved(case: CaseFile, now: datetime) -> Line:
    ended = case.incident.resolved_at or now
    lasted = duration((ended - _start(case)).total_seconds())
    if case.incident.alert_class is AlertClass.HEARTBEAT:
        return say(bold("The heartbeat is back"), f" after {lasted}")
    again = case.incident.recurrences
    often = f"; {count(again, 'earlier time')} in 7 days" if again else ""
    alone = "" if case.finding else ". It cleared by itself; no cause was found"
    return say(bold("Resolved"), f" after {lasted}, at ", moment(ended, now), f"{often}{alone}")


def _start(case: CaseFile) -> datetime:
    return case.pack.anchor.onset_at if case.pack else case.incident.lead.alert.starts_at


def _silent(case: CaseFile, now: datetime) -> Line:
    last = case.incident.lead.last_seen_at
    silent = duration((now - last).total_seconds())
    return say(
        bold("No heartbeat"),
        " since ",
        moment(last, now),
        f" ({silent}). Alerts of this source may not arrive until it is back.",
    )


SECTION = CardSection(name="outcome", rank=12, keep=98, build=build)
