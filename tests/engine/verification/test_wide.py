"""A claim about more than what fails needs a check that looked that far."""

from typing import Any

import pytest

from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, CheckSource, TrustLevel, VerifyStatus
from engine.verification.wide import claims_wider, looked_further
from tests.engine.judged import EXPRESSION, SCOPE, UP, Table, drafted, incident, ruled
from tests.fakes import FakeMetrics, ScriptedLLM


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("All of eu-west is down", True),
        ("eu-central-1 is completely unreachable", True),
        ("the whole region lost power", True),
        ("every node of the pool is affected", True),
        ("a fleet-wide outage", True),
        ("it fails everywhere", True),
        ("a regional network event", True),
        ("cluster blue is down", True),
        ("only the new version fails", True),
        ("no other service is affected", True),
        ("The pool of checkout-api is full", False),
        ("All 20 connections are in use", False),
        ("every request of the checkout service fails", False),
        ("v2.4.1 was deployed 4 min before onset in cluster blue", False),
        ("the only change is the deploy of v2.4.1", False),
        ("retries went from 2 to 40", False),
    ],
)
def test_a_sentence_that_speaks_of_more_than_the_members_is_told_by_its_words(
    text: str, *, wide: bool
) -> None:
    assert claims_wider(text, incident(SCOPE, labels={"cluster": "blue"})) is wide


def result(**changes: Any) -> CheckResult:
    usual = {
        "id": "R1", "source": CheckSource.MODEL, "kind": "model_promql", "asked": "up",
        "outcome": QueryOutcome.FETCHED, "text": "1", "backend": "metrics",
    }  # fmt: skip
    return CheckResult(**{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "further"),
    [
        ({"scope": {"cluster": "blue"}}, True),
        ({"scope": {"namespace": "checkout"}}, True),
        ({}, True),
        ({"scope": {**SCOPE, "pod": "a"}}, False),
        ({"scope": SCOPE}, False),
        ({"scope": {"host": "web1"}}, False),
        ({"scope": SCOPE, "kind": "version_split"}, True),
        ({"scope": {"group": "Web"}, "kind": "host_neighbours"}, True),
        ({"outcome": QueryOutcome.EMPTY}, False),
        ({"outcome": QueryOutcome.INVALID}, False),
        ({"backend": None}, False),
        ({"asked": EXPRESSION}, False),
    ],
)
def test_a_check_looked_further_when_it_left_the_members_own_scope(
    changes: dict[str, Any], *, further: bool
) -> None:
    assert looked_further(result(**changes), incident(), EXPRESSION) is further


WIDE = [{"text": "all of eu-west is down", "evidence_ids": ["M2"], "key": True}]
ASKED = 'count(up{region="eu-west"} == 0)'


@pytest.mark.parametrize(
    ("plan", "cites", "supported"),
    [
        ([], ("R1",), False),
        ([], ("R2",), False),
        ([ASKED], ("R1",), False),
        ([ASKED], ("R3",), True),
    ],
)
def test_support_for_a_wide_claim_without_such_a_check_is_taken_back(
    plan: list[str], cites: tuple[str, ...], *, supported: bool
) -> None:
    checks = [{"kind": "promql", "query": query, "why": ""} for query in plan]
    region = {"cause": "eu-west is down.", "component": "eu-west", "cause_class": "cloud_provider"}
    desk = Table(
        ScriptedLLM(
            [
                drafted(**region, confidence=0.9, claims=WIDE, plan=checks),
                ruled("supported", **region, confidence=0.9, cites=cites),
            ]
        ),
        metrics=FakeMetrics({**UP, 'region="eu-west"': 12}),
    )
    finding = desk.triage()
    assert (finding.unsupported_claims == ()) is supported
    wanted = VerifyStatus.VERIFIED if supported else VerifyStatus.INCONCLUSIVE
    assert finding.verify_status is wanted
    if not supported:
        assert finding.trust_level is TrustLevel.UNCONFIRMED
