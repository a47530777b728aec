"""How a finding ended, in the closed words that are counted, streamed and replayed."""

from collections.abc import Iterator
from enum import StrEnum

from engine.model.event import EventFacts
from engine.model.finding import CaveatCode, Disposition, Finding, Ruling
from engine.model.pack import Pack, SectionName


class CauseSource(StrEnum):
    """Which causal input of the pack a key claim rests on."""

    HOST = "host"
    DEPLOY = "deploy"
    CLOUD = "cloud"
    UPSTREAM = "upstream"


_SOURCES = {
    SectionName.CHANGES: CauseSource.HOST,
    SectionName.DEPLOYS: CauseSource.DEPLOY,
    SectionName.CLOUD: CauseSource.CLOUD,
    SectionName.UPSTREAM: CauseSource.UPSTREAM,
}


class AbstentionReason(StrEnum):
    """Why nobody could tell, as far as code can see."""

    THIN_PACK = "thin_pack"
    CONTRADICTORY = "contradictory"
    BOUND_HIT = "bound_hit"


def stamp_facts(finding: Finding, pack: Pack) -> EventFacts:
    """Say everything of a finding that is counted; no words of anybody."""
    key = sum(r.claim.key and r.ruling is not Ruling.SUPPORTED for r in finding.claims)
    unsupported = len(finding.unsupported_claims)
    return {
        "trust_level": finding.trust_level,
        "disposition": finding.disposition,
        "path": finding.path,
        "confidence": finding.confidence,
        "unsupported": unsupported,
        "unsupported_key": min(key, unsupported),
        "cause_sources": ",".join(sorted(set(cause_sources(finding, pack)))),
        "abstention": abstention(finding),
        "memory": memory(finding),
    }


def cause_sources(finding: Finding, pack: Pack) -> Iterator[CauseSource]:
    """Name the causal inputs the key claims of a named cause cite."""
    if finding.root_cause is None:
        return
    key = [ruling for ruling in finding.claims if ruling.claim.key]
    cited = {id_ for r in key for id_ in (*r.claim.evidence_ids, *r.evidence_ids)}
    for section in pack.sections:
        if section.name in _SOURCES and any(item.id in cited for item in section.items):
            yield _SOURCES[section.name]


def abstention(finding: Finding) -> AbstentionReason | None:
    """Say why it abstained; None when it did not."""
    if finding.disposition is not Disposition.ABSTAINED:
        return None
    if any(caveat.code is CaveatCode.BOUND_HIT for caveat in finding.caveats):
        return AbstentionReason.BOUND_HIT
    drafted = finding.draft is not None and not finding.draft.abstains
    return AbstentionReason.CONTRADICTORY if drafted else AbstentionReason.THIN_PACK


def memory(finding: Finding) -> str | None:
    """Say what became of a recalled case; None when verification did not ask."""
    if finding.memory_verdict is not None:
        return finding.memory_verdict.value
    degraded = finding.round is not None and finding.round.degraded
    return "withheld_degraded" if degraded else None
