"""Lines of a backend, digested: those that say the same are one, with a count and a span."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from engine.fence import CUT
from engine.model.base import Frozen
from engine.model.evidence import Gap, GapCause, Invalid, InvalidReason, Outcome, Window
from engine.pack.figures import moment
from engine.pack.section import Case

LONGEST_LINE = 320
BEFORE_ONSET_S = 900
"""Looked at before onset, to know what was said all along."""
AFTER_ONSET_S = 3600
"""What is said after that is told by the alert's own course, and costs the most to read."""
STEP_S = 60
_WORD = re.compile(r"[\w.:+/-]+")
_TIMED = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ) (.*)", re.DOTALL)


class Said(Frozen):
    """Lines alike but for their figures."""

    text: str
    """The newest of them."""
    count: int
    first_at: datetime
    last_at: datetime


def window_of(case: Case) -> Window:
    """Take the time around onset that lines are read of."""
    onset, now = case.anchor.onset_at, case.survey.window.end_at
    start_at = min(onset, now) - timedelta(seconds=BEFORE_ONSET_S)
    end_at = min(now, onset + timedelta(seconds=AFTER_ONSET_S))
    return Window(start_at=start_at, end_at=max(end_at, onset), step_s=STEP_S)


def alike(lines: Iterable[str]) -> list[Said]:
    """Put together what says the same; a line without its time says nothing here."""
    found: dict[str, Said] = {}
    for line in lines:
        timed = _TIMED.fullmatch(line)
        if timed is None:
            continue
        at, text = datetime.fromisoformat(timed[1]), timed[2]
        shape = _shape(text)
        known = found.get(shape)
        found[shape] = Said(
            text=text if known is None or at >= known.last_at else known.text,
            count=1 if known is None else known.count + 1,
            first_at=at if known is None else min(at, known.first_at),
            last_at=at if known is None else max(at, known.last_at),
        )
    return list(found.values())


def newest_kind_first(found: Sequence[Said], onset: datetime) -> list[Said]:
    """Order by what began with the symptom, then by how often it was said."""
    early = onset - timedelta(seconds=STEP_S)
    return sorted(found, key=lambda one: (one.first_at < early, -one.count, one.first_at, one.text))


def told(one: Said, case: Case) -> str:
    """Say how often and when, then the line itself, cut only after its secrets are out."""
    line = case.ports.clean(" ".join(one.text.split()))
    line = line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + CUT
    if one.count == 1:
        return f"{moment(one.last_at)}: {line}"
    return f"{one.count} alike, {moment(one.first_at)} to {moment(one.last_at)}: {line}"


def gap_of(outcome: Outcome) -> Gap | None:
    """Why there is no answer; what the backend does not understand is as good as none."""
    match outcome:
        case Gap():
            return outcome
        case Invalid(reason=reason) if reason is not InvalidReason.SCOPE:
            return Gap(cause=GapCause.REFUSED, detail=outcome.detail)
        case _:
            return None


def _shape(text: str) -> str:
    """Leave out every word that holds a figure: times, ids, addresses, measurements."""
    short = text[: 2 * LONGEST_LINE]
    return _WORD.sub(lambda word: "#" if re.search(r"\d", word[0]) else word[0], short)
