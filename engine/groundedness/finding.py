"""The groundedness of a draft or judgement in the evidence it was given."""

from collections.abc import Iterator, Sequence

from engine.groundedness.score import Groundedness, score
from engine.groundedness.vocabulary import NAMESPACE_KEYS, SERVICE_KEYS
from engine.model.finding import (
    MODEL_QUERY,
    CheckResult,
    CheckSource,
    Claim,
    Draft,
    Judgement,
    Round,
    Ruling,
)
from engine.model.pack import HistoryFacts, Item, Pack, SectionName


def of_finding(
    said: Draft | Judgement,
    pack: Pack,
    round_: Round | None,
    *,
    ledger: Sequence[str] = (),
    recalled: Sequence[str] = (),
) -> Groundedness:
    """Look up what was said in the pack, in what tools showed and in the round's results.

    What a person could do next and what was missing are left out: both name things the evidence
    need not hold. The questions a model asked are its own words, so only results are evidence.

    Args:
        said: what the finding says.
        pack: what was known before any model.
        round_: the checks made against the draft.
        ledger: what tools showed, without what they were asked.
        recalled: what was shown of earlier cases besides the pack's own; it counts as memory.
    """
    return score(
        tuple(_cited(said)),
        (*_evidence(pack, round_), *ledger),
        known=tuple(_known(pack, round_)),
        memory_texts=(*_recalled(pack), *recalled),
    )


def _cited(said: Draft | Judgement) -> Iterator[str]:
    if said.root_cause:
        yield said.root_cause
    yield from (claim.text for claim in _held(said))


def _held(said: Draft | Judgement) -> Iterator[Claim]:
    """Give the claims that are made; what the checks contradict is said no more."""
    if isinstance(said, Draft):
        yield from said.claims
        return
    yield from (r.claim for r in said.rulings if r.ruling is not Ruling.CONTRADICTED)


def _evidence(pack: Pack, round_: Round | None) -> Iterator[str]:
    yield pack.anchor.model_dump_json()
    for section in pack.sections:
        if section.name is not SectionName.PRIORS:
            for item in section.items:
                yield from _told(item)
    yield from (_seen(result) for result in (round_.results if round_ else ()))


def _seen(result: CheckResult) -> str:
    """Give a result's text and scope, without the expression a model wrote and its matchers."""
    if result.source is CheckSource.MODEL and result.kind == MODEL_QUERY:
        return result.text.partition("\n")[2]
    return "\n".join([result.text, *(f"{name}={value}" for name, value in result.scope.items())])


def _told(item: Item) -> Iterator[str]:
    """Give an item's words and figures without what an earlier finding said."""
    if isinstance(item.facts, HistoryFacts):
        cause = item.facts.last_root_cause
        yield item.text.replace(cause, "") if cause else item.text
        yield item.facts.model_dump_json(exclude={"last_root_cause"})
        return
    yield item.text
    yield item.facts.model_dump_json()


def _recalled(pack: Pack) -> Iterator[str]:
    for section in pack.sections:
        for item in section.items:
            if section.name is SectionName.PRIORS:
                yield item.text
            elif isinstance(item.facts, HistoryFacts):
                yield item.facts.last_root_cause or ""


def _known(pack: Pack, round_: Round | None) -> Iterator[str]:
    anchor = pack.anchor
    yield from (name for name in (anchor.service, anchor.host) if name)
    labelled = [anchor.grouping_key, *(r.scope for r in (round_.results if round_ else ()))]
    for labels in labelled:
        yield from (v for k, v in labels.items() if k in NAMESPACE_KEYS | SERVICE_KEYS)
