import os
import signal
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.backends.clock import SystemClock
from bot.backends.http import BackendSettings, BoundedHttp
from bot.tools.alertmanager import AlertmanagerAlerts
from bot.tools.prometheus import PrometheusSettings, PrometheusTool, ServerFacts
from engine.model.evidence import Answered, Gap, GapCause, Invalid, Question
from engine.model.pack import (
    CanWait,
    CauseClass,
    ImpactReason,
    OnsetSource,
    SectionName,
    SuspectReason,
)
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.ports import ArbiterSays
from tests.metrics_fakes import alert, incident
from tests.real_prometheus import Shop, installed, sample_shop

pytestmark = [pytest.mark.real, pytest.mark.corpus]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Shop]:
    if not installed():
        pytest.skip("no Prometheus here")
    folder = tmp_path_factory.mktemp("shop")
    with sample_shop(folder, shared / "sample", with_alertmanager=True) as running:
        yield running


@pytest.fixture
async def metrics(shop: Shop) -> AsyncIterator[PrometheusTool]:
    clock = SystemClock()
    settings = PrometheusSettings(url=shop.prometheus_url, timeout_s=2)
    http = BoundedHttp(settings, clock)
    yield PrometheusTool(http, settings, clock)
    await http.close()


def ports(metrics: PrometheusTool) -> Ports:
    return Ports(clock=SystemClock(), redact=lambda text: text, metrics=metrics, rules=metrics)


def subject() -> Subject:
    now = SystemClock().now()
    fired = alert(now - timedelta(seconds=1), team="payments")
    seen = incident(fired)
    member = seen.members[0].model_copy(update={"joined_at": now, "last_seen_at": now})
    return Subject(incident=seen.model_copy(update={"members": (member,)}))


@pytest.mark.proves("S3-37", "S3-40")
async def test_on_the_sample_alert_the_exhausted_pool_is_suspected_first(
    metrics: PrometheusTool,
) -> None:
    clock = SystemClock()
    began = clock.monotonic()
    pack = await build(subject(), ports(metrics))
    assert clock.monotonic() - began < 2
    first = pack.suspects[0]
    assert first.cause_class is CauseClass.RESOURCE_EXHAUSTION
    assert SuspectReason.AT_ITS_LIMIT in first.reasons
    assert "db_pool_in_use{service=checkout-api} 20 of db_pool_max 20 (100%)" in first.text
    assert "peers 3" in first.text
    assert (pack.impact.can_wait, pack.impact.reason) == (CanWait.NO, ImpactReason.USERS_HIT)
    assert pack.anchor.onset_source is OnsetSource.ACTIVE
    assert pack.anchor.active_at < pack.anchor.fired_at
    assert pack.anchor.expression is not None
    assert pack.degraded == ()


async def test_the_pack_of_the_sample_alert_is_small(metrics: PrometheusTool) -> None:
    pack = await build(subject(), ports(metrics))
    assert len("\n".join(item.text for item in pack.items)) < 3_000
    assert len(pack.canonical()) < 16_000


async def test_the_servers_own_words_are_read_rightly(metrics: PrometheusTool) -> None:
    bad = await metrics.ask(Question(tool="metrics", queries={"x": "sum(rate(up[5m]"}))
    clash = await metrics.ask(Question(tool="metrics", queries={"x": "up * on () up"}))
    good = await metrics.ask(Question(tool="metrics", queries={"x": "count(up)", "y": "1 + 1"}))
    assert isinstance(bad, Invalid)
    assert isinstance(clash, Gap)
    assert clash.cause is GapCause.REFUSED
    assert isinstance(good, Answered)
    assert (good.figure("x"), good.figure("y")) == (2, 2)
    assert (await metrics.judge("sum(rate(up[5m]"))[0] is ArbiterSays.INVALID
    assert (await metrics.judge("sum(rate(up[5m]))"))[0] is ArbiterSays.VALID
    facts = await metrics.server_info()
    assert isinstance(facts, ServerFacts)
    assert facts.version


async def test_rules_and_active_alerts_are_read(metrics: PrometheusTool, shop: Shop) -> None:
    rules = await metrics.rules()
    assert not isinstance(rules, Gap)
    assert [(rule.name, rule.for_s) for rule in rules] == [("CheckoutHighErrorRate", 2)]
    assert await metrics.active_at(alert(team="payments")) is not None
    assert shop.alertmanager_url is not None
    http = BoundedHttp(BackendSettings(url=shop.alertmanager_url), SystemClock())
    firing = await AlertmanagerAlerts(http, lambda rows: [alert() for _ in rows]).firing()
    await http.close()
    assert not isinstance(firing, Gap)
    assert len(firing) == 1


@pytest.mark.proves("S3-33")
async def test_a_stopped_server_still_gives_a_pack_in_time(
    metrics: PrometheusTool, shop: Shop
) -> None:
    clock = SystemClock()
    os.kill(shop.prometheus_pid, signal.SIGSTOP)
    try:
        began = clock.monotonic()
        pack = await build(subject(), ports(metrics))
        assert clock.monotonic() - began < 8
    finally:
        os.kill(shop.prometheus_pid, signal.SIGCONT)
    section = pack.section(SectionName.METRICS)
    assert section is not None
    assert section.cause is GapCause.TIMED_OUT
    assert pack.section(SectionName.ALERTS) is not None
