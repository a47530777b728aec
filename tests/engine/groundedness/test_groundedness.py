"""What a finding names is looked up in the evidence: a floor against fabrication, no more."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.groundedness.finding import of_finding
from engine.groundedness.score import Groundedness, demotes, score
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CauseKey,
    CheckResult,
    CheckSource,
    Claim,
    ClaimRuling,
    Draft,
    Judgement,
    PlannedCheckKind,
    Round,
    RoundOutcome,
    Ruling,
)
from engine.model.pack import CauseClass, HistoryFacts, Item, Section, SectionName, SectionStatus
from engine.model.policy import GroundednessRule
from engine.verification.table import PLANNABLE
from tests.engine.judged import pack

RULE = GroundednessRule()


def names(result: Groundedness) -> tuple[list[str], list[str]]:
    return [one.text for one in result.found], [one.text for one in result.missing]


@pytest.mark.proves("S1-5", "S1-8")
@pytest.mark.parametrize(
    ("cited", "evidence"),
    [
        ("1,248 seconds", '"ReplicaLag": 1248.0'),
        ("1248 s", "lag is 1,248 s"),
        ("at 10:01Z", "2026-04-18T10:01:00Z"),
        ("at 12:01:00+02:00", "2026-04-18T10:01:00.000Z"),
        ("at 2026-04-18 10:01", "2026-04-18T10:01:00Z"),
        ("10:01-10:05Z", "10:01:00Z, then 10:05:00Z"),
        ("0 restarts", '"restart_count": 0, "replicas": 3'),
        ("3 pods", '"ready": 3'),
        ("ready=1", '{"ready": 1}'),
        ("ready=1", '{"ready":1,"b":2}'),
        ("exit_code=137", "(reason: OOMKilled, exit code: 137)"),
        ("state.waiting.reason=CrashLoopBackOff", '"reason": "CrashLoopBackOff"'),
        ("PodScheduled=False", '{"type": "PodScheduled", "status": "False"}'),
        ("twelve systems", "12 systems"),
        ("12 systems", "twelve systems"),
        ("12 systems", "Twelve systems"),
        ("Oct 19 00:13:18", "2026-10-19T00:13:18Z"),
        ("ready=1", "ready=1 of it"),
        ("ready=1", "ready:1 of it"),
        ("10.0.0.7:443", "dst=10.0.0.7"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("ip-10-0-1-99", "ip-10-0-1-99.us-east-1.compute.internal"),
        ("api-7d9f8b6c5d-x2v4q", "Pod/api-7d9f8b6c5d-x2v4q_payments(a1b2c3d4)"),
        ("commit 3f2a1bc", "3f2a1bc9d8e7f60513243546576879808a9bacbd"),
        ("OOMKILLED: OOMKilled", "oomkilled"),
        ("up 34/37", "up 34/37 in namespace=checkout"),
    ],
)
def test_the_same_thing_is_found_in_another_spelling(cited: str, evidence: str) -> None:
    assert score([cited], [evidence]).score == 1


SPELLED = {
    "three": 3, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12, "hundred": 100,
    "thousand": 1000,
}  # fmt: skip


@pytest.mark.parametrize(("word", "figure"), SPELLED.items())
def test_a_count_in_words_is_its_figure(word: str, figure: int) -> None:
    assert score([f"{word} systems"], [f"{figure} systems"]).score == 1
    assert score([f"{word} systems"], [f"{figure + 1} systems"]).score == 0


@pytest.mark.proves("S1-5", "S1-8")
@pytest.mark.parametrize(
    ("cited", "evidence"),
    [
        ("1,249 seconds", "1248 seconds"),
        ("12.51 s", "12.5 s"),
        ("at 10:01Z", "10:01:30Z"),
        ("at 10:01Z", "12:01+01:00"),
        ("ready=1", '"ready": 10'),
        ("ready=1", '"unready": 1'),
        ("10.0.0.7", "10.0.0.70"),
        ("host db-9", "prod-db-9 and db-90"),
        ("v2.4.1", "v2.4.10"),
        ("shop:v2.1.0", "shop:v2.1.0-bad"),
        ("http_requests_total", "http_requests_total_sum"),
        ("api-7d9f8b6c5d-x2v4q", "api-7d9f8b6c5d-x2v4r"),
        ("exit code 137", "2026-01-13T07:00:00Z pod-137a"),
        ("3 restarts", '"restart_count": 0, "replicas": 3'),
        ("45 s", "2026-04-18T10:45:00Z"),
    ],
)
def test_what_is_only_like_it_is_missing(cited: str, evidence: str) -> None:
    assert score([cited], [evidence]).score == 0


@pytest.mark.proves("S1-6")
def test_the_score_is_found_of_cited() -> None:
    result = score(["db-9, 10.0.0.7, 10:42Z and v2.4.1"], ["db-9 at 10:42:00Z ran v2.4.1"])
    assert names(result) == (["db-9", "10:42Z", "v2.4.1"], ["10.0.0.7"])
    assert result.score == 0.75


@pytest.mark.proves("S1-7")
@pytest.mark.parametrize("text", ["It behaved suspiciously.", "about ~41 % or 5-10 ms", ""])
def test_nothing_checkable_is_no_score_and_demotes_nothing(text: str) -> None:
    result = score([text], ["anything"])
    assert result.score is None
    assert demotes(result, RULE) is False


def test_derived_figures_are_listed_and_decide_nothing() -> None:
    result = score(["db-9 at ~41% over 20-30 minutes"], ["db-9"])
    assert result.score == 1
    assert [one.text for one in result.derived] == ["~41%", "20-30 minutes"]


def test_what_stands_in_memory_alone_is_named_and_not_found() -> None:
    result = score(["db-9 as 10.0.0.7"], ["10.0.0.7"], memory_texts=["db-9 was full"])
    assert (result.score, names(result)) == (0.5, (["10.0.0.7"], []))
    assert [one.text for one in result.memory_only] == ["db-9"]
    assert result.offenders == result.memory_only
    assert result.cited == 2


@pytest.mark.proves("S1-9")
@pytest.mark.parametrize(
    ("found", "missing", "demoted"),
    [
        (3, 1, False),
        (7, 3, False),
        (2, 1, True),
        (0, 3, True),
        (1, 1, False),
        (0, 2, True),
        (0, 1, True),
        (1, 0, False),
    ],
)
def test_below_the_floor_a_person_looks_and_few_indicators_need_one_found(
    found: int, missing: int, demoted: bool
) -> None:
    here, absent = (
        [f"10.0.{third}.{n}" for n in range(count)] for third, count in ((0, found), (1, missing))
    )
    result = score([" ".join(here + absent)], [" ".join(here)])
    assert demotes(result, RULE) is demoted


@pytest.mark.proves("S1-1")
def test_specifics_that_nobody_measured_score_low() -> None:
    said = "203.0.113.9 pulled c2.bad.example through twelve additional affected systems"
    result = score([said], ["10.0.0.7 failed 3 times"])
    assert result.score == 0
    assert demotes(result, RULE)


@pytest.mark.proves("S1-16", "S1-17")
def test_a_wrong_conclusion_from_real_things_scores_one() -> None:
    evidence = ["10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 are healthy"]
    result = score(["10.0.0.1, 10.0.0.2, 10.0.0.3 and 10.0.0.4 are down"], evidence)
    assert result.score == 1
    assert "correct" not in json.dumps(result.model_dump(mode="json"))


def draft(cause: str | None, *claims: str) -> Draft:
    key = CauseKey(component="db", cause_class=CauseClass.DATABASE)
    said = tuple(Claim(text=text) for text in claims)
    return Draft(root_cause=cause, root_cause_key=key, claims=said, next_step="look at db-77")


def result(text: str, source: CheckSource = CheckSource.FLOOR, kind: str = "up") -> CheckResult:
    return CheckResult(
        id="R1",
        source=source,
        kind=kind,
        asked="q",
        outcome=QueryOutcome.FETCHED,
        text=text,
        scope={"namespace": "orders"},
    )


def round_of(*results: CheckResult) -> Round:
    return Round(results=results, outcome=RoundOutcome.SUPPORTED)


def test_a_findings_words_are_looked_up_in_pack_and_round() -> None:
    said = draft("The deploy v2.4.1 of checkout-api.", "up 34/37 in orders", "db-9 is gone")
    got = of_finding(said, pack(), round_of(result("up 34/37")))
    assert names(got) == (["v2.4.1", "checkout-api", "34/37", "orders"], ["db-9"])


def test_a_judgement_is_read_by_its_rulings() -> None:
    claim = Claim(text="db-9 is full")
    ruled = ClaimRuling(claim=claim, ruling=Ruling.SUPPORTED)
    judged = Judgement(root_cause="v2.4.1", root_cause_key=None, rulings=(ruled,))
    assert names(of_finding(judged, pack(), None)) == (["v2.4.1"], ["db-9"])


def test_the_query_a_model_wrote_is_no_evidence() -> None:
    lines = 'up{instance="db-9"} at 03:01:00Z\n1 {instance=10.0.0.7}'
    query = PLANNABLE[PlannedCheckKind.PROMQL].name
    by_model = round_of(result(lines, CheckSource.MODEL, query))
    got = of_finding(draft("db-9 behind 10.0.0.7"), pack(), by_model)
    assert names(got) == (["10.0.0.7"], ["db-9"])
    counted = PLANNABLE[PlannedCheckKind.INCIDENTS_IN_WINDOW].name
    for other in (
        result(lines, CheckSource.MODEL, counted),
        result(lines, CheckSource.OPERATOR, query),
    ):
        assert of_finding(draft("db-9 behind 10.0.0.7"), pack(), round_of(other)).score == 1
    by_floor = round_of(result(lines))
    assert of_finding(draft("db-9 behind 10.0.0.7"), pack(), by_floor).score == 1


def test_names_are_known_from_what_fails_its_labels_and_the_scope_of_checks() -> None:
    failing = pack()
    where = {"service": "web", "host": "mainframe", "grouping_key": {"statefulset": "queue"}}
    failing = failing.model_copy(update={"anchor": failing.anchor.model_copy(update=where)})
    seen = result("ready").model_copy(update={"scope": {"daemonset": "agent", "team": "night"}})
    said = draft("the web service, mainframe, queue and agent broke; night and none did not")
    got = of_finding(said, failing, round_of(seen))
    assert names(got) == (["web", "mainframe", "queue", "agent"], [])


@pytest.mark.parametrize(
    ("evidence", "known"),
    [
        ('{"namespace": "payments"}', True),
        ("namespace=payments", True),
        ("namespace:payments", True),
        ("reason=payments", False),
        ("payments= and payments:", False),
    ],
)
def test_a_name_is_learnt_from_a_label_that_names(evidence: str, *, known: bool) -> None:
    found, _ = names(score(["payments broke"], [evidence]))
    assert found == (["payments"] if known else [])


def test_an_earlier_findings_cause_is_memory() -> None:
    facts = HistoryFacts(occurrences=11, window_s=604_800, last_root_cause="db-9 was full")
    past = Item(id="H1", text="fired 11 times in 7 d; last finding: db-9 was full", facts=facts)
    prior = Item(id="P1", text="10.0.0.7 was drained")
    told = (
        Section(name=SectionName.HISTORY, status=SectionStatus.OK, items=(past,)),
        Section(name=SectionName.PRIORS, status=SectionStatus.OK, items=(prior,)),
    )
    full = pack().model_copy(update={"sections": told})
    got = of_finding(draft("db-9 and 10.0.0.7, 11 times"), full, None)
    assert [one.text for one in got.found] == ["11"]
    assert [one.text for one in got.memory_only] == ["db-9", "10.0.0.7"]


def cases(shared: Path) -> Iterator[tuple[list[str], list[str]]]:
    for file in sorted((shared / "data/rca/opensre_synthetic").glob("*.json")):
        case: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        evidence = [case["alert"], *case["evidence"].values()]
        claims = [str(claim["claim"]) for claim in case["reference_claims"]]
        yield claims, [json.dumps(part, ensure_ascii=False) for part in evidence]


def falsified(claim: str) -> str:
    other = re.sub(r"\d", lambda digit: str((int(digit[0]) * 7 + 3) % 10), claim)
    return re.sub(r"\b([A-Z][a-z]+)([A-Z])", r"\1Un\2", other)


@pytest.mark.proves("S1-6", "S1-9")
def test_correct_verdicts_pass_and_falsified_ones_do_not(shared: Path) -> None:
    all_cases = list(cases(shared))
    correct = [demotes(score(claims, told), RULE) for claims, told in all_cases]
    wrong = [
        demotes(score([falsified(c) for c in claims], told), RULE) for claims, told in all_cases
    ]
    assert sum(correct) / len(correct) <= 0.11
    assert sum(wrong) / len(wrong) >= 0.90
