"""What is happening to it now: being looked at, waiting, stopped, or left alone and why."""

from collections.abc import Callable, Mapping
from datetime import datetime

from cards import caveats, words
from cards.card import Block, Caveats, Line
from cards.figures import ordinal
from cards.life import State, choose
from cards.line import bold, joined, moment, say, text
from cards.section import Body, CardSection
from engine.model.alert import AlertClass
from engine.model.org import Flags
from engine.model.run import CaseFile, Run, RunState, RunTrigger, SkipReason

MOST_PROGRESS = 3
RUNNING = (RunState.LOOKING, RunState.INVESTIGATING, RunState.CHECKING)
MOST_DELIVERIES = 35


def build(case: CaseFile, now: datetime) -> Body | None:
    """Say it for the state the card is in."""
    state = choose(case)
    teller = TELLERS.get(state)
    if teller is not None:
        return teller(case, now)
    return _again(case) if case.finding is not None else None


def _blocks(*blocks: Block) -> Body:
    return Body(blocks=blocks)


def _facts(case: CaseFile, now: datetime) -> Body | None:
    run = case.run
    if run is None or run.state is RunState.DONE:
        return _off(case.client.flags)
    if run.state is RunState.QUEUED and case.incident.settle_at > now:
        return _blocks(
            text(say("⏳ investigation starts at ", moment(case.incident.settle_at, now)))
        )
    return _blocks(text(say("⏳ investigation is about to start")))


def _off(flags: Flags) -> Body | None:
    if flags.ai_triage:
        return None
    return _blocks(text(say(bold("Facts only"), f" — {words.SKIP[SkipReason.FLAG_OFF]}")))


def _investigating(case: CaseFile, now: datetime) -> Body | None:
    del now
    run = case.run
    if run is None:
        return None
    checking = run.state is RunState.CHECKING
    doing = "Testing the cause against other evidence" if checking else "Investigating"
    looked = [words.looking(run.looking)] if run.looking and not checking else []
    facts = [*looked, *run.progress[-MOST_PROGRESS:]]
    lines = [say("⏳ ", bold(doing)), *(say(fact) for fact in facts)]
    return _blocks(text(*lines))


def _waiting(case: CaseFile, now: datetime) -> Body | None:
    run = case.run
    if run is None:
        return None
    next_try = say("next try ", moment(run.next_try_at, now)) if run.next_try_at else ()
    tries = say(f"{ordinal(run.delivery)} of {MOST_DELIVERIES} tries") if run.delivery else ()
    return _blocks(text(joined((say("⏳ ", bold("Model provider busy")), next_try, tries))))


def _stopped(case: CaseFile, now: datetime) -> Body | None:
    del now
    run = case.run
    if run is None or run.failure is None:
        return _blocks(Caveats(lines=(say(bold("Investigation failed")),)))
    lead = say(bold("Investigation stopped"), f": {words.failure(run)}. Not retried.")
    cure = say("The facts below stand; press Re-triage once it is put right.")
    return _blocks(Caveats(lines=(lead,)), text(cure))


def _left_alone(case: CaseFile, now: datetime) -> Body | None:
    del now
    return _blocks(text(say(bold("Facts only"), f" — {_reason(case)}")))


def _reason(case: CaseFile) -> str:
    reason = case.run.skip_reason if case.run else None
    if reason is SkipReason.CLASS and case.incident.alert_class is AlertClass.MONITORING_GAP:
        return "nobody measured: there is no symptom to find a cause for"
    return words.SKIP[reason] if reason else "not investigated yet"


def _no_model(case: CaseFile, now: datetime) -> Body | None:
    if case.finding is not None:
        return _blocks(text(say(bold("Facts only"))), Caveats(lines=caveats.lines(case.finding)))
    reason = case.run.skip_reason if case.run else None
    line = caveats.no_model(words.SKIP[reason or SkipReason.NO_MODEL])
    blocks: list[Block] = [text(say(bold("Facts only"))), Caveats(lines=(line,))]
    again_at = case.run.next_try_at if case.run else None
    if again_at is not None and again_at > now:
        blocks.append(text(say("⏳ next try ", moment(again_at, now))))
    return _blocks(*blocks)


def _predictive(case: CaseFile, now: datetime) -> Body | None:
    del case, now
    return _blocks(text(say(bold("Nothing is broken yet"), " — no cause to look for")))


def _again(case: CaseFile) -> Body | None:
    """A finding stands and something is going on about it."""
    run = case.run
    if run is None or case.finding is None or run.triage_id == case.finding.triage_id:
        return None
    line = _rerun(run)
    return _blocks(text(line)) if line else None


def _rerun(run: Run) -> Line:
    if run.state in RUNNING or run.state is RunState.QUEUED:
        why = " because things changed" if run.trigger is RunTrigger.REJUDGE else ""
        return say("⏳ ", bold("Investigating again"), why)
    if run.state is RunState.WAITING:
        return say("⏳ model provider busy, it is tried again")
    return say("the second investigation failed; this finding stands") if run.failure else ()


TELLERS: Mapping[State, Callable[[CaseFile, datetime], Body | None]] = {
    State.FACTS: _facts,
    State.INVESTIGATING: _investigating,
    State.WAITING: _waiting,
    State.OPERATOR_ACTION: _stopped,
    State.FAILED: _stopped,
    State.NOT_INVESTIGATED: _left_alone,
    State.NO_MODEL: _no_model,
    State.PREDICTIVE: _predictive,
}

SECTION = CardSection(name="status", rank=26, keep=88, build=build)
