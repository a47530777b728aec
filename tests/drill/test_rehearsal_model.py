"""The rehearsal model behind the Messages double, with a metrics double to be checked against."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.backends.anthropic import AnthropicModel, connect
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.serve import serve
from bot.drill.rehearsal_model import answer
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CheckSource,
    Disposition,
    Finding,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.llm import Capabilities
from engine.model.pack import CauseClass, Item, MetricDigest, Pack, Suspect, SuspectReason
from engine.model.policy import TriageRule, VerificationRule
from engine.pack.digests import said
from tests.engine.judged import ALERT, DEPLOY, OWN, Table, change, incident, metric, pack
from tests.fakes import FakeMetrics


def line(item: Item) -> Item:
    """The item in the words of a real pack."""
    assert isinstance(item.facts, MetricDigest)
    return item.model_copy(update={"text": said(item.facts)})


POOL = line(metric("M2", "db_pool_in_use", 14, changed_s=-10, service="checkout-api"))


def suspect(component: str, kind: str, score: float, *ids: str) -> Suspect:
    return Suspect(
        component=component,
        cause_class=CauseClass(kind),
        score=score,
        reasons=(SuspectReason.CHANGED_NEAR_ONSET,),
        text=f"{component} changed (02:41:00; ci)",
        evidence_ids=ids,
    )


def case(*suspects: Suspect, items: tuple[Item, ...] = (ALERT, OWN, POOL, DEPLOY)) -> Pack:
    return pack(*items).model_copy(update={"suspects": suspects})


@asynccontextmanager
async def rehearsed(
    metrics: Mapping[str, Any], able: Capabilities | None = None, rule: TriageRule | None = None
) -> AsyncIterator[tuple[Table, MessagesDouble]]:
    double = MessagesDouble(lambda: datetime.now(UTC), answer)
    async with serve(double.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        desk = Table(
            AnthropicModel(client, able or Capabilities()),  # type: ignore[arg-type]
            metrics=FakeMetrics(metrics),
            rule=rule or TriageRule(),
        )
        yield desk, double
        await client.close()


async def triage(pack_: Pack, metrics: Mapping[str, Any], **more: Any) -> Finding:
    async with rehearsed(metrics, **more) as (desk, double):
        finding = await desk.judged(pack_, incident())
        assert not [asked.refusal for asked in double.asked if asked.refusal]
        return finding


UP = {"sum(up": 34, "count(up": 37}
DEPLOYED = suspect("checkout-api", "deploy", 0.9, "D1", "M2")


async def test_a_cause_that_moved_within_the_hour_is_supported_and_verified() -> None:
    finding = await triage(case(DEPLOYED), {**UP, "offset 1h": 5, "db_pool_in_use": 20})
    assert finding.trust_level is TrustLevel.VERIFIED
    assert finding.root_cause_key is not None
    assert finding.root_cause_key.component == "checkout-api"
    assert finding.round is not None
    own = [r for r in finding.round.results if r.source is CheckSource.MODEL]
    assert [r.outcome for r in own] == [QueryOutcome.FETCHED, QueryOutcome.FETCHED]


async def test_a_metric_that_was_as_high_an_hour_ago_clears_what_was_blamed() -> None:
    metrics = {**UP, "offset 1h": 20, "db_pool_in_use": 20}
    finding = await triage(case(DEPLOYED), metrics)
    assert finding.verify_status is VerifyStatus.REFUTED
    assert finding.disposition is Disposition.NEEDS_REVIEW


async def test_a_healthy_fleet_clears_a_regional_cause_and_the_next_suspect_takes_its_place() -> (
    None
):
    wide = suspect("eu-west", "cloud_provider", 0.95, "M2")
    finding = await triage(case(wide, DEPLOYED), UP)
    assert (finding.replaced, finding.trust_level) == (True, TrustLevel.UNCONFIRMED)
    assert finding.root_cause_key is not None
    assert finding.root_cause_key.cause_class is CauseClass.DEPLOY


async def test_a_thin_pack_makes_it_abstain_twice() -> None:
    finding = await triage(case(items=(ALERT,)), UP)
    assert finding.disposition is Disposition.ABSTAINED
    assert "No suspect stands out" in finding.missing


async def test_a_decoy_it_agrees_with_is_not_verified() -> None:
    decoy = change("D1", "checkout-api", +120)
    metrics = {**UP, "offset 1h": 5, "db_pool_in_use": 20}
    finding = await triage(case(DEPLOYED, items=(ALERT, OWN, POOL, decoy)), metrics)
    assert finding.verify_status is VerifyStatus.VERIFIED
    assert Veto.BEGAN_AFTER_ONSET in finding.vetoes
    assert finding.trust_level is TrustLevel.UNCONFIRMED


async def test_a_backend_that_knows_nothing_leaves_it_inconclusive_and_not_degraded() -> None:
    finding = await triage(case(DEPLOYED), {})
    assert finding.round is not None
    assert not finding.round.degraded
    assert finding.verify_status is VerifyStatus.INCONCLUSIVE


async def test_it_answers_through_the_tool_of_a_plain_gateway() -> None:
    able = Capabilities(structured_output=False, prompt_cache=False)
    metrics = {**UP, "offset 1h": 5, "db_pool_in_use": 20}
    finding = await triage(case(DEPLOYED), metrics, able=able)
    assert finding.trust_level is TrustLevel.VERIFIED


async def test_with_verification_off_it_plans_nothing() -> None:
    off = TriageRule(verification=VerificationRule(enabled=False))
    async with rehearsed(UP, rule=off) as (desk, double):
        finding = await desk.judged(case(DEPLOYED), incident())
        assert len(double.accepted) == 1
    assert finding.draft is not None
    assert finding.draft.plan == ()
    assert finding.verify_status is VerifyStatus.NOT_RUN


@pytest.mark.proves("S0-8", "S0-70")
async def test_the_second_call_reads_the_first_ones_prompt_from_the_cache() -> None:
    long = tuple(line(metric(f"M{n}", f"series_{n}_in_use_of_something", 5)) for n in range(5, 90))
    async with rehearsed(UP) as (desk, double):
        await desk.judged(case(DEPLOYED, items=(ALERT, OWN, POOL, DEPLOY, *long)), incident())
        first, second = double.accepted
    assert first.charge is not None
    assert second.charge is not None
    assert first.charge.written_5m > 1024
    assert second.charge.read == first.charge.written_5m
