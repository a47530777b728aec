"""A triage from pack to finding: what is asked, in which order, and what is kept."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from engine.errors import (
    OperatorActionRequiredError,
    TerminalError,
    TransientError,
    UnknownModelError,
)
from engine.model.event import SessionEvent
from engine.model.evidence import Gap, GapCause, QueryOutcome
from engine.model.finding import (
    CheckSource,
    ConfidenceStepName,
    Disposition,
    Finding,
    MemoryVerdict,
    RoundOutcome,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.llm import Capabilities, StopReason
from engine.model.pack import Item, TextFacts
from engine.model.policy import TriageRule, VerificationRule
from engine.model.run import CallState, RunTrigger
from engine.triage import judge
from tests.engine.judged import (
    ALERT,
    DEPLOY,
    FENCE,
    OWN,
    POOL,
    UP,
    Table,
    a_run,
    abstaining,
    change,
    drafted,
    incident,
    pack,
    ruled,
)
from tests.fakes import FakeMetrics, Late, ScriptedLLM, run, said

OFF = TriageRule(verification=VerificationRule(enabled=False))


def table(*replies: object, metrics: object = UP, **more: object) -> Table:
    backend = FakeMetrics(metrics) if isinstance(metrics, dict) else None  # type: ignore[arg-type]
    return Table(ScriptedLLM(list(replies)), metrics=backend, **more)  # type: ignore[arg-type]


@pytest.mark.proves("S0-3", "S0-4", "S0-5", "S0-8", "S0-13", "S0-36", "S3-62")
def test_a_clean_case_takes_two_calls_and_is_stamped_verified_without_a_caveat() -> None:
    desk = table(drafted(confidence=0.6), ruled(confidence=0.82))
    finding = desk.triage()
    assert len(desk.llm.asked) == 2
    assert finding.trust_level is TrustLevel.VERIFIED
    assert finding.verify_status is VerifyStatus.VERIFIED
    assert (finding.confidence, finding.self_confidence) == (0.82, 0.6)
    assert (finding.caveats, finding.vetoes) == ((), ())
    assert finding.round is not None
    assert finding.round.outcome is RoundOutcome.SUPPORTED
    assert finding.disposition is Disposition.ANSWERED


@pytest.mark.proves("S0-1", "S0-35", "S3-63")
def test_a_regional_cause_meets_a_healthy_fleet_and_is_replaced() -> None:
    draft = drafted("Regional outage.", "region", "cloud_provider", 0.95, plan=[])
    said_ = ruled("contradicted", cause="The pool is full.", component="checkout-api",
                  cause_class="resource_exhaustion", confidence=0.9, cites=("R1",))  # fmt: skip
    desk = table(draft, said_)
    finding = desk.triage()
    assert "up 34/37 in namespace=checkout" in desk.llm.asked[1].canonical()
    assert finding.replaced
    assert finding.verify_status is VerifyStatus.INCONCLUSIVE
    assert finding.confidence == 0.7
    assert finding.confidence_steps[-1].name is ConfidenceStepName.REPLACED
    assert finding.trust_level is TrustLevel.UNCONFIRMED
    assert finding.root_cause == "The pool is full."
    assert [dict(f) for f in desk.of(SessionEvent.STEP)] == [{"step": "replaced", "value": 0.7}]


@pytest.mark.proves("S0-77", "S0-78", "S0-82", "S0-83", "S0-84")
def test_a_dead_backend_degrades_the_round_and_nothing_rises_above_the_draft() -> None:
    dead = dict.fromkeys(("up", "db_pool"), Gap(cause=GapCause.UNREACHABLE))
    desk = table(drafted(confidence=0.6), ruled(confidence=0.95, cites=("M2",)), metrics=dead)
    finding = desk.triage()
    assert finding.round is not None
    assert finding.round.degraded_reasons == ("floor_failed:peer_up_ratio",)
    assert finding.round.outcome is RoundOutcome.DEGRADED
    assert finding.confidence == 0.6
    assert finding.memory_verdict is None
    assert finding.caveats[0].code.value == "checks_unavailable"


@pytest.mark.proves("S1-18")
def test_when_both_calls_abstain_the_floor_ran_all_the_same() -> None:
    again = ruled(cause=None, component=None, cause_class=None, confidence=None, rulings=[])
    desk = table(abstaining(), again)
    finding = desk.triage(pack(ALERT))
    assert finding.disposition is Disposition.ABSTAINED
    assert finding.verify_status is VerifyStatus.NO_ANALYSIS
    assert finding.trust_level is TrustLevel.UNVERIFIED
    assert finding.missing == "no metric of the pool"
    assert finding.confidence is None
    assert finding.round is not None
    assert "up 34/37" in finding.round.results[0].text


def test_an_abstaining_draft_may_be_answered_by_the_judgement_as_a_replaced_cause() -> None:
    cause = {"rulings": [{"text": "full", "key": True, "ruling": "supported",
                          "evidence_ids": ["M2"]}]}  # fmt: skip
    finding = table(abstaining(), ruled(confidence=0.9, **cause)).triage()
    assert (finding.replaced, finding.confidence) == (True, 0.7)
    assert finding.disposition is Disposition.ANSWERED
    assert finding.trust_level is TrustLevel.UNCONFIRMED


DECOY = change("D2", "checkout-api", +120, "v2.4.2")


@pytest.mark.parametrize(
    ("component", "cites", "cause_class"),
    [
        ("checkout-api", ["D2", "M2"], "deploy"),
        ("checkout-api", ["M2"], "deploy"),
        ("checkout", ["M2"], "config_change"),
        ("release v2.4.2", ["D2"], "deploy"),
        ("release v2.4.2", ["M2"], "deploy"),
        ("checkout-api", ["D2", "M2"], "code_fault"),
    ],
)
def test_a_decoy_deploy_after_onset_is_never_verified(
    component: str, cites: list[str], cause_class: str
) -> None:
    claims = [{"text": "v2.4.2 broke it", "evidence_ids": cites, "key": True}]
    draft = drafted("v2.4.2 broke it.", component, cause_class, 0.99, claims)
    agreed = ruled("supported", cause="v2.4.2 broke it.", component=component,
                   cause_class=cause_class, confidence=0.99)  # fmt: skip
    finding = table(draft, agreed).triage(pack(ALERT, OWN, POOL, DECOY))
    assert finding.verify_status is VerifyStatus.VERIFIED
    assert Veto.BEGAN_AFTER_ONSET in finding.vetoes
    assert finding.trust_level is TrustLevel.UNCONFIRMED


@pytest.mark.proves("S0-15", "S0-16", "S0-22", "S0-23")
@pytest.mark.parametrize("plan", [[], None, "garbage", {}, [{"kind": "sql", "query": "drop"}]])
@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_the_floor_runs_before_call_2_whatever_the_model_asked_for(
    plan: object, confidence: float
) -> None:
    desk = table(drafted(confidence=confidence, disprove=plan), ruled(cites=("M2",)))
    finding = desk.triage()
    assert finding.round is not None
    floor = [r.kind for r in finding.round.results if r.source is CheckSource.FLOOR]
    assert floor == ["peer_up_ratio", "incidents_in_window"]
    for result in finding.round.results:
        assert result.text in desk.llm.asked[1].turns[-1].blocks[0].text


@pytest.mark.proves("S0-33", "S0-70")
def test_call_2_is_call_1_word_for_word_with_the_draft_and_every_result_behind_it() -> None:
    draft = drafted()
    desk = table(draft, ruled())
    finding = desk.triage()
    first, second = desk.llm.asked
    assert second.system == first.system
    assert second.turns[: len(first.turns)] == first.turns
    assert second.reply_schema == first.reply_schema
    assert second.turns[1].role == "assistant"
    assert second.turns[1].blocks[0].text == draft
    assert finding.round is not None
    shown = second.turns[2].blocks[0].text
    assert [shown.count(r.text) for r in finding.round.results] == [1, 1, 1]
    assert len(second.turns) == 3


@pytest.mark.proves("S0-76", "S0-87", "S0-92", "S0-97")
def test_switched_off_it_is_one_call_without_checks_marks_or_an_unverified_caveat() -> None:
    metrics = FakeMetrics(UP)
    desk = Table(ScriptedLLM([drafted(memory_verdict="confirms")]), metrics=metrics, rule=OFF)
    finding = desk.triage()
    assert (len(desk.llm.asked), metrics.asked) == (1, [])
    assert finding.verify_status is VerifyStatus.NOT_RUN
    assert (finding.caveats, finding.round) == ((), None)
    assert finding.memory_verdict is MemoryVerdict.CONFIRMS
    assert finding.trust_level is TrustLevel.UNVERIFIED
    request = desk.llm.asked[0]
    blocks = [*request.system, *(b for t in request.turns for b in t.blocks)]
    assert not any(block.cache for block in blocks)
    assert "disprove" not in request.canonical()


@pytest.mark.proves("S3-57", "S3-58", "S3-60")
def test_call_2_has_a_minute_of_its_own_and_one_retry_that_gets_the_rest() -> None:
    desk = table(drafted(), Late(500, ruled()), Late(500, ruled()))
    finding = desk.triage()
    assert desk.llm.timeouts[1:] == [35, 25]
    assert finding.verify_status is VerifyStatus.TIMED_OUT
    assert len(desk.of(SessionEvent.VERIFY_RETRY)) == 1
    assert [c.state for c in desk.store.calls.values()] == [
        CallState.OK, CallState.FAILED, CallState.FAILED,
    ]  # fmt: skip


def test_a_retry_that_answers_saves_the_round() -> None:
    finding = table(drafted(), Late(36, ""), Late(24, ruled())).triage()
    assert finding.verify_status is VerifyStatus.VERIFIED


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (OperatorActionRequiredError("credit"), VerifyStatus.ERRORED),
        (TransientError("busy"), VerifyStatus.ERRORED),
        ("no json at all", VerifyStatus.ERRORED),
        ('{"draft": {"root_cause": null}}', VerifyStatus.ERRORED),
        (said("", StopReason.END_TURN), VerifyStatus.ERRORED),
        (said(ruled(), StopReason.MAX_TOKENS), VerifyStatus.ERRORED),
        (said("", StopReason.REFUSAL), VerifyStatus.ERRORED),
    ],
)
def test_a_lost_judgement_ships_the_draft_as_it_was(reply: object, status: VerifyStatus) -> None:
    finding = table(drafted(confidence=0.75), reply).triage()
    assert finding.verify_status is status
    assert finding.root_cause == "The deploy v2.4.1 exhausts the pool."
    assert (finding.confidence, finding.memory_verdict) == (0.75, None)
    assert finding.round is not None
    assert finding.round.degraded_reasons == ("judgement_lost",)
    assert finding.trust_level is TrustLevel.UNCONFIRMED
    assert finding.unsupported_claims == ()


def test_with_fewer_citations_than_the_rule_asks_a_lost_judgement_leaves_it_unverified() -> None:
    claims = [{"text": "x", "evidence_ids": ["D1", "Z9"], "key": True}]
    finding = table(drafted(claims=claims), TransientError()).triage()
    assert (finding.valid_citations, finding.trust_level) == (1, TrustLevel.UNVERIFIED)


@pytest.mark.proves("S0-71")
def test_every_call_is_a_row_before_it_is_sent_and_settled_with_its_tokens_after() -> None:
    first = said(drafted(), cache_creation_input_tokens=4000)
    second = said(ruled(), cache_read_input_tokens=4000)
    desk = table(first, second)
    desk.llm.seen = desk.store.states
    desk.triage()
    assert desk.llm.witnessed == [["sent"], ["ok", "sent"]]
    assert desk.store.states() == ["ok", "ok"]
    rows = [facts for action, facts in desk.store.audit if action == "llm.response"]
    assert [r["cache_creation_input_tokens"] for r in rows] == [4000, 0]
    assert [r["cache_read_input_tokens"] for r in rows] == [0, 4000]
    assert all(call.cost_usd == 0.05 for call in desk.store.calls.values())


@pytest.mark.proves("S0-74", "S0-75")
def test_a_second_call_that_reads_no_cache_is_said_and_five_in_a_row_end_the_marks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = table(*[reply for _ in range(6) for reply in (drafted(), ruled())])
    for _ in range(6):
        desk.triage()
    marked = [request.system[0].cache for request in desk.llm.asked[::2]]
    assert marked == [True, True, True, True, True, False]
    assert len(desk.of(SessionEvent.CACHE_MISS)) == 5
    assert "shorter than this model caches" in caplog.text


def test_a_provider_without_a_cache_gets_no_marks_and_no_warning() -> None:
    llm = ScriptedLLM([drafted(), ruled()], Capabilities(prompt_cache=False))
    desk = Table(llm, metrics=FakeMetrics(UP))
    desk.triage()
    assert not any(b.cache for t in llm.asked[1].turns for b in t.blocks)
    assert desk.of(SessionEvent.CACHE_MISS) == []


@pytest.mark.parametrize("bad", ["nothing", '{"draft": {"root_cause": "x"}}', '{"draft": 3}'])
def test_a_draft_that_cannot_be_read_is_asked_for_once_more_and_then_given_up(bad: str) -> None:
    desk = table(bad, bad)
    finding = desk.triage()
    assert len(desk.llm.asked) == 2
    assert finding.verify_status is VerifyStatus.NO_ANALYSIS
    assert finding.disposition is Disposition.NOT_JUDGED
    assert desk.llm.asked[1].turns[1].blocks[0].text == bad


def test_a_second_reply_that_is_a_draft_goes_on_from_there() -> None:
    desk = table("nothing", drafted(), ruled())
    assert desk.triage().verify_status is VerifyStatus.VERIFIED
    roles = [turn.role for turn in desk.llm.asked[2].turns]
    assert roles == ["user", "assistant", "user", "assistant", "user"]


def test_a_reply_that_was_cut_gets_more_room_once() -> None:
    desk = table(said("{", StopReason.MAX_TOKENS), drafted(), ruled())
    desk.triage()
    assert [r.max_tokens for r in desk.llm.asked] == [4000, 8000, 8000]
    with pytest.raises(TerminalError, match="conclude_max_tokens"):
        table(*[said("{", StopReason.MAX_TOKENS)] * 2).triage()


def test_silence_twice_is_transient_and_a_refusal_is_terminal() -> None:
    with pytest.raises(TransientError):
        table(said(""), said("")).triage()
    with pytest.raises(TerminalError):
        table(said("", StopReason.REFUSAL)).triage()


@pytest.mark.proves("S3-119")
def test_an_unknown_model_falls_back_once_to_the_default_and_no_further() -> None:
    rule = TriageRule(model="gone")
    desk = table(UnknownModelError("gone"), drafted(), ruled(), rule=rule)
    finding = desk.triage()
    assert [r.model for r in desk.llm.asked] == ["gone", "claude-sonnet-5-5", "claude-sonnet-5-5"]
    assert finding.model == "claude-sonnet-5-5"
    twice = table(UnknownModelError("gone"), UnknownModelError("too"), rule=rule)
    with pytest.raises(UnknownModelError):
        twice.triage()
    assert len(twice.llm.asked) == 2


def test_the_fence_is_drawn_once_kept_and_absent_from_the_shared_block() -> None:
    desk = table(drafted(), ruled())
    run(desk.judged(pack(), incident(), a_run(fence="")))
    drawn = desk.store.runs["t1"].fence
    first = desk.llm.asked[0]
    assert len(drawn) == 32
    assert drawn in first.turns[0].blocks[0].text
    assert drawn not in first.system[0].text


@pytest.mark.proves("S0-58", "S0-59", "S0-53")
@pytest.mark.parametrize("ruling", ["supported", "contradicted"])
def test_an_empty_check_neither_supports_nor_contradicts(ruling: str) -> None:
    claims = [{"text": "x", "evidence_ids": [], "key": True}]
    desk = table(drafted(claims=claims), ruled(ruling), metrics={"sum(up": 34, "count(up": 37})
    finding = desk.triage()
    assert finding.round is not None
    assert finding.round.results[2].outcome is QueryOutcome.EMPTY
    assert finding.verify_status is VerifyStatus.INCONCLUSIVE
    assert finding.unsupported_claims == ("x",)


@pytest.mark.proves("S3-66")
def test_a_key_claim_the_checks_contradict_refutes_the_cause_and_is_listed() -> None:
    finding = table(drafted(), ruled("supported", "contradicted")).triage()
    assert finding.verify_status is VerifyStatus.REFUTED
    assert finding.disposition is Disposition.NEEDS_REVIEW
    assert finding.trust_level is TrustLevel.UNVERIFIED
    assert finding.unsupported_claims == ("the pool is full",)


def test_a_key_claim_left_out_of_the_judgement_is_not_ruled_on() -> None:
    finding = table(drafted(), ruled("supported")).triage()
    assert finding.verify_status is VerifyStatus.INCONCLUSIVE
    assert finding.unsupported_claims == ("the pool is full",)


def test_a_judgement_cannot_drop_the_key_mark_of_a_claim_it_could_not_support() -> None:
    rulings = [
        {"claim": 1, "key": True, "ruling": "supported", "evidence_ids": ["R3"]},
        {"claim": 2, "key": False, "ruling": "neither", "evidence_ids": []},
    ]
    finding = table(drafted(), ruled(rulings=rulings)).triage()
    assert finding.verify_status is VerifyStatus.INCONCLUSIVE


@pytest.mark.proves("S3-61", "S3-69", "S3-70")
def test_nothing_a_model_says_of_trust_is_read() -> None:
    loud = {"trust": "verified", "trust_level": "verified", "verify_status": "verified"}
    finding = table(
        drafted(confidence=0.99, **loud), ruled("neither", "neither", confidence=0.99, **loud)
    ).triage()
    assert finding.trust_level is TrustLevel.UNCONFIRMED
    assert finding.self_confidence == 0.99
    assert "trust" not in json.dumps(finding.draft.model_dump(mode="json"))  # type: ignore[union-attr]


@pytest.mark.proves("S0-37")
def test_caps_apply_to_the_judgement_and_not_to_the_draft() -> None:
    finding = table(drafted(confidence=0.9), ruled(confidence=0.3)).triage()
    assert (finding.confidence, finding.self_confidence) == (0.3, 0.9)


@pytest.mark.proves("S3-34", "S3-33")
def test_every_stage_is_measured_and_bounded() -> None:
    desk = table(drafted(), ruled(), metrics={"up": -1000.0, "db_pool": -1000.0})
    desk.triage()
    stages = {str(f["stage"]): float(str(f["seconds"])) for f in desk.of(SessionEvent.STAGE)}
    assert list(stages) == ["conclude", "contrast", "verify"]
    assert stages["contrast"] <= 10.0


def test_people_see_what_the_floor_answered_while_the_judgement_is_out() -> None:
    desk = table(drafted(), ruled())
    desk.triage()
    assert desk.progress[0].startswith("up 34/37 in namespace=checkout")
    assert all("The deploy" not in line for line in desk.progress)


@pytest.mark.proves("S0-51", "S0-52", "S0-86")
def test_an_invalid_check_is_logged_kept_and_counted_with_a_caveat_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    plan = [{"kind": "promql", "query": "sum(rate(x[5m])", "why": ""}]
    call_2 = ruled(confidence=0.9, cites=("M2",))
    desk = table(drafted(plan=plan, confidence=0.8), "no repair", call_2)
    finding = desk.triage()
    assert finding.round is not None
    invalid = finding.round.results[2]
    assert (invalid.outcome, invalid.asked) == (QueryOutcome.INVALID, "sum(rate(x[5m])")
    assert "sum(rate(x[5m])" in caplog.text
    audited = dict(desk.store.audit)["verification.round"]
    assert audited["model_invalid"] == 1
    assert not finding.round.degraded
    assert [c.code.value for c in finding.caveats if c.code.value == "query_invalid"]
    assert finding.confidence == 0.8


def test_the_same_input_gives_the_same_finding() -> None:
    one, two = (table(drafted(), ruled()).triage(pack(ALERT, OWN, POOL, DEPLOY)) for _ in "12")
    assert one.canonical() == two.canonical()


@pytest.mark.proves("S0-2", "S0-13")
def test_a_rejudgment_runs_the_same_two_steps_and_names_what_it_follows() -> None:
    desk = table(drafted(), ruled())

    async def again() -> Finding:
        own = a_run(trigger=RunTrigger.REJUDGE)
        return await judge(
            own, incident(), pack(), desk.ports,
            rule=desk.rule, progress=desk.heard, rejudge_of="t0",
        )  # fmt: skip

    finding = run(again())
    assert (len(desk.llm.asked), finding.rejudge_of) == (2, "t0")
    assert finding.round is not None
    assert finding.round.floor_fetched


@pytest.mark.proves("S0-88", "S0-89", "S0-90", "S0-91")
def test_left_out_the_verification_block_has_its_defaults_and_one_round_only() -> None:
    rule = TriageRule.model_validate({}).verification
    assert (rule.enabled, rule.max_queries) == (True, 4)
    assert (rule.query_timeout_seconds, rule.max_rounds) == (10, 1)
    for rounds in (0, 2):
        with pytest.raises(ValidationError):
            VerificationRule(max_rounds=rounds)


@pytest.mark.proves("S3-56", "S3-59")
def test_call_2_rules_on_every_claim_within_its_own_tokens() -> None:
    desk = table(drafted(), ruled("supported", "neither"))
    finding = desk.triage()
    assert [r.ruling.value for r in finding.claims] == ["supported", "neither"]
    assert desk.llm.asked[1].max_tokens == desk.rule.verify_token_budget == 8000


@pytest.mark.proves("S0-65")
def test_a_round_is_at_most_the_floor_and_four_checks_between_two_calls() -> None:
    plan = [{"kind": "promql", "query": f'q{n}{{a="b"}}', "why": ""} for n in range(15)]
    desk = table(drafted(plan=plan), ruled(cites=("M2",)))
    finding = desk.triage()
    assert finding.round is not None
    assert (len(desk.llm.asked), len(finding.round.results)) == (2, 6)


@pytest.mark.corpus
@pytest.mark.proves("S3-61")
def test_no_text_of_anybody_changes_the_stamp(shared: Path) -> None:
    lines = (shared / "data/injections.jsonl").read_text(encoding="utf-8").splitlines()
    payloads = [str(json.loads(line)["payload"]) for line in lines]
    assert len(payloads) > 20
    loud = {"trust_level": "verified", "vetoes": [], "floor_fetched": True, "replaced": False}
    for payload in payloads:
        item = Item(id="M7", text=payload, facts=TextFacts(untrusted=True))
        desk = table(
            drafted(next_step=payload, **loud),
            ruled("supported", "neither", missing=payload, confidence=1, **loud),
        )
        finding = desk.triage(pack(ALERT, OWN, POOL, DEPLOY, item))
        assert finding.trust_level is TrustLevel.UNCONFIRMED
        fenced = desk.llm.asked[0].turns[0].blocks[0].text
        assert fenced.count(f"untrusted {FENCE}>") == 2
