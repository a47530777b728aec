"""One frozen pack in, one stamped finding out: draft, checks chosen to disprove it, judgement."""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.calibration import calibration_of
from engine.confidence import caps
from engine.injection import suspected
from engine.investigation.calls import ACTOR
from engine.investigation.drafting import Drafted, draft
from engine.investigation.offering import offering
from engine.investigation.session import JudgePorts, Session
from engine.may_act import demoted, would_have_acted
from engine.model.event import EventFacts, SessionEvent
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CaveatCode,
    CheckResult,
    CheckSource,
    Finding,
    Round,
    VerifyStatus,
)
from engine.model.incident import Incident
from engine.model.memory import Near
from engine.model.pack import Pack
from engine.model.policy import TriageRule
from engine.model.run import Run
from engine.ports import Progress
from engine.shortcircuit import ShortCircuit, armed, candidate, confirm, stands
from engine.stamping import Material, finding_of
from engine.telling import stamp_facts
from engine.verification.judging import judgement
from engine.verification.kind import Subject
from engine.verification.repairing import repaired
from engine.verification.round import Batch, run_batch
from engine.verification.steering import governing, steered

logger = logging.getLogger(__name__)


async def judge(
    run: Run,
    incident: Incident,
    pack: Pack,
    ports: JudgePorts,
    *,
    rule: TriageRule,
    progress: Progress,
    rejudge_of: str | None = None,
) -> Finding:
    """Investigate one incident with what is in its pack.

    Raises:
        EngineError: no draft could be had; `engine.failures` says what follows. Whatever happens
            after the draft ends in a finding.
    """
    session = Session.begin(await _fenced(run, ports), incident, pack, ports, rule)
    await offering(session)
    known, how = await _remembered(session, progress, rejudge_of)
    finding = known or await _investigated(session, progress, rejudge_of)
    await _told(ports, finding, session.pack, how)
    return finding


async def _remembered(
    session: Session, progress: Progress, rejudge_of: str | None
) -> tuple[Finding | None, ShortCircuit]:
    """Take the cause of an earlier case where it is confirmed here and survives the checks."""
    if not armed(session):
        return None, ShortCircuit.DISABLED
    near = await candidate(session)
    if near is None:
        return None, ShortCircuit.NO_CANDIDATE
    async with _stage(session.ports, "confirm"):
        drafted = await confirm(session, near)
    if drafted is None:
        return None, ShortCircuit.FELL_THROUGH
    finding = await _stamped(session, drafted, progress, rejudge_of, near)
    if stands(finding):
        return finding, ShortCircuit.ADOPTED
    return None, ShortCircuit.FELL_THROUGH


async def _investigated(session: Session, progress: Progress, rejudge_of: str | None) -> Finding:
    async with _stage(session.ports, "conclude"):
        drafted = await draft(session)
    return await _stamped(session, drafted, progress, rejudge_of)


async def _stamped(
    session: Session,
    drafted: Drafted | None,
    progress: Progress,
    rejudge_of: str | None,
    near: Near | None = None,
) -> Finding:
    """Attack a draft, have it judged, and stamp what is left."""
    ports, rule = session.ports, session.rule
    material = Material(
        run=session.run,
        pack=session.pack,
        model=session.setting.model,
        created_at=ports.clock.now(),
        draft=drafted.draft if drafted else None,
        near=near,
        correction=await governing(session) if drafted else None,
        ledger=tuple(session.ledger.entries),
        bound=session.bound,
        vanished=session.vanished,
        rejudge_of=rejudge_of,
    )
    if drafted is not None and rule.verification.enabled:
        material = await _verified(session, material, drafted, progress)
    results = material.batch.results if material.batch else ()
    looked = [(entry.id, entry.text) for entry in session.ledger.entries]
    injected = suspected(session.incident, session.pack, results, looked)
    material = material.model_copy(update={"injected": injected})
    return finding_of(material, rule, await calibration_of(ports.store, material.model))


async def _fenced(run: Run, ports: JudgePorts) -> Run:
    """Draw the mark of untrusted text, once per run: a later delivery says the same bytes."""
    if run.fence:
        return run
    drawn = run.model_copy(update={"fence": ports.new_id()})
    async with ports.store.begin() as tx:
        await tx.runs.save(drawn)
    return drawn


async def _verified(
    session: Session, material: Material, drafted: Drafted, progress: Progress
) -> Material:
    """Fetch what could disprove the draft, then have it judged."""
    ports, subject = session.ports, Subject(incident=session.incident, pack=session.pack)
    plan, correction = drafted.draft.plan, material.correction
    async with _stage(ports, "contrast"):
        batch = await run_batch(
            subject,
            plan,
            ports.reach,
            session.rule.verification,
            repairs=await repaired(session, plan),
            steered=steered(correction),
        )
    await _recorded(session, batch, progress)
    async with _stage(ports, "verify"):
        said = await judgement(session, drafted, batch, correction)
    lost = said if isinstance(said, VerifyStatus) else None
    judged = None if isinstance(said, VerifyStatus) else said
    found = {"batch": batch, "judgement": judged, "lost": lost}
    return material.model_copy(update={**found, "created_at": ports.clock.now()})


async def _recorded(session: Session, batch: Batch, progress: Progress) -> None:
    """Log, count and audit the checks; people see the floor's answers at once."""
    for result in batch.results:
        if result.outcome is QueryOutcome.INVALID:
            reason = result.invalid_reason
            logger.info("check %s is invalid (%s): %s", result.id, reason, result.asked)
        await session.ports.events(SessionEvent.QUERY, _told_of(result))
        if result.source is CheckSource.FLOOR:
            await progress(result.text.splitlines()[0])
    counts = Counter(f"{r.source}_{r.outcome}" for r in batch.results)
    facts: dict[str, str | int | None] = {"left_out": batch.left_out, **counts}
    facts["triage_id"] = session.run.triage_id
    async with session.ports.store.begin() as tx:
        await tx.audit.append(session.run.client_id, ACTOR, "verification.round", facts)


def _told_of(result: CheckResult) -> dict[str, str]:
    return {
        "source": result.source.value,
        "check": result.kind,
        "outcome": result.outcome.value,
    }


def _told_of_round(round_: Round) -> EventFacts:
    return {
        "outcome": round_.outcome,
        "floor_fetched": round_.floor_fetched,
        "reasons": ",".join(round_.degraded_reasons),
    }


def _told_of_ground(finding: Finding) -> EventFacts:
    kinds = (str(c.facts["kinds"]) for c in finding.caveats if c.code is CaveatCode.UNGROUNDED)
    return {
        "score": finding.groundedness,
        "demoted": demoted(finding),
        "would_have_acted": would_have_acted(finding),
        "kinds": ",".join(next(kinds, "").splitlines()),
    }


async def _told(ports: JudgePorts, finding: Finding, pack: Pack, how: ShortCircuit) -> None:
    """Tell how it ended, in the closed words that are counted."""
    if finding.round is not None:
        await ports.events(SessionEvent.ROUND, _told_of_round(finding.round))
    await ports.events(SessionEvent.VERIFY, {"status": finding.verify_status})
    if finding.groundedness is not None:
        await ports.events(SessionEvent.GROUNDED, _told_of_ground(finding))
    if finding.steering is not None:
        ruled = finding.steering
        told: EventFacts = {"ruling": ruled.ruling, "backed": ruled.backed}
        await ports.events(SessionEvent.OPERATOR_RULING, told)
    for step in caps(finding.confidence_steps):
        await ports.events(SessionEvent.STEP, {"step": step.name, "value": step.value})
    for veto in finding.vetoes:
        await ports.events(SessionEvent.VETO, {"veto": veto})
    stamp = {**stamp_facts(finding, pack), "shortcircuit": how}
    await ports.events(SessionEvent.STAMP, stamp)


@asynccontextmanager
async def _stage(ports: JudgePorts, name: str) -> AsyncIterator[None]:
    """Measure a stage, also one that ends in an error."""
    started_s = ports.clock.monotonic()
    try:
        yield
    finally:
        seconds = ports.clock.monotonic() - started_s
        await ports.events(SessionEvent.STAGE, {"stage": name, "seconds": seconds})
