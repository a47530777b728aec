"""Pure checks that cap trust: what code can see, whatever the models agree on."""

import re
from collections.abc import Iterator, Sequence

from engine.model.base import Frozen
from engine.model.evidence import QueryOutcome
from engine.model.finding import CauseKey, CheckResult, CheckSource, ClaimRuling, Veto
from engine.model.pack import (
    AlertFacts,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    HistoryFacts,
    Item,
    MetricDigest,
    Pack,
)
from engine.promql.repair import same_meaning
from engine.promql.threshold import comparison_stripped
from engine.verification.refuters import could_refute

DEVIATES = 3.0
"""Robust z-score from which a series has left its baseline."""
FULL = 0.95
"""Share of a ceiling from which there is no room left."""
STANDS = 1.0
"""Below it, a series is where it was before."""
METRIC_SLACK_S = 60.0
"""A change point of a series is known to about one scrape; a change's time is exact."""
AS_STRONG = 0.8
SHORTEST_NAME = 4
"""A name shorter than this is part of too many others."""
SPLITS = (
    *("version", "image", "image_tag", "revision"),
    *("node", "instance", "host", "zone", "region", "database", "datname"),
)
COMPARING = frozenset({"version_split", "common_denominator"})
"""Kinds of check whose figures are the alert's own series by label and value."""
_CHANGES = frozenset({CauseClass.DEPLOY, CauseClass.CONFIG_CHANGE})
_SEEN_IN_METRICS = frozenset({ChangeKind.IMAGE, ChangeKind.BUILD, ChangeKind.RESTART})
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*")


class Accused(Frozen):
    """A cause with everything it has to stand up to."""

    cause: CauseKey
    rulings: tuple[ClaimRuling, ...]
    pack: Pack
    results: tuple[CheckResult, ...] = ()

    @property
    def cited(self) -> frozenset[str]:
        """Ids the key claims rest on; those of all claims when none is marked as key."""
        key = [r for r in self.rulings if r.claim.key] or self.rulings
        return frozenset(i for r in key for i in (*r.claim.evidence_ids, *r.evidence_ids))

    @property
    def cited_items(self) -> tuple[Item, ...]:
        """Pieces of the pack the key claims rest on."""
        return tuple(item for item in self.pack.items if item.id in self.cited)

    def about(self, *names: str) -> bool:
        """Whether any of these names is the blamed component, or one is the longer form of it."""
        return any(_alike(_plain(self.cause.component), _plain(name)) for name in names)


def vetoes(accused: Accused) -> tuple[Veto, ...]:
    """Name everything that speaks against stamping this cause verified, in a fixed order."""
    judged = {
        Veto.BEGAN_AFTER_ONSET: began_after_onset(accused),
        Veto.NO_DEVIATION: no_deviation(accused),
        Veto.AS_STRONG_WITHOUT_CAUSE: as_strong_without_cause(accused),
        Veto.STOOD_BEFORE_CAUSE: stood_before_cause(accused),
        Veto.ONLY_OWN_EXPRESSION: only_own_expression(accused),
        Veto.FLOOR_UNSCOPED: floor_unscoped(accused.results),
        Veto.NOTHING_COULD_REFUTE: nothing_could_refute(accused),
    }
    return tuple(veto for veto, hit in judged.items() if hit)


def began_after_onset(accused: Accused) -> bool:
    """Whether what is blamed began when the symptom was already there."""
    changes = blamed_changes(accused)
    if changes:
        return all(_after_onset(change) for change in changes)
    if accused.cause.cause_class in _CHANGES:
        every = [i.facts for i in accused.pack.items if isinstance(i.facts, ChangeFacts)]
        return bool(every) and all(_after_onset(change) for change in every)
    onset = accused.pack.anchor.onset_at
    blamed = [m for m in _digests(accused.cited_items) if not m.own_expression]
    began = [(m.changed_at - onset).total_seconds() for m in blamed if m.changed_at is not None]
    return bool(began) and min(began) > METRIC_SLACK_S


def _after_onset(change: ChangeFacts) -> bool:
    """Whether a change came after onset; one read off metrics is known to about one scrape."""
    slack_s = METRIC_SLACK_S if change.change in _SEEN_IN_METRICS else 0
    return change.onset_offset_s > slack_s


def blamed_changes(accused: Accused) -> tuple[ChangeFacts, ...]:
    """Find the changes a cause speaks of.

    Those cited, the blamed component's before any other; for a cause that is a change and cites
    none, every change of its component.
    """
    cited = [i.facts for i in accused.cited_items if isinstance(i.facts, ChangeFacts)]
    own = tuple(change for change in cited if accused.about(change.component))
    if own or cited:
        return own or tuple(cited)
    if accused.cause.cause_class not in _CHANGES:
        return ()
    every = tuple(i.facts for i in accused.pack.items if isinstance(i.facts, ChangeFacts))
    return tuple(change for change in every if accused.about(change.component))


def no_deviation(accused: Accused) -> bool:
    """Whether everything measured on the blamed component is where it was before onset."""
    measured = [
        digest
        for digest in _digests(accused.pack.items)
        if digest.deviation is not None and accused.about(digest.name, *digest.labels.values())
    ]
    return bool(measured) and not any(_deviates(digest) for digest in measured)


def _deviates(digest: MetricDigest) -> bool:
    """Whether a series left its baseline; one that fills its ceiling need not move any more."""
    full = bool(digest.limit) and digest.last >= FULL * (digest.limit or 0)
    return full or abs(digest.deviation or 0) >= DEVIATES


def as_strong_without_cause(accused: Accused) -> bool:
    """Whether the alert's own series is as high where the blamed version, node or zone is not."""
    blamed = _words(accused.cause.component)
    for change in blamed_changes(accused):
        blamed |= _words(change.what.rpartition("→")[2])
    for split in _splits(accused):
        present = [number for value, number in split if _is_blamed(value, blamed)]
        absent = [number for value, number in split if not _is_blamed(value, blamed)]
        if present and absent and 0 < max(present) * AS_STRONG <= max(absent):
            return True
    return False


def _splits(accused: Accused) -> Iterator[list[tuple[str, float]]]:
    """Give the alert's own series by each label that parts it: as measured, and as checked."""
    own = [digest for digest in _digests(accused.pack.items) if digest.own_expression]
    compared = [r for r in accused.results if r.kind in COMPARING]
    for label in SPLITS:
        yield [(d.labels[label], d.last) for d in own if label in d.labels]
        yield from ([*_figures_by(label, result)] for result in compared)


def _figures_by(label: str, result: CheckResult) -> Iterator[tuple[str, float]]:
    for key, number in result.figures.items():
        name, _, value = key.partition("=")
        if name == label:
            yield value, number


def _is_blamed(value: str, blamed: set[str]) -> bool:
    """Whether a label's value is one of the words, or all of an image's parts are."""
    parts = _words(value)
    return _plain(value) in blamed or (bool(parts) and parts <= blamed)


def stood_before_cause(accused: Accused) -> bool:
    """Whether the symptom was there before the blamed change was made."""
    changes = blamed_changes(accused)
    own = [digest for digest in _digests(accused.pack.items) if digest.own_expression]
    if not changes or not own:
        return False
    first = min(change.at for change in changes)
    began = [digest.changed_at for digest in own if digest.changed_at is not None]
    known = [abs(digest.deviation) for digest in own if digest.deviation is not None]
    return any(at < first for at in began) or (bool(known) and max(known) < STANDS)


def only_own_expression(accused: Accused) -> bool:
    """Whether the key claims rest on nothing but the alert itself, told once more."""
    if any(_independent(item) for item in accused.cited_items):
        return False
    cited = [result for result in accused.results if result.id in accused.cited]
    return not any(_independent_result(result, accused.pack) for result in cited)


def _independent(item: Item) -> bool:
    if isinstance(item.facts, MetricDigest):
        return not item.facts.own_expression
    return not isinstance(item.facts, AlertFacts | HistoryFacts)


def _independent_result(result: CheckResult, pack: Pack) -> bool:
    """Whether a check asked a backend something other than what the alert already says."""
    if result.outcome is not QueryOutcome.FETCHED or result.backend is None:
        return False
    return not restates(result.asked, pack.anchor.expression)


def restates(query: str, expression: str | None) -> bool:
    """Whether a query is the alert's own expression, with or without its threshold."""
    if expression is None:
        return False
    series = comparison_stripped(expression) or expression
    bare = comparison_stripped(query) or query
    return _same(query, expression) or _same(bare, series)


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(other.split()) or same_meaning(one, other)


def floor_unscoped(results: Sequence[CheckResult]) -> bool:
    """Whether all that is known of the peers is a ratio over everything there is."""
    floor = [
        r
        for r in results
        if r.source is CheckSource.FLOOR
        and r.backend is not None
        and r.outcome is QueryOutcome.FETCHED
    ]
    return bool(floor) and not any(result.scoped for result in floor)


def nothing_could_refute(accused: Accused) -> bool:
    """Whether no fetched, scoped check could have spoken against a cause of this class.

    A change that cannot be pointed at cannot be spoken against either.
    """
    if accused.cause.cause_class in _CHANGES and not blamed_changes(accused):
        return True
    return not any(
        result.outcome is QueryOutcome.FETCHED
        and result.scoped
        and could_refute(result.kind, accused.cause.cause_class)
        and not restates(result.asked, accused.pack.anchor.expression)
        for result in accused.results
    )


def _digests(items: Sequence[Item]) -> Iterator[MetricDigest]:
    return (item.facts for item in items if isinstance(item.facts, MetricDigest))


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= SHORTEST_NAME and short in long)


def _plain(name: str) -> str:
    return name.strip().lower()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
