"""The telling metrics: a sparkline, before and now."""

from collections.abc import Mapping
from datetime import datetime

from cards.card import Line
from cards.figures import quantity
from cards.line import bold, code, moment, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.pack import MetricDigest, SectionName
from engine.model.run import CaseFile

MOST = 3
MOST_NAME = 60
TELLING = 3.0
"""Robust deviations past which a series has left its usual range."""


def build(case: CaseFile, now: datetime) -> Body | None:
    """The first of the pack's own order; the alert's own expression comes last, peers never."""
    section = case.pack.section(SectionName.METRICS) if case.pack else None
    if section is None or case.pack is None:
        return None
    found = [item.facts for item in section.items if isinstance(item.facts, MetricDigest)]
    digests = [digest for digest in found if not digest.peer]
    best = sorted(digests, key=lambda digest: digest.own_expression)[:MOST]
    if not best:
        return None
    hidden = len(found) - len(best) + section.omitted
    more = say(f", {hidden:,} more") if hidden > 0 else ()
    known = case.pack.anchor.grouping_key
    lines = (line(digest, known, now) for digest in best)
    return Body(title=(*say(bold("Metrics")), *more), blocks=(text(*lines),))


def line(digest: MetricDigest, known: Mapping[str, str], now: datetime) -> Line:
    """One series in one line; labels that every member shares are not repeated."""
    spark = say(code(digest.sparkline), " ") if digest.sparkline else ()
    own = " (the alert's own expression)" if digest.own_expression else ""
    name = (*say(cut(digest.name, MOST_NAME)), *_told_apart(digest, known), *say(" "))
    return (*spark, *name, *_values(digest), *say(own), *_since(digest, now))


def _told_apart(digest: MetricDigest, known: Mapping[str, str]) -> Line:
    """The one label that says which of several it is."""
    own = [(k, v) for k, v in sorted(digest.labels.items()) if known.get(k) != v]
    return say(" ", code(cut(f"{own[0][0]}={own[0][1]}", MOST_NAME))) if own else ()


def _values(digest: MetricDigest) -> Line:
    last = bold(quantity(digest.last, digest.unit))
    of = f" of {quantity(digest.limit, digest.unit)}" if digest.limit is not None else ""
    if digest.baseline is None:
        return say(last, of, ", nothing to compare with")
    usual = quantity(digest.baseline, digest.unit)
    if digest.deviation is not None and abs(digest.deviation) < TELLING:
        return say(last, of, f", as usual ({usual})")
    return say(f"{usual} → ", last, of, _peers(digest))


def _peers(digest: MetricDigest) -> str:
    return "" if digest.peers is None else f" (peers {quantity(digest.peers, digest.unit)})"


def _since(digest: MetricDigest, now: datetime) -> Line:
    return say(" since ", moment(digest.changed_at, now)) if digest.changed_at else ()


SECTION = CardSection(name="metrics", rank=40, keep=68, build=build)
