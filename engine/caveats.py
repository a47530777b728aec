"""What lowers this finding against the install's normal: codes, and the facts for their words."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    Caveat,
    CaveatCode,
    CheckSource,
    Disposition,
    Round,
    Veto,
)
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import MetricDigest, Pack, SectionName
from engine.pack.section import SectionNote


class Weak(StrEnum):
    """Facts beyond pack and round that weaken a finding."""

    UNGROUNDED = "ungrounded"
    METADATA_ONLY = "metadata_only"
    CORRECTION_UNTESTED = "correction_untested"
    BOUND_HIT = "bound_hit"
    INJECTION_SUSPECTED = "injection_suspected"


def caveats(
    pack: Pack,
    round_: Round | None,
    *,
    disposition: Disposition,
    vetoes: tuple[Veto, ...] = (),
    weak: frozenset[Weak] = frozenset(),
    facts: Mapping[Weak, Mapping[str, str | int]] = MappingProxyType({}),
) -> tuple[Caveat, ...]:
    """List them, the heaviest first; with verification off the round says nothing.

    Args:
        pack: what was known before any model.
        round_: the checks made against the draft.
        disposition: what became of the triage.
        vetoes: what code has against the cause.
        weak: what else weakens the finding.
        facts: what fills the words of those in `weak`.
    """
    found = [*_of_round(round_)]
    found += [
        Caveat(code=CaveatCode(name.value), facts=facts.get(name, {}))
        for name in Weak
        if name in weak
    ]
    if disposition is Disposition.ABSTAINED:
        found.append(Caveat(code=CaveatCode.ABSTAINED))
    else:
        found += [Caveat(code=CaveatCode.VETO, facts={"veto": veto.value}) for veto in vetoes]
    return (*found, *_of_pack(pack))


def _of_round(round_: Round | None) -> Iterator[Caveat]:
    if round_ is None:
        return
    if round_.degraded:
        yield Caveat(code=CaveatCode.CHECKS_UNAVAILABLE, facts=_unavailable(round_))
    invalid = [
        result
        for result in round_.results
        if result.outcome is QueryOutcome.INVALID and result.source is not CheckSource.FLOOR
    ]
    if invalid:
        yield Caveat(code=CaveatCode.QUERY_INVALID, facts={"count": len(invalid)})


def _unavailable(round_: Round) -> Mapping[str, str | int]:
    floor = [result for result in round_.results if result.source is CheckSource.FLOOR]
    unfit = {QueryOutcome.FAILED, QueryOutcome.DEGRADED, QueryOutcome.INVALID}
    missed = [result for result in floor if result.outcome in unfit]
    return {
        "reasons": ",".join(round_.degraded_reasons),
        "missed": len(missed),
        "floor": len(floor),
    }


def _of_pack(pack: Pack) -> Iterator[Caveat]:
    if pack.degraded:
        names = ",".join(pack.degraded)
        yield Caveat(
            code=CaveatCode.PACK_DEGRADED, facts={"sections": names, "count": len(pack.degraded)}
        )
    cut = [section.name for section in pack.sections if SectionNote.SHORTENED in section.note]
    if cut:
        facts: dict[str, str | int] = {"shortened": ",".join(cut), "revision": pack.revision}
        yield Caveat(code=CaveatCode.PACK_DEGRADED, facts=facts)


_LIVE = frozenset(SectionName) - {
    SectionName.ALERTS,
    SectionName.HISTORY,
    SectionName.RUNBOOK,
    SectionName.PRIORS,
}
"""Sections that look at the thing itself, not at the alert or at memory."""


_LOOKS = frozenset(ToolName) - {ToolName.INCIDENTS}


def metadata_only(pack: Pack, round_: Round | None, ledger: Sequence[LedgerEntry] = ()) -> bool:
    """Whether nothing but the alert itself was known: no live evidence and no scoped answer.

    Other incidents and a ratio over everything say nothing about this one.
    """
    live = [
        item
        for section in pack.sections
        if section.name in _LIVE
        for item in section.items
        if not (isinstance(item.facts, MetricDigest) and item.facts.own_expression)
    ]
    answers = [
        result
        for result in (round_.results if round_ else ())
        if result.outcome is QueryOutcome.FETCHED and result.scoped and result.backend
    ]
    looked = [e for e in ledger if e.outcome is QueryOutcome.FETCHED and e.tool in _LOOKS]
    return not live and not answers and not looked
