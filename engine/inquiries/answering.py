"""The answer to a question: the same pack, the same judgement and the same stamps as a triage."""

from engine.errors import BudgetSpentError, EngineError
from engine.failures import Dead, RetryAt, failure_class, next_step
from engine.inquiries.ports import InquiryStore, InquiryTx
from engine.inquiries.subject import incident_of
from engine.investigation.session import JudgePorts
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.inquiry import Inquiry, InquiryState
from engine.model.pack import Pack
from engine.model.run import Run, RunState, RunTrigger, SkipReason
from engine.pack.build import PackBuilder
from engine.pack.section import Subject
from engine.ports import Delivery, NewId, Progress
from engine.stages.gating import asked
from engine.stages.world import World
from engine.triage import judge

PROGRESS_EDITS = 2
RESUMABLE = frozenset({RunState.LOOKING, RunState.INVESTIGATING, RunState.CHECKING})
Outcome = Finding | SkipReason | RetryAt | Dead | None
"""None: there was nothing left to do."""


async def answer(delivery: Delivery, world: World, store: InquiryStore, new_id: NewId) -> Outcome:
    """Answer the question a job points at; flags are read again, as they may have changed."""
    async with store.begin() as tx:
        inquiry = await tx.inquiries.get(delivery.ids["inquiry_id"])
        if inquiry is None or inquiry.state is not InquiryState.WAITING:
            return None
        subject = incident_of(inquiry)
        reason = await asked(tx, world, subject, RunTrigger.ENGAGE)
        if reason is None and world.judge is None:
            reason = SkipReason.NO_MODEL
        if reason is not None:
            await _settle(tx, inquiry, state=InquiryState.SKIPPED, skip_reason=reason)
            return reason
        run = await _begun(tx, world, subject, delivery, new_id)
    assert world.judge is not None, "asked above"
    work = _Answering(world, store, inquiry, subject, run)
    try:
        return await work.finding(delivery, world.judge)
    except EngineError as error:
        return await work.failed(error, delivery)


async def _settle(tx: InquiryTx, inquiry: Inquiry, **changed: object) -> None:
    settled = inquiry.model_copy(update=changed)
    await tx.inquiries.save(settled)
    await tx.cards.wish_inquiry(settled)


async def _begun(
    tx: InquiryTx, world: World, subject: Incident, delivery: Delivery, new_id: NewId
) -> Run:
    """Take up the run a dead worker left, or begin one."""
    now = await tx.now()
    before = await tx.runs.newest(subject.id)
    if before is not None and before.state in RESUMABLE:
        await tx.calls.lost(before.triage_id)
        again = {"state": RunState.LOOKING, "delivery": delivery.number}
        run = before.model_copy(update=again)
        await tx.runs.save(run)
        return run
    run = Run(
        triage_id=new_id(),
        incident_id=subject.id,
        client_id=subject.client_id,
        trigger=RunTrigger.ENGAGE,
        state=RunState.LOOKING,
        created_at=now,
        started_at=now,
        delivery=delivery.number,
        rehearsal_model=world.rehearsal_model,
    )
    await tx.runs.add(run)
    return run


class _Answering:
    """One question being answered."""

    def __init__(
        self, world: World, store: InquiryStore, inquiry: Inquiry, subject: Incident, run: Run
    ) -> None:
        self._world = world
        self._store = store
        self._inquiry = inquiry
        self._subject = subject
        self._run = run
        self._edits = 0

    async def finding(self, delivery: Delivery, ports: JudgePorts) -> Finding:
        """Build the pack, have it judged, keep the answer with the job's end."""
        pack = await self._pack()
        found = await judge(
            self._run,
            self._subject,
            pack,
            ports.hearing(self._heard),
            # What a remembered incident was is no answer to a question of its own.
            rule=self._world.rules.triage.model_copy(update={"memory_shortcircuit_distance": 0}),
            progress=self._progress(),
        )
        async with self._store.begin() as tx:
            await tx.findings.keep(found)
            await self._move(tx, RunState.DONE, finished_at=await tx.now())
            await _settle(tx, self._inquiry, state=InquiryState.ANSWERED)
            await tx.jobs.finish(delivery)
        return found

    async def failed(self, error: EngineError, delivery: Delivery) -> RetryAt | Dead | SkipReason:
        """Say what happened and what follows."""
        spent = isinstance(error, BudgetSpentError)
        async with self._store.begin() as tx:
            now = await tx.now()
            if spent:
                reason = SkipReason.BUDGET
                await self._move(tx, RunState.SKIPPED, skip_reason=reason, finished_at=now)
                await _settle(tx, self._inquiry, state=InquiryState.SKIPPED, skip_reason=reason)
                return reason
            step = next_step(error, delivery.number, now, self._world.rules.triage)
            failure = failure_class(error)
            if isinstance(step, RetryAt):
                await self._move(tx, RunState.LOOKING, failure=failure, next_try_at=step.at)
                await tx.cards.wish_inquiry(self._inquiry)
                return step
            await self._move(tx, RunState.FAILED, failure=failure, finished_at=now)
            await _settle(tx, self._inquiry, state=InquiryState.FAILED, failure=failure)
        return step.model_copy(update={"said": str(error)[:300]})

    async def _pack(self) -> Pack:
        rules = self._world.rules
        subject = Subject(incident=self._subject, pack=rules.pack, correlation=rules.correlation)
        pack = await PackBuilder(subject, self._world.pack).finish()
        async with self._store.begin() as tx:
            await tx.findings.keep_pack(pack)
            await self._move(tx, RunState.INVESTIGATING, pack_hash=pack.hash)
            await tx.cards.wish_inquiry(self._inquiry)
        return pack

    async def _move(self, tx: InquiryTx, state: RunState, **changed: object) -> None:
        stored = await tx.runs.get(self._run.triage_id)
        self._run = (stored or self._run).model_copy(update={"state": state, **changed})
        await tx.runs.save(self._run)

    def _progress(self) -> Progress:
        async def tell(fact: str) -> None:
            self._edits += 1
            if self._edits > PROGRESS_EDITS:
                return
            async with self._store.begin() as tx:
                stored = await tx.runs.get(self._run.triage_id) or self._run
                await self._move(tx, RunState.CHECKING, progress=(*stored.progress, fact))
                await tx.cards.wish_inquiry(self._inquiry)

        return tell

    async def _heard(self, kind: SessionEvent, facts: EventFacts) -> None:
        await self._world.emit(self._run, kind, facts)
