"""What a finding names and no evidence holds: demoted, named, counted, never built on."""

import pytest

from bot.listen import SessionCounter
from bot.telemetry import Telemetry
from cards.caveats import lines
from engine.may_act import Preparation, may_act, would_have_acted
from engine.model.event import SessionEvent
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CaveatCode,
    ConfidenceStepName,
    Disposition,
    Finding,
    TrustLevel,
    VerifyStatus,
)
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.org import Flags
from engine.model.policy import GroundednessRule, TriageRule
from engine.stamping import Material, finding_of
from tests.engine.judged import UP, Table, a_run, abstaining, drafted, pack, ruled
from tests.fakes import START, FakeMetrics, ScriptedLLM, run

INVENTED = "db-9 at 203.0.113.9 lost 4,711 rows at 01:17Z after v9.9.9 of checkout-api."


def table(*replies: str, **more: object) -> Table:
    return Table(ScriptedLLM(list(replies)), metrics=FakeMetrics(UP), **more)  # type: ignore[arg-type]


def invented(confidence: float = 0.99) -> tuple[Table, Finding]:
    desk = table(drafted(INVENTED, confidence=confidence), ruled(cause=INVENTED, confidence=0.99))
    return desk, desk.triage()


@pytest.mark.proves("S1-1", "S1-9", "S1-10", "S1-12")
def test_a_confident_fabrication_is_demoted_to_a_person() -> None:
    _, finding = invented()
    assert finding.groundedness is not None
    assert finding.groundedness < 0.7
    assert finding.disposition is Disposition.NEEDS_REVIEW
    assert finding.trust_level is TrustLevel.UNVERIFIED
    assert finding.verify_status is VerifyStatus.VERIFIED
    assert finding.confidence is not None
    assert finding.confidence <= finding.groundedness
    assert finding.confidence_steps[-1].name is ConfidenceStepName.UNGROUNDED


@pytest.mark.proves("S1-11")
@pytest.mark.parametrize("preparation", list(Preparation))
def test_nothing_is_prepared_from_it_however_sure_it_is(preparation: Preparation) -> None:
    _, finding = invented()
    on = Flags(ai_triage=True, remediation=True)
    assert not may_act(finding, preparation, on, GroundednessRule(), fits=True)
    assert would_have_acted(finding)


@pytest.mark.proves("S1-2")
def test_grounding_and_abstention_answer_two_questions_and_neither_stands_for_the_other() -> None:
    _, made_up = invented()
    assert made_up.disposition is Disposition.NEEDS_REVIEW
    assert made_up.draft is not None
    assert not made_up.draft.abstains
    nothing = ruled(cause=None, component=None, cause_class=None, confidence=None, rulings=[])
    silent = table(abstaining(), nothing).triage()
    assert silent.disposition is Disposition.ABSTAINED
    codes = {caveat.code for caveat in silent.caveats}
    assert CaveatCode.UNGROUNDED not in codes
    assert CaveatCode.ABSTAINED in codes


def test_the_card_names_what_is_not_in_the_evidence() -> None:
    _, finding = invented()
    (caveat,) = [c for c in finding.caveats if c.code is CaveatCode.UNGROUNDED]
    offenders = str(caveat.facts["offenders"]).splitlines()
    assert {"203.0.113.9", "db-9", "v9.9.9"} <= set(offenders)
    told = " ".join("".join(getattr(s, "text", "") for s in line) for line in lines(finding))
    assert "cites things not found in the evidence: " in told
    assert offenders[0] in told


@pytest.mark.proves("S1-14", "S1-15", "S1-31")
def test_demotions_and_scored_verdicts_are_counted_beside_the_mean() -> None:
    telemetry = Telemetry()
    count = SessionCounter(telemetry)
    grounded = table(drafted(), ruled())
    nothing = table(drafted("It broke.", claims=[]), ruled(cause="It broke.", rulings=[]))
    for desk in (invented()[0], grounded, nothing):
        if not desk.told:
            desk.triage()
        for kind, facts in desk.told:
            run(count(a_run(), kind, facts))
    page = telemetry.exposition().decode()
    assert "caveat_triage_scored_verdicts_total 2.0" in page
    assert 'caveat_triage_ungrounded_demotions_total{would_have_acted="true"} 1.0' in page
    assert 'caveat_triage_ungrounded_demotions_total{would_have_acted="false"} 0.0' in page
    assert 'caveat_triage_ungrounded_tokens_total{kind="ip"} 1.0' in page
    assert "caveat_triage_groundedness_count 2.0" in page


@pytest.mark.proves("S1-7")
def test_nothing_checkable_is_null_and_lowers_nothing() -> None:
    desk = table(drafted("It broke.", claims=[]), ruled(cause="It broke.", rulings=[]))
    finding = desk.triage()
    assert finding.groundedness is None
    assert finding.disposition is Disposition.ANSWERED
    assert desk.of(SessionEvent.GROUNDED) == []


def test_an_abstention_is_no_verdict_and_has_no_score() -> None:
    again = ruled(cause=None, component=None, cause_class=None, confidence=None, rulings=[])
    finding = table(abstaining(), again).triage()
    assert (finding.groundedness, finding.disposition) == (None, Disposition.ABSTAINED)


def said(**material: object) -> Finding:
    claims = [{"text": "10.1.2.3 refused 40 connections, said db-7.", "key": True}]
    draft_ = drafted("10.1.2.3 is down.", claims=claims)
    desk = table(draft_, ruled())
    given = desk.triage()
    full = {"run": a_run(), "pack": pack(), "model": "m", "created_at": START, "draft": given.draft}
    return finding_of(Material(**{**full, **material}), TriageRule())  # type: ignore[arg-type]


def test_what_a_tool_showed_is_evidence_like_the_pack() -> None:
    assert said().groundedness == 0
    entry = LedgerEntry(
        id="T1", call=1, tool=ToolName.LOGS, arguments="{}", asked="x", start_at=START,
        end_at=START, outcome=QueryOutcome.FETCHED, at=START,
        text="10.1.2.3: 40 connections refused on db-7",
    )  # fmt: skip
    shown = said(ledger=(entry,))
    assert shown.groundedness == 1
    assert shown.disposition is Disposition.ANSWERED


def test_one_of_two_is_no_demotion_and_yet_nothing_is_prepared_on_it() -> None:
    cause = "10.1.2.3 broke v2.4.1."
    claims = [{"text": "It broke.", "evidence_ids": ["D1"], "key": True}]
    finding = table(drafted(cause, claims=claims), ruled("supported", cause=cause)).triage()
    assert finding.groundedness == 0.5
    assert finding.disposition is Disposition.ANSWERED
    on = Flags(ai_triage=True, remediation=True)
    assert not may_act(finding, Preparation.PROPOSAL, on, GroundednessRule(), fits=True)


def test_what_the_checks_contradict_is_claimed_no_more() -> None:
    claims = [
        {"text": "db-9 at 203.0.113.9 lost 4,711 rows.", "evidence_ids": ["M2"]},
        {"text": "v2.4.1 came first.", "evidence_ids": ["D1"], "key": True},
    ]
    kept = ruled("contradicted", "supported", cites=("R3",))
    finding = table(drafted(claims=claims), kept).triage()
    assert finding.groundedness == 1
