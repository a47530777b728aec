"""Pure checks that cap trust: what code can see, whatever the models agree on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from engine.model.alert import AlertClass
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, CheckSource, Veto
from engine.model.ledger import ToolName
from engine.model.pack import (
    AlertFacts,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    Item,
    MetricDigest,
    Signal,
    TextFacts,
)
from engine.verification.accused import CHANGES, SERVICES, SHORTEST_NAME, Accused, digests, plain
from engine.verification.independence import borne_by_answers, independent, restates
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
SPLITS = (
    *("version", "image", "image_tag", "revision"),
    *("node", "instance", "host", "zone", "region", "database", "datname"),
)
COMPARING = frozenset({"version_split", "common_denominator"})
"""Kinds of check whose figures are the alert's own series by label and value."""
_POINTED = CHANGES | {CauseClass.CODE_FAULT}
"""Causes that came with something that was done: without it nothing can be held against them."""
_ELSEWHERE = frozenset(
    {
        CauseClass.DEPENDENCY,
        CauseClass.DATABASE,
        CauseClass.NODE,
        CauseClass.NETWORK,
        CauseClass.DNS,
        CauseClass.CLOUD_PROVIDER,
    }
)
"""Causes that lie somewhere else than in the service that shows the symptom."""
_TAKES_ALONG = frozenset(
    {CauseClass.NETWORK, CauseClass.DNS, CauseClass.CLOUD_PROVIDER, CauseClass.MONITORING}
)
FEWEST_PEERS = 3
"""From so many on, all of them being up says something of what they have in common."""
_WORDS_OF: Mapping[CauseClass, re.Pattern[str]] = {
    CauseClass.NETWORK: re.compile(r"(?i)net|tcp|packet|conn|probe|latency|rtt|drop|bytes"),
    CauseClass.DNS: re.compile(r"(?i)dns|resolv|nxdomain"),
    CauseClass.CERTIFICATE: re.compile(r"(?i)cert|ssl|tls|x509"),
}
"""What a measurement of such a cause is called; without one nothing was looked at."""
_MUST_BE_SEEN = frozenset({CauseClass.TRAFFIC, CauseClass.MONITORING})
"""Causes every usual set of metrics shows, so that what shows none of it speaks against them."""
_SEEN_AS: Mapping[CauseClass, frozenset[Signal]] = {
    CauseClass.TRAFFIC: frozenset({Signal.TRAFFIC}),
    CauseClass.MONITORING: frozenset({Signal.UP}),
    CauseClass.RESOURCE_EXHAUSTION: frozenset(
        {Signal.SATURATION, Signal.MEMORY, Signal.CPU, Signal.QUEUE, Signal.RESTARTS}
    ),
}
"""What must have moved, where it is measured, for such a cause."""
_EFFECTS = frozenset({Signal.ERRORS, Signal.LATENCY})
"""What a failure looks like from outside, whatever caused it."""
_SEEN_IN_METRICS = frozenset({ChangeKind.IMAGE, ChangeKind.BUILD, ChangeKind.RESTART})
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*")


def vetoes(accused: Accused) -> tuple[Veto, ...]:
    """Name everything that speaks against stamping this cause verified, in a fixed order."""
    judged = {
        Veto.BEGAN_AFTER_ONSET: began_after_onset(accused),
        Veto.NO_DEVIATION: no_deviation(accused),
        Veto.AS_STRONG_WITHOUT_CAUSE: as_strong_without_cause(accused),
        Veto.STOOD_BEFORE_CAUSE: stood_before_cause(accused),
        Veto.ONLY_OWN_EXPRESSION: only_own_expression(accused),
        Veto.ONLY_WRITABLE_TEXT: only_writable_text(accused),
        Veto.FLOOR_UNSCOPED: floor_unscoped(accused.results),
        Veto.NOTHING_COULD_REFUTE: nothing_could_refute(accused),
    }
    return tuple(veto for veto, hit in judged.items() if hit)


def began_after_onset(accused: Accused) -> bool:
    """Whether what is blamed began when the symptom was already there."""
    changes = blamed_changes(accused)
    if changes:
        return all(_after_onset(change) for change in changes)
    if accused.cause.cause_class in CHANGES:
        return bool(accused.changes) and all(_after_onset(change) for change in accused.changes)
    onset = accused.pack.anchor.onset_at
    blamed = [m for m in digests(accused.cited_items) if not m.own_expression]
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
    own = tuple(change for change in cited if accused.changed(change))
    if cited:
        return own or tuple(cited)
    if accused.cause.cause_class not in _POINTED:
        return ()
    return tuple(change for change in accused.changes if accused.changed(change))


def no_deviation(accused: Accused) -> bool:
    """Whether what is measured on the blamed component is where it was, or nothing is measured."""
    seen = [
        digest
        for digest in digests(accused.pack.items)
        if accused.about(digest.name, *digest.labels.values())
    ]
    if _peers_are_well(accused) or _never_looked_at(accused):
        return True
    if not seen:
        return not (_fails(accused) or _shown_by_checks(accused))
    measured = [digest for digest in seen if digest.deviation is not None]
    fitting = [d for d in measured if d.signal in _SEEN_AS.get(accused.cause.cause_class, ())]
    if accused.cause.cause_class in _MUST_BE_SEEN and not any(map(_deviates, fitting)):
        return True
    return any(bool(some) and not any(map(_deviates, some)) for some in (measured, fitting))


def _never_looked_at(accused: Accused) -> bool:
    """Whether a kind of cause is blamed of which no measurement and no check speaks."""
    word = _WORDS_OF.get(accused.cause.cause_class)
    if word is None:
        return False
    anchor = accused.pack.anchor
    fetched = (r.asked for r in accused.results if r.outcome is QueryOutcome.FETCHED)
    looked = (f"{digest.name} {digest.query}" for digest in digests(accused.pack.items))
    return not any(map(word.search, [anchor.rule, anchor.expression or "", *fetched, *looked]))


def _peers_are_well(accused: Accused) -> bool:
    """Whether something is blamed that takes its neighbours along, and all of them are up."""
    floor = [r for r in accused.results if r.source is CheckSource.FLOOR and r.scoped]
    ratios = [(r.figures.get("good", 0), r.figures.get("every", -1)) for r in floor]
    well = any(good == every >= FEWEST_PEERS for good, every in ratios)
    return well and accused.cause.cause_class in _TAKES_ALONG


def _fails(accused: Accused) -> bool:
    """Whether the blamed component is what the alerts are about."""
    anchor = accused.pack.anchor
    alerts = [i.facts for i in accused.pack.items if isinstance(i.facts, AlertFacts)]
    named = [anchor.service, anchor.host, *anchor.grouping_key.values()]
    named += [value for alert in alerts for value in alert.labels.values()]
    return accused.about(*filter(None, named))


def _shows_the_symptom(accused: Accused) -> bool:
    """Whether what is blamed is the very service a symptom is told of."""
    anchor = accused.pack.anchor
    symptom = anchor.alert_class is AlertClass.SYMPTOM
    return symptom and anchor.service is not None and accused.is_called(anchor.service)


def _shown_by_checks(accused: Accused) -> bool:
    """Whether a check that a key claim rests on looked at the component.

    For a change that is not enough: a component that is well answers just the same.
    """
    if accused.is_change:
        return False
    cited = [r for r in accused.results if r.id in accused.cited and r.backend is not None]
    fetched = [r for r in cited if r.outcome is QueryOutcome.FETCHED]
    name = plain(accused.cause.component)
    return len(name) >= SHORTEST_NAME and any(name in plain(r.asked + r.text) for r in fetched)


def _deviates(digest: MetricDigest) -> bool:
    """Whether a series left its baseline; one that fills its ceiling need not move any more."""
    full = bool(digest.limit) and digest.last >= FULL * (digest.limit or 0)
    return full or abs(digest.deviation or 0) >= DEVIATES


def as_strong_without_cause(accused: Accused) -> bool:
    """Whether the symptom is as high where the blamed version, node, zone or service is not."""
    return _split_alike(accused) or _peers_alike(accused)


def _peers_alike(accused: Accused) -> bool:
    """Whether services that were not blamed left their baseline by the same measure, as far."""
    effects = [d for d in digests(accused.pack.items) if _is_effect(d) and _deviates(d)]
    for digest in effects:
        if not accused.about(*_services(digest)):
            continue
        others = [
            other.last
            for other in effects
            if (other.name, other.signal) == (digest.name, digest.signal)
            and _services(other)
            and not accused.about(*_services(other))
        ]
        if others and 0 < digest.last * AS_STRONG <= max(others):
            return True
    return False


def _is_effect(digest: MetricDigest) -> bool:
    return digest.own_expression or digest.signal in _EFFECTS


def _services(digest: MetricDigest) -> tuple[str, ...]:
    return tuple(digest.labels[name] for name in SERVICES if name in digest.labels)


def _split_alike(accused: Accused) -> bool:
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
    own = [digest for digest in digests(accused.pack.items) if digest.own_expression]
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
    return plain(value) in blamed or (bool(parts) and parts <= blamed)


def stood_before_cause(accused: Accused) -> bool:
    """Whether the symptom, or what it is explained by, was there before the blamed change."""
    changes = blamed_changes(accused)
    own = [digest for digest in digests(accused.pack.items) if digest.own_expression]
    if not changes:
        return False
    first = min(change.at for change in changes)
    early = first - timedelta(seconds=METRIC_SLACK_S)
    began = [digest.changed_at for digest in own if digest.changed_at is not None]
    effects = [d.changed_at for d in digests(accused.cited_items) if d.changed_at is not None]
    known = [abs(digest.deviation) for digest in own if digest.deviation is not None]
    stood = bool(known) and max(known) < STANDS
    return stood or any(at < first for at in began) or any(at < early for at in effects)


def only_own_expression(accused: Accused) -> bool:
    """Whether the key claims rest on nothing but the alert itself, told once more."""
    if any(independent(item) for item in accused.cited_items):
        return False
    return not borne_by_answers(accused)


def only_writable_text(accused: Accused) -> bool:
    """Whether only text that anyone can write names what is blamed, or bears the key claims."""
    written = [i for i in accused.pack.items if _is_writable(i)]
    name = plain(accused.cause.component)
    named = len(name) >= SHORTEST_NAME and any(name in plain(item.text) for item in written)
    if named and not _named_elsewhere(accused):
        return True
    cited = accused.cited_items
    logs = {entry.id for entry in accused.ledger if entry.tool is ToolName.LOGS}
    told = any(_is_writable(item) for item in cited) or bool(logs & accused.cited)
    borne = any(independent(item) for item in cited)
    return told and not borne and not borne_by_answers(accused)


def _is_writable(item: Item) -> bool:
    return isinstance(item.facts, TextFacts) and item.facts.untrusted


def _named_elsewhere(accused: Accused) -> bool:
    """Whether labels, measurements or reported changes know the blamed component."""
    found = digests(accused.pack.items)
    measured = [name for digest in found for name in (digest.name, *digest.labels.values())]
    return _fails(accused) or accused.about(*measured) or any(map(accused.changed, accused.changes))


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

    A change of the component that cannot be pointed at cannot be spoken against either, and the
    service that shows a symptom is neither its own dependency nor its own network.
    """
    pointed = any(map(accused.changed, accused.changes))
    if accused.cause.cause_class in _POINTED and not pointed:
        return True
    if accused.cause.cause_class in _ELSEWHERE and _shows_the_symptom(accused):
        return True
    return not any(
        result.outcome is QueryOutcome.FETCHED
        and result.scoped
        and could_refute(result.kind, accused.cause.cause_class)
        and not restates(result.asked, accused.pack.anchor.expression)
        for result in accused.results
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
