"""From draft, checks and judgement to the finding that is kept. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import AwareDatetime

from engine.caveats import Weak, caveats, metadata_only
from engine.citations import known_ids, unsupported, valid_citations
from engine.confidence import Calibration, Said, Weighed, uncalibrated, weigh
from engine.disposition import Judged, disposition, verify_status
from engine.groundedness.finding import of_finding
from engine.groundedness.score import Groundedness, demotes, told
from engine.investigation.judgement import replaced, unruled
from engine.model.base import Frozen
from engine.model.correction import Correction, Steering
from engine.model.finding import (
    CauseKey,
    Claim,
    ClaimRuling,
    Disposition,
    Draft,
    Finding,
    Judgement,
    MemoryVerdict,
    Round,
    RoundOutcome,
    TriagePath,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.ledger import Bound, LedgerEntry, ToolName
from engine.model.memory import Near
from engine.model.pack import Pack
from engine.model.policy import TriageRule
from engine.model.run import Run
from engine.trust import Standing, stamp
from engine.verification.accused import Accused
from engine.verification.round import JUDGEMENT_LOST, Batch
from engine.verification.steering import steering
from engine.verification.vetoes import vetoes


class Material(Frozen):
    """All a finding is made of."""

    run: Run
    pack: Pack
    model: str
    created_at: AwareDatetime
    draft: Draft | None
    """None when no reply could be read as one."""
    correction: Correction | None = None
    """A person's, that governs the incident."""
    batch: Batch | None = None
    """None when verification is switched off, or nothing was there to verify."""
    judgement: Judgement | None = None
    lost: VerifyStatus | None = None
    """How call 2 was lost: timed out or errored."""
    ledger: tuple[LedgerEntry, ...] = ()
    """What was looked up beyond the pack."""
    bound: Bound | None = None
    """What stopped the looking."""
    vanished: tuple[ToolName, ...] = ()
    """Tools there were before and are no more."""
    near: Near | None = None
    """The earlier case whose cause was adopted."""
    injected: tuple[str, ...] = ()
    """Evidence that speaks to the reader instead of telling what happened."""
    rejudge_of: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """What every finding says of itself, whatever came out."""
        return {
            "triage_id": self.run.triage_id,
            "incident_id": self.run.incident_id,
            "client_id": self.run.client_id,
            "pack_hash": self.pack.hash,
            "created_at": self.created_at,
            "model": self.model,
            "ledger": self.ledger,
            "vanished": self.vanished,
            "rejudge_of": self.rejudge_of,
        }

    @property
    def weak(self) -> dict[Weak, Mapping[str, str | int]]:
        """What weakens every finding that is made of this, with the facts for its words."""
        return {Weak.BOUND_HIT: {"bound": self.bound.value}} if self.bound else {}


def finding_of(
    material: Material, rule: TriageRule, calibrate: Calibration = uncalibrated
) -> Finding:
    """Stamp what the calls and checks came to."""
    if material.draft is None:
        return _unjudged(material)
    return _Stamping(material, material.draft, rule, calibrate).finding


def _unjudged(material: Material) -> Finding:
    """Say that no reply was a draft: there is no cause, no number and no check."""
    return Finding(
        **material.identity,
        path=TriagePath.FULL,
        disposition=Disposition.NOT_JUDGED,
        trust_level=TrustLevel.UNVERIFIED,
        verify_status=VerifyStatus.NO_ANALYSIS,
        root_cause=None,
        root_cause_key=None,
        caveats=caveats(
            material.pack,
            None,
            disposition=Disposition.NOT_JUDGED,
            weak=frozenset(material.weak),
            facts=material.weak,
        ),
    )


@dataclass(frozen=True)
class _Stamping:
    """The steps, each on top of those before it."""

    material: Material
    draft: Draft
    rule: TriageRule
    calibrate: Calibration

    @cached_property
    def root_cause(self) -> str | None:
        """The judgement's; the draft's when call 2 was lost or is switched off."""
        judgement = self.material.judgement
        return judgement.root_cause if judgement else self.draft.root_cause

    @cached_property
    def key(self) -> CauseKey | None:
        judgement = self.material.judgement
        return judgement.root_cause_key if judgement else self.draft.root_cause_key

    @cached_property
    def rulings(self) -> tuple[ClaimRuling, ...]:
        judgement = self.material.judgement
        return judgement.rulings if judgement else unruled(self.draft)

    @cached_property
    def replaced(self) -> bool:
        judged = self.material.judgement is not None
        return judged and replaced(self.draft.root_cause_key, self.key)

    @cached_property
    def status(self) -> VerifyStatus:
        if self.material.batch is None:
            return VerifyStatus.NOT_RUN
        if self.material.judgement is None:
            return self.material.lost or VerifyStatus.ERRORED
        judged = Judged(
            abstains=self.root_cause is None,
            draft_abstained=self.draft.abstains,
            replaced=self.replaced,
            floor_fetched=self.material.batch.floor_fetched,
            rulings=self.rulings,
        )
        return verify_status(judged)

    @cached_property
    def round(self) -> Round | None:
        batch = self.material.batch
        if batch is None:
            return None
        lost = () if self.material.judgement else (JUDGEMENT_LOST,)
        reasons = (*batch.degraded_reasons, *lost)
        return Round(
            results=batch.results,
            outcome=self._outcome(degraded=bool(reasons)),
            degraded_reasons=reasons,
            floor_fetched=batch.floor_fetched,
        )

    def _outcome(self, *, degraded: bool) -> RoundOutcome:
        if degraded:
            return RoundOutcome.DEGRADED
        if self.replaced or self.status is VerifyStatus.REFUTED:
            return RoundOutcome.REVISED
        verified = self.status is VerifyStatus.VERIFIED
        return RoundOutcome.SUPPORTED if verified else RoundOutcome.INCONCLUSIVE

    @cached_property
    def steering(self) -> Steering | None:
        """What became of a person's correction."""
        results = self.round.results if self.round else ()
        return steering(self.material.correction, results, self.material.judgement)

    @property
    def untested(self) -> bool:
        """Whether a person said otherwise and the evidence could not tell who is right."""
        return self.steering is not None and not self.steering.tested

    @cached_property
    def thin(self) -> bool:
        """Whether nothing but the alert itself was known."""
        return self.root_cause is not None and metadata_only(
            self.material.pack, self.round, self.material.ledger
        )

    @cached_property
    def grounded(self) -> Groundedness:
        """How much of what a cause is told with stands in the evidence; no cause, no score."""
        if self.root_cause is None:
            return Groundedness()
        said = self.material.judgement or self.draft
        material = self.material
        told = material.near.stub.words if material.near else ()
        shown = [entry.text for entry in material.ledger]
        return of_finding(said, material.pack, self.round, ledger=shown, recalled=told)

    @cached_property
    def ungrounded(self) -> bool:
        return demotes(self.grounded, self.rule.groundedness)

    @cached_property
    def weighed(self) -> Weighed:
        """Confidence in a cause; without one there is none."""
        if self.root_cause is None:
            return Weighed(value=None)
        batch, judgement = self.material.batch, self.material.judgement
        said = Said(
            self_confidence=self.draft.self_confidence,
            judged_confidence=judgement.judged_confidence if judgement else None,
            query_failed=bool(batch and batch.query_failed) or self.degraded,
            metadata_only=self.thin,
            correction_untested=self.untested,
            replaced=self.replaced,
            groundedness=self.grounded.score,
            ungrounded=self.ungrounded,
        )
        return weigh(said, self.calibrate)

    @property
    def degraded(self) -> bool:
        return self.round is not None and self.round.degraded

    @cached_property
    def vetoes(self) -> tuple[Veto, ...]:
        """What code has against the cause; with verification off nothing was to be stamped."""
        if self.key is None or self.material.batch is None:
            return ()
        accused = Accused(
            cause=self.key,
            rulings=self.rulings,
            pack=self.material.pack,
            results=self.material.batch.results,
            ledger=self.material.ledger,
        )
        return vetoes(accused)

    @cached_property
    def valid_citations(self) -> int:
        results = self.round.results if self.round else ()
        ledger = self.material.ledger
        return valid_citations(self._cited(), known_ids(self.material.pack, results, ledger))

    def _cited(self) -> Iterator[Claim]:
        for ruling in self.rulings:
            both = (*ruling.claim.evidence_ids, *ruling.evidence_ids)
            yield ruling.claim.model_copy(update={"evidence_ids": both})

    @cached_property
    def disposition(self) -> Disposition:
        abstains = self.root_cause is None
        contradicted = self.steering is not None and self.steering.contradicted
        review = self.ungrounded or contradicted or bool(self.material.injected)
        return disposition(self.status, abstains=abstains, review=review)

    @cached_property
    def trust_level(self) -> TrustLevel:
        standing = Standing(
            status=self.status,
            confidence=self.weighed.value,
            ungrounded=self.ungrounded,
            vetoes=self.vetoes,
            valid_citations=self.valid_citations,
        )
        return stamp(standing, self.rule.trust)

    @property
    def weak(self) -> frozenset[Weak]:
        """What weakens it beyond pack, round and vetoes."""
        hit = {
            Weak.UNGROUNDED: self.ungrounded,
            Weak.METADATA_ONLY: self.thin,
            Weak.CORRECTION_UNTESTED: self.untested,
            Weak.BOUND_HIT: self.material.bound is not None,
            Weak.INJECTION_SUSPECTED: bool(self.material.injected),
        }
        return frozenset(name for name, stands in hit.items() if stands)

    @property
    def weak_facts(self) -> Mapping[Weak, Mapping[str, str | int]]:
        """What fills the words of its weaknesses."""
        facts = {**self.material.weak, Weak.UNGROUNDED: told(self.grounded)}
        if self.steering is not None:
            date = self.steering.captured_at.date().isoformat()
            facts[Weak.CORRECTION_UNTESTED] = {"date": date, "ruling": self.steering.ruling}
        return facts

    @cached_property
    def memory_verdict(self) -> MemoryVerdict | None:
        """A round that missed its minimum neither confirms nor refutes what is remembered."""
        if self.material.batch is None:
            return self.draft.memory_verdict
        judgement = self.material.judgement
        return None if self.degraded or judgement is None else judgement.memory_verdict

    @property
    def path(self) -> TriagePath:
        if self.material.near is not None:
            return TriagePath.SHORT_CIRCUIT
        return TriagePath.FULL if self.round else TriagePath.SINGLE_CALL

    @cached_property
    def finding(self) -> Finding:
        judgement = self.material.judgement
        last = judgement or self.draft
        return Finding(
            **self.material.identity,
            path=self.path,
            disposition=self.disposition,
            trust_level=self.trust_level,
            verify_status=self.status,
            root_cause=self.root_cause,
            root_cause_key=self.key,
            replaced=self.replaced,
            claims=self.rulings,
            unsupported_claims=unsupported(self.rulings) if judgement else (),
            missing=last.missing or self.draft.missing,
            next_step=last.next_step or self.draft.next_step,
            confidence=self.weighed.value,
            confidence_steps=self.weighed.steps,
            self_confidence=self.draft.self_confidence,
            groundedness=self.grounded.score,
            valid_citations=self.valid_citations,
            vetoes=self.vetoes,
            caveats=caveats(
                self.material.pack,
                self.round,
                disposition=self.disposition,
                vetoes=self.vetoes,
                weak=self.weak,
                facts=self.weak_facts,
            ),
            memory_verdict=self.memory_verdict,
            draft=self.draft,
            round=self.round,
            prior=self.material.near.prior if self.material.near else None,
            steering=self.steering,
        )
