"""What people have to look at, and what their verdicts close and count."""

from typing import Any

import pytest
from sqlalchemy import text

from bot.backends.hashing import HashedWords
from bot.cli.errors import CommandError
from bot.cli.review import line
from bot.cli.verdict import chosen, given, known
from bot.config import Settings
from bot.schedule import Sweeper
from bot.telemetry import Telemetry
from cards.sections.trust import record
from engine.model.alert import Severity
from engine.model.correction import OperatorRuling, Steering
from engine.model.finding import (
    Caveat,
    CaveatCode,
    ConfidenceStep,
    ConfidenceStepName,
    Disposition,
    Finding,
    TrustLevel,
    VerifyStatus,
)
from engine.model.policy import IncidentRule
from engine.model.review import Label, ReviewReason, Verdict
from engine.outcomes import VerdictError, give_verdict
from engine.review import EXPIRES_S, open_review, review_reason
from tests.engine.conftest import World, alert, at
from tests.engine.judged import FIRED, a_run
from tests.engine.test_stamps import finding

N, U = TrustLevel.UNVERIFIED, TrustLevel.UNCONFIRMED


def coded(code: CaveatCode) -> dict[str, Any]:
    return {"caveats": (Caveat(code=code),), "disposition": Disposition.NEEDS_REVIEW}


def steered(ruling: str) -> Steering:
    told = OperatorRuling(ruling)
    return Steering(correction_id="c1", captured_at=FIRED, ruling=told, backed=True)


@pytest.mark.proves("S1-9", "S1-19")
@pytest.mark.parametrize(
    ("changes", "severity", "reason"),
    [
        ({}, Severity.CRITICAL, None),
        ({"trust_level": U}, Severity.CRITICAL, None),
        (coded(CaveatCode.UNGROUNDED), Severity.WARNING, ReviewReason.UNGROUNDED),
        (coded(CaveatCode.INJECTION_SUSPECTED), Severity.INFO, ReviewReason.INJECTION_SUSPECTED),
        (
            {"steering": steered("contradicted")},
            Severity.INFO,
            ReviewReason.CORRECTION_CONTRADICTED,
        ),
        ({"steering": steered("supported")}, Severity.INFO, None),
        ({"verify_status": VerifyStatus.REFUTED}, Severity.WARNING, ReviewReason.REFUTED),
        ({"disposition": Disposition.ABSTAINED}, Severity.INFO, ReviewReason.ABSTAINED),
        ({"trust_level": N}, Severity.HIGH, ReviewReason.UNVERIFIED_HIGH),
        ({"trust_level": N}, Severity.CRITICAL, ReviewReason.UNVERIFIED_HIGH),
        ({"trust_level": N}, Severity.WARNING, None),
        ({"trust_level": N, "disposition": Disposition.NOT_JUDGED}, Severity.CRITICAL, None),
        (
            {**coded(CaveatCode.UNGROUNDED), "verify_status": VerifyStatus.REFUTED},
            Severity.CRITICAL,
            ReviewReason.UNGROUNDED,
        ),
    ],
)
def test_why_a_person_has_to_look(
    changes: dict[str, Any], severity: Severity, reason: ReviewReason | None
) -> None:
    assert review_reason(finding(**changes), severity) is reason


STEPS = (
    ConfidenceStep(name=ConfidenceStepName.JUDGED, value=0.9),
    ConfidenceStep(name=ConfidenceStepName.REPLACED, value=0.7),
)


async def found(world: World, number: int, **changes: Any) -> Finding:
    """Keep a finding on an incident."""
    incident = await world.incident(number)
    usual = {
        "triage_id": f"t{number}",
        "incident_id": incident.id,
        "client_id": "default",
        "confidence": 0.7,
        "confidence_steps": STEPS,
        "created_at": FIRED,
    }
    made = finding(**{**usual, **changes})
    async with world.store.begin() as tx:
        await tx.findings.keep(made)
    return made


async def two_of_one_family(world: World) -> None:
    """Two incidents of one rule and scope, a day apart."""
    for day in (0, 1):
        await world.deliver(alert(service="checkout", since_s=day * 86400), now_s=day * 86400)
        over = alert(service="checkout", since_s=day * 86400, until_s=day * 86400 + 60)
        await world.deliver(over, now_s=day * 86400 + 61)
        await world.sweep(day * 86400 + 3600)
    assert [i.number for i in await world.incidents()] == [1, 2]


async def test_a_family_has_one_open_item_which_the_next_finding_renews(world: World) -> None:
    await two_of_one_family(world)
    first, second = await world.incidents()
    async with world.store.begin() as tx:
        assert await open_review(tx, first, ReviewReason.ABSTAINED, "t1")
        assert not await open_review(tx, second, ReviewReason.REFUTED, "t2")
        assert not await open_review(tx, second, None, "t3")
        [item] = await tx.reviews.listed()
        assert await tx.reviews.counts() == {ReviewReason.REFUTED: 1}
    assert (item.number, item.reason, item.seen) == (2, ReviewReason.REFUTED, 2)
    assert "default/2" in line(item)
    assert "HighErrorRate  refuted  seen 2 times" in line(item)


async def test_any_verdict_closes_the_item_and_the_next_finding_opens_another(
    world: World,
) -> None:
    await two_of_one_family(world)
    first, second = await world.incidents()
    await found(world, 1, root_cause=None, disposition=Disposition.ABSTAINED)
    for verdict in Verdict:
        async with world.store.begin() as tx:
            assert await open_review(tx, second, ReviewReason.ABSTAINED, "t2")
            await give_verdict(tx, first, verdict, by="cli:ops")
            assert await tx.reviews.listed() == []
            closed = await tx.reviews.listed("default", closed=True)
        assert closed[0].closed_by == "cli:ops"
    assert await world.count("audit", "action = 'verdict given'") == 4


async def test_an_item_expires_after_fourteen_days_and_never_calls_anybody(world: World) -> None:
    await two_of_one_family(world)
    first, _ = await world.incidents()
    before = await world.wished()
    async with world.store.begin() as tx:
        await open_review(tx, first, ReviewReason.ABSTAINED, "t1")
        assert await tx.reviews.expire(EXPIRES_S) == 0
        await tx.session.execute(
            text("update review_items set opened_at = opened_at - interval '14 days'")
        )
    assert await world.wished() == before
    telemetry = Telemetry()
    await sweeper(world, telemetry).reap()
    async with world.store.begin() as tx:
        assert await tx.reviews.listed() == []
        [gone] = await tx.reviews.listed(closed=True)
    assert gone.closed_by == "expired"
    assert b"caveat_review_items_expired_total 1.0" in telemetry.exposition()


async def test_open_items_are_a_gauge(world: World) -> None:
    await two_of_one_family(world)
    first, _ = await world.incidents()
    async with world.store.begin() as tx:
        await open_review(tx, first, ReviewReason.ABSTAINED, "t1")
    telemetry = Telemetry()
    await sweeper(world, telemetry).sweep()
    page = telemetry.exposition()
    assert b'caveat_review_items_open{reason="abstained"} 1.0' in page
    assert b'caveat_review_items_open{reason="refuted"} 0.0' in page


def sweeper(world: World, telemetry: Telemetry) -> Sweeper:
    return Sweeper(
        store=world.store,
        new_id=world.new_id,
        rule=IncidentRule(),
        telemetry=telemetry,
        world=lambda _: pytest.fail("no world is needed"),
        configured=(),
        retention_s=1e9,
        audit_retention_s=1e9,
        provider="",
        embedder=HashedWords(),
    )


async def test_a_verdict_is_a_label_of_its_model_and_of_its_family(world: World) -> None:
    await two_of_one_family(world)
    await found(world, 1)
    await found(world, 2, confidence=0.5)
    async with world.store.begin() as tx:
        told = await given(tx, "default", "1", Verdict.RIGHT, by="cli:ops")
        assert told == ("incident 1: right, said by cli:ops; 1 of 1 verdicts of this family held")
        told = await given(tx, "default", "2", Verdict.WRONG, by="cli:ops")
        assert told.endswith("; 1 of 2 verdicts of this family held")
        assert await tx.outcomes.labels("m") == [
            Label(said=0.9, shown=0.7, held=True),
            Label(said=0.9, shown=0.5, held=False),
        ]
        assert await tx.outcomes.models() == ["m"]
        assert await tx.outcomes.labels("another") == []
        case = await tx.case((await world.incident(2)).id)
    assert case is not None
    said = "".join(getattr(span, "text", "") for span in record(case))
    assert said == "1 of 2 verdicts of this family held"


@pytest.mark.parametrize(
    ("verdicts", "held"),
    [
        ([Verdict.FIX_WORKED], True),
        ([Verdict.WRONG, Verdict.RIGHT], True),
        ([Verdict.RIGHT, Verdict.WRONG], False),
        ([Verdict.WRONG, Verdict.FIX_WORKED], False),
        ([Verdict.FIX_FAILED], None),
        ([Verdict.RIGHT, Verdict.FIX_FAILED], True),
    ],
)
async def test_the_newest_word_on_the_cause_counts_and_a_failed_fix_says_nothing_of_it(
    world: World, verdicts: list[Verdict], *, held: bool | None
) -> None:
    await world.deliver(alert(service="checkout"), now_s=0)
    await found(world, 1)
    incident = await world.incident(1)
    for verdict in verdicts:
        async with world.store.begin() as tx:
            await give_verdict(tx, incident, verdict, by="cli:ops")
    async with world.store.begin() as tx:
        labels = [label.held for label in await tx.outcomes.labels("m")]
    assert labels == ([] if held is None else [held])


@pytest.mark.proves("S1-20")
async def test_an_abstention_takes_no_label(world: World) -> None:
    await world.deliver(alert(service="checkout"), now_s=0)
    await found(world, 1, root_cause=None, confidence=None, confidence_steps=())
    async with world.store.begin() as tx:
        await give_verdict(tx, await world.incident(1), Verdict.RIGHT, by="cli:ops")
        assert await tx.outcomes.labels("m") == []
        assert await tx.outcomes.record("default", "any") is None


async def test_what_cannot_be_judged_is_refused_in_a_line(world: World) -> None:
    await world.deliver(alert(service="checkout"), now_s=0)
    async with world.store.begin() as tx:
        with pytest.raises(CommandError, match="default has no incident 9"):
            await given(tx, "default", "9", Verdict.RIGHT, by="cli:ops")
        with pytest.raises(CommandError, match="has no incident 1"):
            await given(tx, "other", "1", Verdict.RIGHT, by="cli:ops")
        with pytest.raises(CommandError, match="incident 1 has no finding to judge"):
            await given(tx, "default", "1", Verdict.RIGHT, by="cli:ops")
        with pytest.raises(VerdictError):
            await give_verdict(tx, await world.incident(1), Verdict.WRONG, by="cli:ops")
    with pytest.raises(CommandError, match="no verdict 'great'; there are right, wrong"):
        known("great")
    assert known("fix-worked") is Verdict.FIX_WORKED


def test_the_client_need_not_be_named_where_there_is_one() -> None:
    two = Settings.model_validate({"clients": {"b": {}, "a": {}}})
    assert chosen(Settings(), None) == "default"
    assert chosen(two, "b") == "b"
    with pytest.raises(CommandError, match="--client: a, b"):
        chosen(two, None)


async def test_a_rehearsal_is_no_label_of_the_model_it_stands_for(world: World) -> None:
    await world.deliver(alert(service="checkout"), now_s=0)
    made = await found(world, 1)
    async with world.store.begin() as tx:
        await tx.runs.add(
            a_run(
                triage_id=made.triage_id,
                incident_id=made.incident_id,
                client_id="default",
                created_at=at(0),
                rehearsal_model=True,
            )
        )
        await give_verdict(tx, await world.incident(1), Verdict.RIGHT, by="cli:ops")
        assert await tx.outcomes.labels("m") == []
