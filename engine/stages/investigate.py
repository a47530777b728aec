"""The investigation of one settled incident: gate, pack, judgement, finding, in one job."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from engine.charting import chart_of, keep_chart
from engine.correlate import judged_scopes
from engine.errors import (
    BudgetSpentError,
    EngineError,
    OperatorActionRequiredError,
    StoreUnavailableError,
)
from engine.failures import Dead, RetryAt, failure_class, next_step
from engine.investigation.session import JudgePorts
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.incident import Incident, IncidentState
from engine.model.ledger import ToolName
from engine.model.pack import Pack
from engine.model.review import ReviewReason
from engine.model.run import Run, RunState, RunTrigger, SkipReason
from engine.pack.build import PackBuilder
from engine.ports import Clock, Delivery, NewId, Progress, Tx
from engine.recheck import RecheckSkip, recheck_skip
from engine.review import open_review, review_reason
from engine.stages.facts import note_skip, subject_of, tell_of_budget
from engine.stages.gating import asked, next_try, tries
from engine.stages.world import World
from engine.triage import judge

T = TypeVar("T")
PROGRESS_EDITS = 2
"""Edits of the investigating line in one triage; more would only cost the chat's patience."""
LOOK_EDITS = 2
"""The same while the model looks further."""
KEEP_WAITS_S = (0.5, 2.0, 5.0, 10.0)
"""Pauses before a finding is kept again; together shorter than its job's lease."""
RESUMABLE = frozenset(
    {RunState.QUEUED, RunState.LOOKING, RunState.INVESTIGATING, RunState.CHECKING, RunState.WAITING}
)


class LeaseLostError(Exception):
    """Another worker has the job; what this one found is not kept."""


Outcome = Finding | SkipReason | RetryAt | Dead | None
"""None: there was nothing left to do."""


async def investigate(delivery: Delivery, world: World, new_id: NewId) -> Outcome:
    """Investigate the incident a job points at.

    Raises:
        LeaseLostError: the job was taken over meanwhile; nothing of this run was kept.
    """
    async with world.store.begin() as tx:
        incident = await tx.incidents.get(delivery.ids["incident_id"])
        if incident is None or incident.state is not IncidentState.OPEN:
            return None
        trigger = RunTrigger(delivery.ids.get("trigger", _trigger(incident).value))
        reason = await asked(tx, world, incident, trigger)
        trial = None if reason is not None else await tries(tx, world)
        if trial is None:
            reason = reason or SkipReason.BREAKER_OPEN
        if reason is not None or world.judge is None:
            reason = reason or SkipReason.NO_MODEL
            again_at = await next_try(tx, world, reason)
            skipped = await note_skip(tx, incident, reason, new_id, again_at)
            if skipped is not None:
                await world.listen(skipped, SessionEvent.SKIPPED, {"reason": reason})
            return reason
        run = await _begun(tx, world, incident, trigger, delivery, new_id)
        earlier = await tx.findings.newest(incident.id)
        done = await tx.findings.of_triage(run.triage_id)
    if done is not None:
        return done
    work = _Work(world, world.judge, incident, run, trial=bool(trial))
    try:
        return await work.finding(delivery, rejudge_of=earlier.triage_id if earlier else None)
    except EngineError as error:
        return await work.failed(error, delivery)


def _trigger(incident: Incident) -> RunTrigger:
    return RunTrigger.AUTO if incident.judged_at is None else RunTrigger.REJUDGE


async def _begun(
    tx: Tx,
    world: World,
    incident: Incident,
    trigger: RunTrigger,
    delivery: Delivery,
    new_id: NewId,
) -> Run:
    """Take up the run a dead worker left, or begin one."""
    now = await tx.now()
    before = await tx.runs.newest(incident.id)
    if before is not None and before.state in RESUMABLE:
        await tx.calls.lost(before.triage_id)
        # After a wait the world has moved on; after a crash the same evidence is read again, so
        # that calls which were answered are not sent twice.
        pack_hash = "" if before.state is RunState.WAITING else before.pack_hash
        run = before.model_copy(
            update={
                "state": RunState.LOOKING,
                "delivery": delivery.number,
                "next_try_at": None,
                "pack_hash": pack_hash,
            }
        )
        await tx.runs.save(run)
        return run
    run = Run(
        triage_id=new_id(),
        incident_id=incident.id,
        client_id=incident.client_id,
        trigger=trigger,
        state=RunState.LOOKING,
        created_at=now,
        started_at=now,
        delivery=delivery.number,
        rehearsal_model=world.rehearsal_model,
    )
    await tx.runs.add(run)
    return run


class _Work:
    """One run being worked on."""

    def __init__(
        self, world: World, ports: JudgePorts, incident: Incident, run: Run, *, trial: bool
    ) -> None:
        self._world = world
        self._trial = trial
        self._incident = incident
        self._run = run
        self._clock: Clock = world.pack.clock
        self._ports = replace(ports, events=self._heard)
        self._edits = 0
        self._looks = 0
        self._opened: ReviewReason | None = None

    async def finding(self, delivery: Delivery, *, rejudge_of: str | None) -> Finding:
        """Build the pack, have it judged, and keep what came of it with the job's end."""
        started_s = self._clock.monotonic()
        pack = await self._timed("pack", self._pack)
        found = await judge(
            self._run,
            self._incident,
            pack,
            self._ports,
            rule=self._world.rules.triage,
            progress=self._progress(),
            rejudge_of=rejudge_of,
        )
        await self._timed("persist", lambda: self._kept(found, delivery))
        await self._told_of_review()
        # What would be worth a second look is counted, though nobody takes one yet.
        unworthy = recheck_skip(found, self._incident, self._world.rules.recheck)
        await self._heard(SessionEvent.RECHECK, {"skipped": unworthy or RecheckSkip.DISABLED})
        await self._heard(
            SessionEvent.STAGE, {"stage": "total", "seconds": self._clock.monotonic() - started_s}
        )
        return found

    async def _pack(self) -> Pack:
        async with self._world.store.begin() as tx:
            frozen = await tx.findings.pack(self._run.pack_hash) if self._run.pack_hash else None
            if frozen is not None:
                await self._move(tx, RunState.INVESTIGATING)
                return frozen
            subject = await subject_of(tx, self._world, self._incident)
        builder = PackBuilder(subject, self._world.pack)
        pack = await builder.finish()
        async with self._world.store.begin() as tx:
            await tx.findings.keep_pack(pack)
            await tx.findings.show_facts(pack, complete=True)
            await self._move(tx, RunState.INVESTIGATING, pack_hash=pack.hash)
            await keep_chart(tx, chart_of(pack, builder.curve), self._incident)
        size = len(pack.canonical().encode())
        degraded = ",".join(pack.degraded)
        facts: EventFacts = {"sections": degraded, "hash": pack.hash, "bytes": size}
        await self._heard(SessionEvent.PACK, facts)
        return pack

    async def _kept(self, found: Finding, delivery: Delivery) -> None:
        """Keep what was paid for through a short outage of the database."""
        for wait_s in KEEP_WAITS_S:
            try:
                return await self._keep(found, delivery)
            except StoreUnavailableError:
                await self._clock.sleep(wait_s)
        return await self._keep(found, delivery)

    async def _keep(self, found: Finding, delivery: Delivery) -> None:
        async with self._world.store.begin() as tx:
            now = await tx.now()
            # The incident before the job, as intake locks them: the other way round they deadlock.
            seen = judged_scopes(self._incident, self._world.rules.correlation)
            await tx.incidents.judged(self._incident, now, sorted(seen))
            if not await tx.jobs.finish(delivery):
                raise LeaseLostError
            await tx.findings.keep(found)
            await self._ask_for_review(tx, review_reason(found, self._incident.severity))
            await self._move(tx, RunState.DONE, finished_at=now)
            await tx.cards.wish_message(self._incident, "finding", said_once(found), audible=True)
            await tx.cards.wish_message(self._incident, "evidence", "", audible=False)
            facts = {"triage_id": found.triage_id, "trust_level": found.trust_level.value}
            await tx.audit.append(self._incident.client_id, "engine", "finding.kept", facts)

    async def failed(self, error: EngineError, delivery: Delivery) -> RetryAt | Dead | SkipReason:
        """Say on the card what happened and what follows.

        What only tried whether a provider takes us again waits on, like all who were not asked.
        """
        if self._trial and (error.tells or isinstance(error, OperatorActionRequiredError)):
            return await self._left(SkipReason.BREAKER_OPEN)
        if isinstance(error, BudgetSpentError):
            return await self._left(SkipReason.BUDGET)
        async with self._world.store.begin() as tx:
            now = await tx.now()
            step = next_step(error, delivery.number, now, self._world.rules.triage)
            waits = isinstance(step, RetryAt)
            await self._move(
                tx,
                RunState.WAITING if waits else RunState.FAILED,
                failure=failure_class(error),
                failure_text=str(error)[:300],
                failure_kind=error.kind,
                next_try_at=step.at if isinstance(step, RetryAt) else None,
                finished_at=None if waits else now,
            )
            await self._ask_for_review(tx, None if waits else ReviewReason.DEAD_LETTER)
        if isinstance(step, Dead):
            step = step.model_copy(update={"said": str(error)[:300]})
        await self._heard(SessionEvent.FAILED, {"class": failure_class(error)})
        await self._told_of_review()
        return step

    async def _ask_for_review(self, tx: Tx, reason: ReviewReason | None) -> None:
        new = await open_review(tx, self._incident, reason, self._run.triage_id)
        self._opened = reason if new else None

    async def _told_of_review(self) -> None:
        if self._opened is not None:
            await self._heard(SessionEvent.REVIEW, {"reason": self._opened})

    async def _left(self, reason: SkipReason) -> SkipReason:
        """End a run without a model's answer, as if none had been asked."""
        async with self._world.store.begin() as tx:
            now = await tx.now()
            again_at = await next_try(tx, self._world, reason)
            skipped = {"skip_reason": reason, "finished_at": now, "next_try_at": again_at}
            await self._move(tx, RunState.SKIPPED, **skipped)
            if reason is SkipReason.BUDGET:
                await tell_of_budget(tx, self._incident.client_id)
        await self._heard(SessionEvent.SKIPPED, {"reason": reason})
        return reason

    async def _move(self, tx: Tx, state: RunState, **changed: object) -> None:
        stored = await tx.runs.get(self._run.triage_id)
        self._run = (stored or self._run).model_copy(update={"state": state, **changed})
        await tx.runs.save(self._run)
        await tx.cards.wish(self._incident, state.value)

    def _progress(self) -> Progress:
        async def tell(fact: str) -> None:
            self._edits += 1
            if self._edits > PROGRESS_EDITS:
                return
            async with self._world.store.begin() as tx:
                stored = await tx.runs.get(self._run.triage_id) or self._run
                await self._move(tx, RunState.CHECKING, progress=(*stored.progress, fact))

        return tell

    async def _heard(self, kind: SessionEvent, facts: EventFacts) -> None:
        await self._world.emit(self._run, kind, facts)
        if kind is SessionEvent.LOOK:
            await self._look(str(facts["tools"]).split(","))

    async def _look(self, names: Sequence[str]) -> None:
        """Say on the card where the model looks now, once for each new place."""
        places = tuple(dict.fromkeys(map(ToolName, names)))
        new = tuple(place for place in places if place not in self._run.looking)
        if not new or self._looks >= LOOK_EDITS:
            return
        self._looks += 1
        async with self._world.store.begin() as tx:
            stored = await tx.runs.get(self._run.triage_id) or self._run
            seen = tuple(place for place in stored.looking if place not in places)
            await self._move(tx, RunState.INVESTIGATING, looking=(*seen, *places))

    async def _timed(self, stage: str, work: Callable[[], Awaitable[T]]) -> T:
        started_s = self._clock.monotonic()
        result = await work()
        seconds = self._clock.monotonic() - started_s
        await self._heard(SessionEvent.STAGE, {"stage": stage, "seconds": seconds})
        return result


def said_once(found: Finding) -> str:
    """What a finding's reply is known by; one that says the same is an edit and rings nowhere."""
    return str(found.root_cause_key or found.disposition.value)


def wait_s(step: RetryAt, now: datetime) -> float:
    """Seconds until another try."""
    return max(0.0, (step.at - now).total_seconds())
