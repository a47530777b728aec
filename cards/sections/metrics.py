"""The telling metrics: a sparkline, before and now."""

from datetime import datetime

from cards.card import Line
from cards.figures import quantity
from cards.line import bold, code, moment, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.pack import MetricDigest, SectionName
from engine.model.run import CaseFile

MOST = 3
TELLING = 3.0
"""Robust deviations past which a series has left its usual range."""


def build(case: CaseFile, now: datetime) -> Body | None:
    """The series that left their usual range most; the alert's own expression comes last."""
    section = case.pack.section(SectionName.METRICS) if case.pack else None
    if section is None:
        return None
    digests = [item.facts for item in section.items if isinstance(item.facts, MetricDigest)]
    best = sorted(digests, key=_weight)[:MOST]
    if not best:
        return None
    hidden = len(digests) - len(best) + section.omitted
    more = say(f", {hidden:,} more") if hidden > 0 else ()
    return Body(title=(*say(bold("Metrics")), *more), blocks=(text(*(line(d, now) for d in best)),))


def _weight(digest: MetricDigest) -> tuple[bool, float]:
    return digest.own_expression, -abs(digest.deviation or 0.0)


def line(digest: MetricDigest, now: datetime) -> Line:
    """One series in one line."""
    spark = say(code(digest.sparkline), " ") if digest.sparkline else ()
    own = " (the alert's own expression)" if digest.own_expression else ""
    return (
        *spark,
        *say(f"{cut(digest.name, 60)} "),
        *_values(digest),
        *say(own),
        *_since(digest, now),
    )


def _values(digest: MetricDigest) -> Line:
    last = bold(quantity(digest.last, digest.unit))
    if digest.baseline is None:
        return say(last, ", nothing to compare with")
    usual = quantity(digest.baseline, digest.unit)
    if digest.deviation is not None and abs(digest.deviation) < TELLING:
        return say(last, f", as usual ({usual})")
    return say(f"{usual} → ", last)


def _since(digest: MetricDigest, now: datetime) -> Line:
    return say(" since ", moment(digest.changed_at, now)) if digest.changed_at else ()


SECTION = CardSection(name="metrics", rank=40, keep=68, build=build)
