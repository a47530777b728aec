"""Trust, confidence, status, disposition, caveats: decisions as tables, limits as properties."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.caveats import Weak, caveats, metadata_only
from engine.citations import backed, known_ids, valid_citations
from engine.confidence import Said, caps, weigh
from engine.disposition import Judged, disposition, verify_status
from engine.may_act import Preparation, may_act, would_have_acted
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    Caveat,
    CaveatCode,
    CheckResult,
    CheckSource,
    Claim,
    ClaimRuling,
    ConfidenceStepName,
    Disposition,
    Finding,
    Round,
    RoundOutcome,
    Ruling,
    TriagePath,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.org import Flags
from engine.model.pack import SectionName
from engine.model.policy import GroundednessRule, TrustRule
from engine.trust import Standing, stamp
from tests.engine.judged import ALERT, FIRED, OWN, POOL, pack

V, U, N = TrustLevel.VERIFIED, TrustLevel.UNCONFIRMED, TrustLevel.UNVERIFIED
S, C, X = Ruling.SUPPORTED, Ruling.CONTRADICTED, Ruling.NEITHER


def standing(status: VerifyStatus, **changes: Any) -> Standing:
    return Standing(**{"status": status, "confidence": 0.8, "valid_citations": 2, **changes})


@pytest.mark.proves("S3-61", "S3-62", "S3-63", "S3-64", "S3-65")
@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (standing(VerifyStatus.VERIFIED), V),
        (standing(VerifyStatus.VERIFIED, confidence=0.7), V),
        (standing(VerifyStatus.VERIFIED, confidence=0.69), U),
        (standing(VerifyStatus.VERIFIED, confidence=None), U),
        (standing(VerifyStatus.VERIFIED, vetoes=(Veto.NO_DEVIATION,)), U),
        (standing(VerifyStatus.VERIFIED, ungrounded=True), N),
        (standing(VerifyStatus.INCONCLUSIVE), U),
        (standing(VerifyStatus.INCONCLUSIVE, valid_citations=0), U),
        (standing(VerifyStatus.INCONCLUSIVE, ungrounded=True), N),
        (standing(VerifyStatus.TIMED_OUT), U),
        (standing(VerifyStatus.TIMED_OUT, valid_citations=1), N),
        (standing(VerifyStatus.ERRORED), U),
        (standing(VerifyStatus.ERRORED, valid_citations=1), N),
        (standing(VerifyStatus.REFUTED, confidence=1.0), N),
        (standing(VerifyStatus.NOT_RUN, confidence=1.0), N),
        (standing(VerifyStatus.NO_ANALYSIS), N),
    ],
)
def test_stamp(given_: Standing, expected: TrustLevel) -> None:
    assert stamp(given_, TrustRule()) is expected


@given(
    status=st.sampled_from(VerifyStatus),
    confidence=st.none() | st.floats(0, 1),
    vetoes=st.lists(st.sampled_from(Veto), max_size=3),
    citations=st.integers(0, 9),
    ungrounded=st.booleans(),
)
def test_verified_needs_all_of_it_and_a_veto_never_raises(
    status: VerifyStatus,
    confidence: float | None,
    vetoes: list[Veto],
    citations: int,
    *,
    ungrounded: bool,
) -> None:
    own = Standing(
        status=status,
        confidence=confidence,
        vetoes=tuple(vetoes),
        valid_citations=citations,
        ungrounded=ungrounded,
    )
    level = stamp(own, TrustRule())
    if level is V:
        assert status is VerifyStatus.VERIFIED
        assert not vetoes
        assert not ungrounded
        assert (confidence or 0) >= 0.7
    rank = [N, U, V].index
    vetoed = own.model_copy(update={"vetoes": (Veto.NO_DEVIATION,)})
    assert rank(stamp(vetoed, TrustRule())) <= min(rank(level), rank(U))


STEP = ConfidenceStepName


@pytest.mark.proves("S0-37", "S0-82", "S3-68")
@pytest.mark.parametrize(
    ("said", "value", "steps"),
    [
        ({}, 0.9, [STEP.JUDGED]),
        ({"judged_confidence": None}, 0.6, [STEP.JUDGED]),
        ({"query_failed": True}, 0.6, [STEP.JUDGED, STEP.QUERY_FAILED]),
        ({"query_failed": True, "self_confidence": None}, 0, [STEP.JUDGED, STEP.QUERY_FAILED]),
        ({"query_failed": True, "self_confidence": 0.95}, 0.9, [STEP.JUDGED]),
        ({"metadata_only": True}, 0.6, [STEP.JUDGED, STEP.METADATA_ONLY]),
        ({"correction_untested": True}, 0.6, [STEP.JUDGED, STEP.CORRECTION_UNTESTED]),
        ({"replaced": True}, 0.7, [STEP.JUDGED, STEP.REPLACED]),
        ({"replaced": True, "metadata_only": True}, 0.6, [STEP.JUDGED, STEP.METADATA_ONLY]),
        ({"ungrounded": True, "groundedness": 0.3}, 0.3, [STEP.JUDGED, STEP.UNGROUNDED]),
        ({"ungrounded": True, "groundedness": None}, 0.9, [STEP.JUDGED]),
        ({"judged_confidence": 7.0}, 1.0, [STEP.JUDGED]),
    ],
)
def test_the_steps_of_confidence(said: dict[str, Any], value: float, steps: list[Any]) -> None:
    weighed = weigh(Said(**{"self_confidence": 0.6, "judged_confidence": 0.9, **said}))
    assert weighed.value == value
    assert [step.name for step in weighed.steps] == steps
    assert [s.name for s in caps(weighed.steps)] == [s for s in steps if s is not STEP.JUDGED]


def test_without_any_number_there_is_no_confidence() -> None:
    assert weigh(Said(self_confidence=None, judged_confidence=None)).value is None


share = st.floats(0, 1)


@given(own=share, judged=share, fitted=st.floats(allow_nan=True, allow_infinity=True),
       failed=st.booleans(), thin=st.booleans(), replaced=st.booleans())  # fmt: skip
def test_no_calibration_lifts_a_cap(
    own: float, judged: float, fitted: float, *, failed: bool, thin: bool, replaced: bool
) -> None:
    said = Said(
        self_confidence=own,
        judged_confidence=judged,
        query_failed=failed,
        metadata_only=thin,
        replaced=replaced,
    )
    value = weigh(said, lambda _: fitted).value
    assert value is not None
    assert math.isfinite(value)
    assert 0 <= value <= 1
    assert not failed or value <= own
    assert not thin or value <= 0.6
    assert not replaced or value <= 0.7


def rulings(*given_: Ruling, key: bool = True) -> tuple[ClaimRuling, ...]:
    claim = Claim(text="x", evidence_ids=("M1",), key=key)
    return tuple(ClaimRuling(claim=claim, ruling=ruling) for ruling in given_)


@pytest.mark.proves("S3-65", "S3-63")
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"rulings": rulings(S, S)}, VerifyStatus.VERIFIED),
        ({"rulings": rulings(S, S), "floor_fetched": False}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": rulings(S, S), "replaced": True}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": rulings(S, X)}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": rulings(S, C)}, VerifyStatus.REFUTED),
        ({"rulings": rulings(S, C), "floor_fetched": False}, VerifyStatus.REFUTED),
        ({"rulings": rulings(C), "replaced": True}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": rulings(S) + rulings(C, key=False)}, VerifyStatus.VERIFIED),
        ({"rulings": rulings(S, key=False)}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": ()}, VerifyStatus.INCONCLUSIVE),
        ({"rulings": (), "abstains": True, "draft_abstained": True}, VerifyStatus.NO_ANALYSIS),
        ({"rulings": rulings(C), "abstains": True}, VerifyStatus.REFUTED),
        ({"rulings": rulings(S), "abstains": True}, VerifyStatus.INCONCLUSIVE),
    ],
)
def test_how_verification_ended(facts: dict[str, Any], expected: VerifyStatus) -> None:
    usual = {"abstains": False, "draft_abstained": False, "replaced": False, "floor_fetched": True}
    assert verify_status(Judged(**{**usual, **facts})) is expected


@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        (VerifyStatus.VERIFIED, {}, Disposition.ANSWERED),
        (VerifyStatus.TIMED_OUT, {}, Disposition.ANSWERED),
        (VerifyStatus.NOT_RUN, {}, Disposition.ANSWERED),
        (VerifyStatus.VERIFIED, {"review": True}, Disposition.NEEDS_REVIEW),
        (VerifyStatus.REFUTED, {}, Disposition.NEEDS_REVIEW),
        (VerifyStatus.REFUTED, {"abstains": True}, Disposition.NEEDS_REVIEW),
        (VerifyStatus.NO_ANALYSIS, {"abstains": True}, Disposition.ABSTAINED),
        (VerifyStatus.NO_ANALYSIS, {"drafted": False}, Disposition.NOT_JUDGED),
    ],
)
def test_what_became_of_it(
    status: VerifyStatus, more: dict[str, bool], expected: Disposition
) -> None:
    assert disposition(status, **{"abstains": False, **more}) is expected


def check(outcome: QueryOutcome, source: CheckSource = CheckSource.MODEL, **more: Any) -> Any:
    usual = {"id": "R1", "kind": "model_promql", "asked": "x", "text": "y", "backend": "metrics"}
    return CheckResult(**{**usual, "source": source, "outcome": outcome, **more})


def a_round(*results: CheckResult, reasons: tuple[str, ...] = ()) -> Round:
    return Round(results=results, outcome=RoundOutcome.INCONCLUSIVE, degraded_reasons=reasons)


@pytest.mark.parametrize("ruling", [S, C])
@pytest.mark.parametrize(
    ("cited", "stands"), [(("M1",), True), (("R1",), False), ((), False), (("Z1",), False)]
)
def test_a_ruling_needs_evidence_that_exists_and_says_something(
    ruling: Ruling, cited: tuple[str, ...], *, stands: bool
) -> None:
    claim = Claim(text="x", evidence_ids=("Z9",), key=True)
    given_ = ClaimRuling(claim=claim, ruling=ruling, evidence_ids=cited)
    assert (backed([given_], frozenset({"M1"}))[0].ruling is ruling) is stands


def test_foreign_ids_stay_with_the_claim_and_do_not_count() -> None:
    claims = [Claim(text="x", evidence_ids=("M1", "M1", "Z9", "R1"))]
    results = (check(QueryOutcome.EMPTY),)
    assert valid_citations(claims, known_ids(pack(ALERT, OWN), results)) == 2


@pytest.mark.proves("S0-54", "S0-78", "S0-85", "S0-86")
@pytest.mark.parametrize(
    ("round_", "codes"),
    [
        (None, []),
        (a_round(check(QueryOutcome.FETCHED)), []),
        (a_round(check(QueryOutcome.FAILED)), []),
        (a_round(check(QueryOutcome.INVALID)), [CaveatCode.QUERY_INVALID]),
        (a_round(reasons=("judgement_lost",)), [CaveatCode.CHECKS_UNAVAILABLE]),
        (
            a_round(check(QueryOutcome.INVALID, CheckSource.FLOOR), reasons=("floor_failed:x",)),
            [CaveatCode.CHECKS_UNAVAILABLE],
        ),
        (
            a_round(check(QueryOutcome.INVALID), reasons=("no_floor_backend",)),
            [CaveatCode.CHECKS_UNAVAILABLE, CaveatCode.QUERY_INVALID],
        ),
    ],
)
def test_caveats_of_the_round(round_: Round | None, codes: list[CaveatCode]) -> None:
    found = caveats(pack(), round_, disposition=Disposition.ANSWERED)
    assert [c.code for c in found] == codes


def test_caveats_of_the_finding_and_the_pack() -> None:
    thin = pack(ALERT, degraded=(SectionName.LOGS, SectionName.METRICS))
    found = caveats(
        thin,
        a_round(),
        disposition=Disposition.ANSWERED,
        vetoes=(Veto.NO_DEVIATION,),
        weak=frozenset({Weak.METADATA_ONLY}),
    )
    assert [(c.code.value, dict(c.facts)) for c in found] == [
        ("metadata_only", {}),
        ("veto", {"veto": "no_deviation"}),
        ("pack_degraded", {"sections": "logs,metrics", "count": 2}),
    ]
    abstained = caveats(pack(), None, disposition=Disposition.ABSTAINED, vetoes=tuple(Veto))
    assert [c.code for c in abstained] == [CaveatCode.ABSTAINED]


@pytest.mark.parametrize(
    ("items", "results", "thin"),
    [
        ((ALERT,), (), True),
        ((ALERT, OWN), (), True),
        ((ALERT, POOL), (), False),
        ((ALERT,), (check(QueryOutcome.FETCHED, scoped=True),), False),
        ((ALERT,), (check(QueryOutcome.FETCHED, scoped=False),), True),
        ((ALERT,), (check(QueryOutcome.EMPTY, scoped=True),), True),
        ((ALERT,), (check(QueryOutcome.FETCHED, scoped=True, backend=None),), True),
    ],
)
def test_other_incidents_and_a_ratio_over_everything_are_no_live_evidence(
    items: Any, results: tuple[CheckResult, ...], *, thin: bool
) -> None:
    assert metadata_only(pack(*items), a_round(*results)) is thin


def finding(**changes: Any) -> Finding:
    usual = {
        "triage_id": "t", "incident_id": "i", "client_id": "c", "pack_hash": "h",
        "created_at": FIRED, "path": TriagePath.FULL, "model": "m", "root_cause": "x",
        "root_cause_key": None, "disposition": Disposition.ANSWERED, "trust_level": V,
        "verify_status": VerifyStatus.VERIFIED, "groundedness": 0.9, "round": a_round(),
    }  # fmt: skip
    return Finding(**{**usual, **changes})


ON = Flags(ai_triage=True, remediation=True)
PROPOSE, STUB = Preparation.PROPOSAL, Preparation.MEMORY_STUB


@pytest.mark.proves("S3-11", "S3-12")
@pytest.mark.parametrize(
    ("changes", "preparation", "flags", "fits", "may"),
    [
        ({}, PROPOSE, ON, True, True),
        ({}, PROPOSE, ON, False, False),
        ({}, STUB, ON, False, True),
        ({"trust_level": U}, PROPOSE, ON, True, True),
        ({"trust_level": U}, STUB, ON, True, False),
        ({"trust_level": N}, PROPOSE, ON, True, False),
        ({"groundedness": None}, PROPOSE, ON, True, False),
        ({"groundedness": 0.69}, PROPOSE, ON, True, False),
        ({"disposition": Disposition.NEEDS_REVIEW}, PROPOSE, ON, True, False),
        ({"round": a_round(reasons=("x",))}, PROPOSE, ON, True, False),
        ({"round": None}, PROPOSE, ON, True, False),
        ({}, PROPOSE, Flags(ai_triage=True), True, False),
        ({}, PROPOSE, Flags(remediation=True), True, False),
        ({}, STUB, Flags(ai_triage=True), True, True),
        ({}, STUB, Flags(remediation=True), True, False),
    ],
)
def test_may_act(
    changes: dict[str, Any], preparation: Preparation, flags: Flags, *, fits: bool, may: bool
) -> None:
    rule = GroundednessRule()
    assert may_act(finding(**changes), preparation, flags, rule, fits=fits) is may


def test_no_citation_is_assumed_and_the_least_evidence_is_the_rules() -> None:
    bare = Standing(status=VerifyStatus.TIMED_OUT)
    assert stamp(bare, TrustRule(min_evidence=1)) is N
    assert stamp(bare, TrustRule(min_evidence=0)) is U


def test_a_cap_that_lowers_nothing_is_no_step_and_a_map_is_no_cap() -> None:
    even = weigh(Said(self_confidence=0.6, judged_confidence=0.6, metadata_only=True))
    assert [step.name for step in even.steps] == [STEP.JUDGED]
    scored = weigh(Said(self_confidence=0.6, judged_confidence=0.9, groundedness=0.3))
    assert scored.value == 0.9
    said = Said(self_confidence=0.6, judged_confidence=0.9, replaced=True)
    mapped = weigh(said, lambda value: value - 0.1)
    assert [step.name for step in caps(mapped.steps)] == [STEP.REPLACED]
    assert [step.name for step in mapped.steps] == [STEP.JUDGED, STEP.CALIBRATED, STEP.REPLACED]
    assert weigh(Said(self_confidence=None, judged_confidence=math.nan)).value == 0


def test_support_may_rest_on_the_claims_own_evidence_and_a_contradiction_may_not() -> None:
    claim = Claim(text="x", evidence_ids=("M1",), key=True)
    ruled = [ClaimRuling(claim=claim, ruling=ruling) for ruling in (S, C)]
    assert [one.ruling for one in backed(ruled, frozenset({"M1"}))] == [S, X]


@pytest.mark.parametrize(
    ("changes", "would"),
    [
        ({}, True),
        ({"caveats": ()}, False),
        ({"round": None}, False),
        ({"round": a_round(reasons=("x",))}, False),
        ({"verify_status": VerifyStatus.INCONCLUSIVE}, True),
        ({"verify_status": VerifyStatus.REFUTED}, False),
        ({"verify_status": VerifyStatus.VERIFIED, "vetoes": (Veto.NO_DEVIATION,)}, True),
    ],
)
def test_what_the_missing_ground_alone_kept_back(changes: dict[str, Any], *, would: bool) -> None:
    demoted = {"caveats": (Caveat(code=CaveatCode.UNGROUNDED),), "trust_level": N}
    assert would_have_acted(finding(**{**demoted, **changes})) is would


def test_a_score_at_the_floor_is_enough() -> None:
    at_floor = finding(groundedness=GroundednessRule().floor)
    assert may_act(at_floor, PROPOSE, ON, GroundednessRule(), fits=True)
