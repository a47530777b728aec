"""The chart of an incident in words: its title, its labels, and the text for who cannot see it."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import Field

from cards import words
from cards.figures import quantity
from cards.render.limits import clean, cut
from engine.model.base import Frozen
from engine.model.chart import Chart, Line, Mark

MOST_TITLE, MOST_SAID, MOST_EXPRESSION, MOST_LABEL, MOST_MARK = 44, 62, 96, 48, 34
MOST_ALT = 900
"""Under the 1,024 of a Telegram caption and the 2,000 of Slack's alt text."""
STEADY = 0.05
"""Share of the baseline under which nobody would speak of a change."""
_KIB = 1024.0


class Sign(StrEnum):
    """What a vertical line stands for."""

    CHANGE = "change"
    ONSET = "onset"
    ALERT = "alert"


class Upright(Frozen):
    """A vertical line with its words."""

    at_s: float
    text: str
    sign: Sign


class Level(Frozen):
    """A horizontal line with its words."""

    value: float
    text: str


class Scale(Frozen):
    """How values are written on the axis: divided, then followed by the unit."""

    divisor: float = 1.0
    unit: str = ""


class Picture(Frozen):
    """Everything the drawing process is told; every text in it is ours or made inert."""

    title: str
    said: str
    expression: str
    axis: str
    lines: tuple[Line, ...] = Field(min_length=1)
    uprights: tuple[Upright, ...]
    level: Level | None
    scale: Scale


def picture(chart: Chart) -> Picture:
    """Word a chart for the one who draws it."""
    curve = chart.curve
    lines = tuple(
        line.model_copy(update={"label": cut(clean(line.label), MOST_LABEL)})
        for line in curve.lines
    )
    level = None
    if curve.threshold is not None:
        name = "threshold" if curve.own else "limit"
        level = Level(value=curve.threshold, text=f"{name} {quantity(curve.threshold, curve.unit)}")
    return Picture(
        title=cut(clean(_title(chart)), MOST_TITLE),
        said=cut(clean(_moved(chart)), MOST_SAID),
        expression=cut(clean(curve.expression), MOST_EXPRESSION),
        axis=f"time in UTC, {chart.taken_at.astimezone(UTC):%d %b %Y}",
        lines=lines,
        uprights=tuple(_uprights(chart)),
        level=level,
        scale=scale(curve.unit, [value for line in lines for _, value in line.points]),
    )


def _title(chart: Chart) -> str:
    subject = chart.curve.name or chart.rule
    return f"{subject} · {chart.service}" if chart.service else subject


def alt_text(chart: Chart) -> str:
    """What the curve shows, in one sentence: for screen readers, and as a caption."""
    subject = cut(clean(chart.curve.name or f"the value behind {chart.rule}"), 120)
    of = f" of {cut(clean(chart.service), 80)}" if chart.service else ""
    parts = [f"{subject}{of} {_moved(chart)}", *(_changed(mark, 120) for mark in chart.marks)]
    if chart.onset_seen:
        parts.append(f"alert at {clock(chart.fired_at)}")
    if chart.curve.threshold is not None:
        name = "threshold" if chart.curve.own else "limit"
        parts.append(f"{name} {quantity(chart.curve.threshold, chart.curve.unit)}")
    more = len(chart.curve.lines) - 1
    if more:
        parts.append(f"{more} more {'line' if more == 1 else 'lines'} in the picture")
    said = "; ".join(parts)
    return (
        cut(said[0].upper() + said[1:] if chart.curve.name == "" else said, MOST_ALT - 6) + " (UTC)"
    )


def clock(at: datetime) -> str:
    """A time of day in UTC."""
    return f"{at.astimezone(UTC):%H:%M}"


def _moved(chart: Chart) -> str:
    """Say what was normal, what became of it and when; what came back says so."""
    curve = chart.curve
    values = [(at, value) for at, value in curve.lines[0].points]
    last = values[-1][1]
    after = [value for at, value in values if at >= chart.onset_at.timestamp()] or [last]
    at = f"{'from' if chart.onset_seen else 'when it fired,'} {clock(chart.onset_at)}"
    if curve.before is None:
        return f"{quantity(last, curve.unit)} now"
    before = curve.before
    peak = max(after, key=lambda value: abs(value - before))
    said = f"{quantity(before, curve.unit)} → {quantity(peak, curve.unit)} {at}"
    came_back = abs(last - before) < abs(peak - before) / 2 and abs(peak - before) > STEADY * max(
        abs(before), abs(peak)
    )
    return f"{said}, now {quantity(last, curve.unit)}" if came_back else said


def _changed(mark: Mark, most: int) -> str:
    what = clean(mark.what)
    component = clean(mark.component)
    name = what if component.lower() in what.lower() else f"{component} {what}"
    kind = words.CHANGE[mark.change]
    named = name if name.lower().startswith(kind.split()[-1]) else f"{kind} {name}"
    return f"{cut(named, most)} at {clock(mark.at)}"


def _uprights(chart: Chart) -> list[Upright]:
    """Every vertical line; an onset that only repeats the alert is not drawn twice."""
    changes = [
        Upright(
            at_s=mark.at.timestamp(), text=_changed(mark, MOST_MARK).replace(" at ", " "),
            sign=Sign.CHANGE,
        )
        for mark in chart.marks
    ]  # fmt: skip
    seen = [
        Upright(
            at_s=chart.onset_at.timestamp(), text=f"began {clock(chart.onset_at)}", sign=Sign.ONSET
        )
    ]
    fired = Upright(
        at_s=chart.fired_at.timestamp(), text=f"alert {clock(chart.fired_at)}", sign=Sign.ALERT
    )
    return sorted([*changes, *(seen if chart.onset_seen else []), fired], key=lambda one: one.at_s)


def scale(unit: str, values: Sequence[float]) -> Scale:
    """Choose how an axis reads, by the largest value on it."""
    top = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    match unit:
        case "s" if 0 < top < 1:
            return Scale(divisor=1e-3, unit=" ms")
        case "ratio":
            return Scale(divisor=0.01, unit="%")
        case "B":
            power = min(int(math.log(top, _KIB)), 5) if top >= 1 else 0
            return Scale(divisor=_KIB**power, unit=f" {words_of_bytes(power)}")
        case "":
            return Scale()
        case _:
            return Scale(unit=unit if unit[0] in "/%" else f" {unit}")


def words_of_bytes(power: int) -> str:
    """The unit of a power of 1024 bytes."""
    return ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power]
