"""The round against a metrics double over loopback: what the wire says becomes an outcome."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.backends.clock import SystemClock
from bot.backends.http import BoundedHttp
from bot.drill.doubles.faults import Answer, Fault, Hang, ReplyLost
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.tools.prometheus import PrometheusSettings, PrometheusTool
from engine.model.evidence import InvalidReason, QueryOutcome
from engine.model.finding import CheckSource, PlannedCheck, PlannedCheckKind
from engine.model.policy import VerificationRule
from engine.verification.kind import Reach, Subject
from engine.verification.round import Batch, run_batch
from tests.engine.judged import SCOPE, incident, pack
from tests.fakes import MemoryStore

PLAN = PlannedCheck(kind=PlannedCheckKind.PROMQL, query="sum(db_pool_in_use)")


def bad_data(words: str) -> Answer:
    return Answer(400, json.dumps({"status": "error", "errorType": "bad_data", "error": words}))


async def batch(
    *plan: PlannedCheck,
    fault: Fault | None = None,
    hangs: int = 0,
    timeout_s: float = 0.3,
    rule: VerificationRule | None = None,
    **case: Any,
) -> Batch:
    double = MetricsDouble(lambda: datetime.now(UTC))
    for n in range(3):
        double.plant("up", {**SCOPE, "instance": f"i{n}"}, 1.0 if n else 0.0)
    double.plant("db_pool_in_use", {**SCOPE, "pod": "a"}, 20.0)
    double.plant("db_pool_in_use", {"namespace": "search", "service": "s"}, 7.0)
    for n in range(9):
        double.plant("queue_depth", {**SCOPE, "queue": f"q{n}"}, float(n))
    double.broken = fault
    # The floor asks a pair at once; what the model asks comes after it.
    double.faults.waiting["query"].extend([None, None, *[Hang()] * hangs])
    clock = SystemClock()
    async with serve(double.app) as url:
        settings = PrometheusSettings(url=url, timeout_s=timeout_s, max_series=3)
        http = BoundedHttp(settings, clock)
        reach = Reach(
            store=MemoryStore(),  # type: ignore[arg-type]
            clock=clock,
            metrics=PrometheusTool(http, settings, clock),
        )
        subject = Subject(incident=incident(*case.get("scopes", [])), pack=pack())
        found = await run_batch(subject, plan, reach, rule or VerificationRule())
        await http.close()
    return found


async def test_the_floor_and_a_narrowed_check_are_fetched() -> None:
    found = await batch(PLAN)
    assert "up 2/3 in namespace=checkout, service=checkout-api" in found.results[0].text
    assert "\n20 {}" in found.results[2].text
    assert found.floor_fetched


@pytest.mark.proves("S0-94", "S0-95")
async def test_made_up_labels_read_no_data_and_leave_the_round_whole() -> None:
    found = await batch(scopes=[{"namespace": "drill-shop", "service": "drill-checkout"}])
    assert found.results[0].text.startswith(
        "up (no data) in namespace=drill-shop, service=drill-checkout"
    )
    assert (found.degraded_reasons, found.floor_fetched) == ((), False)


@pytest.mark.proves("S0-55", "S0-56", "S0-57")
@pytest.mark.parametrize(
    ("fault", "outcome", "reason"),
    [
        (
            bad_data('invalid parameter "query": 1:4: parse error'),
            QueryOutcome.INVALID,
            InvalidReason.BAD_DATA,
        ),
        (bad_data('invalid parameter "time": cannot parse'), QueryOutcome.FAILED, None),
        (bad_data('invalid parameter "limit": too large'), QueryOutcome.FAILED, None),
        (Answer(503, "no"), QueryOutcome.FAILED, None),
        (ReplyLost(), QueryOutcome.FAILED, None),
        (Hang(), QueryOutcome.DEGRADED, None),
    ],
)
async def test_only_a_refusal_that_names_the_query_is_the_querys_own_fault(
    fault: Fault, outcome: QueryOutcome, reason: InvalidReason | None
) -> None:
    found = await batch(PLAN, fault=fault)
    for result in (found.results[0], found.results[2]):
        assert (result.outcome, result.invalid_reason) == (outcome, reason)
    assert found.degraded_reasons == ("floor_failed:peer_up_ratio",)


QUEUES = [
    PlannedCheck(kind=PlannedCheckKind.PROMQL, query=f'queue_depth{{queue=~"q[0-{n}]"}}')
    for n in (9, 8, 7, 6)
]


@pytest.mark.proves("S0-26")
async def test_a_models_check_is_cut_at_the_series_everyday_evidence_is_cut_at() -> None:
    found = (await batch(QUEUES[0])).results[2]
    lines = found.text.splitlines()
    assert (found.outcome, len(lines)) == (QueryOutcome.FETCHED, 1 + 3 + 1)
    assert lines[-1] == "6 more"


@pytest.mark.proves("S0-26")
async def test_a_models_check_that_hangs_ends_on_its_slice_and_leaves_the_rest_of_the_time() -> (
    None
):
    rule = VerificationRule(query_timeout_seconds=1.2, min_query_s=0.2, parallel=1)
    begun_s = asyncio.get_running_loop().time()
    found = await batch(*QUEUES, timeout_s=5, rule=rule, hangs=4)
    took_s = asyncio.get_running_loop().time() - begun_s
    floor, *_, last = found.results
    model = [r for r in found.results if r.source is CheckSource.MODEL]
    assert floor.outcome is QueryOutcome.FETCHED
    assert [r.outcome for r in model] == [QueryOutcome.DEGRADED] * 4
    assert [float(r.text.split()[-2]) for r in model] == pytest.approx([0.3] * 4, abs=0.1)
    assert "no answer in 0." in last.text
    assert took_s < 2
    assert found.degraded_reasons == ()
