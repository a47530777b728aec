"""From a frozen pack and the curve behind it to a chart, and whether a newer one is worth it."""

from datetime import datetime, timedelta

from engine.model.chart import MOST_MARKS, Chart, Curve, Line, Mark
from engine.model.incident import Incident
from engine.model.pack import ChangeFacts, OnsetSource, Pack
from engine.ports import Tx

KIND = "chart"
"""The kind of message that shows it."""
LEAST_BEFORE = timedelta(minutes=30)
MARGIN = timedelta(minutes=5)
MOVED = timedelta(minutes=2)
"""How far an onset may wander from one look to the next."""
GROWN = timedelta(minutes=15)
"""A chart that tells the same is drawn again once it shows so much more."""
_LEAST_POINTS = 3


def chart_of(pack: Pack, curve: Curve | None) -> Chart | None:
    """Put a curve beside what changed; None when there is nothing to draw."""
    if curve is None:
        return None
    anchor = pack.anchor
    marks = _marks(pack, curve)
    shown = _around(curve, anchor.onset_at, min((m.at for m in marks), default=anchor.onset_at))
    if shown is None:
        return None
    return Chart(
        incident_id=anchor.incident_id,
        client_id=anchor.client_id,
        rule=anchor.rule,
        service=anchor.service,
        curve=shown,
        onset_at=anchor.onset_at,
        onset_seen=anchor.onset_source is not OnsetSource.FIRED,
        fired_at=anchor.fired_at,
        taken_at=anchor.taken_at,
        marks=marks,
    )


def _marks(pack: Pack, curve: Curve) -> tuple[Mark, ...]:
    """Take the changes nearest to onset that the curve reaches back to."""
    first_s = min(line.points[0][0] for line in curve.lines)
    seen: dict[tuple[str, str], Mark] = {}
    facts = [item.facts for item in pack.items if isinstance(item.facts, ChangeFacts)]
    for change in sorted(facts, key=lambda c: (c.onset_offset_s > 0, abs(c.onset_offset_s))):
        if first_s <= change.at.timestamp() <= pack.anchor.taken_at.timestamp():
            mark = Mark(
                at=change.at, change=change.change, component=change.component, what=change.what
            )
            seen.setdefault((mark.component, mark.what), mark)
    return tuple(seen.values())[:MOST_MARKS]


def _around(curve: Curve, onset_at: datetime, first_mark_at: datetime) -> Curve | None:
    """Cut off what lies so far back that onset would stand at the very edge."""
    last_at = datetime.fromtimestamp(max(n.points[-1][0] for n in curve.lines), onset_at.tzinfo)
    back = max(LEAST_BEFORE, 2 * (last_at - onset_at))
    start_s = min(onset_at - back, first_mark_at - MARGIN).timestamp()
    lines = [
        Line(label=line.label, points=points)
        for line in curve.lines
        if len(points := tuple(p for p in line.points if p[0] >= start_s)) >= _LEAST_POINTS
    ]
    return curve.model_copy(update={"lines": tuple(lines)}) if lines else None


def tells_more(chart: Chart, before: Chart | None) -> bool:
    """Whether a chart is worth drawing after another one."""
    if before is None or _told(chart) != _told(before):
        return True
    wandered = abs(chart.onset_at - before.onset_at) >= MOVED
    return wandered or chart.taken_at - before.taken_at >= GROWN


def _told(chart: Chart) -> tuple[object, ...]:
    """What a chart says beside values and times, which move with every look."""
    curve = chart.curve
    labels = frozenset(line.label for line in curve.lines)
    marks = frozenset((mark.component, mark.what) for mark in chart.marks)
    return (curve.expression, curve.threshold, labels, marks)


async def keep_chart(tx: Tx, chart: Chart | None, incident: Incident) -> None:
    """Keep a chart that tells more than the one before, and ask for it beside the card."""
    if chart is None or not tells_more(chart, await tx.charts.of_incident(incident.id)):
        return
    await tx.charts.keep(chart)
    await tx.cards.wish_message(incident, KIND, "", audible=False)
