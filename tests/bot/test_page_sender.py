"""Pages over real HTTP: in order, at least once, with patience, and never in silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from bot.backends.clock import SystemClock
from bot.config_oncall import PagerKind, PagerSettings
from bot.drill.doubles.faults import ReplyLost, answer, bad_gateway
from bot.drill.doubles.page_webhook import HOOK, PageWebhookDouble
from bot.drill.doubles.pagerduty import ENQUEUE, PagerDutyDouble
from bot.drill.doubles.serve import serve
from bot.paging.pager import Later, Refused, Told, Took
from bot.paging.pagerduty import PagerDuty
from bot.paging.sender import MOST_TRIES, PageSender, backoff_s
from bot.paging.webhook import Webhook
from bot.telemetry import Telemetry
from engine.intake import Rules
from engine.model.alert import Severity
from engine.model.org import Platform, Room
from engine.model.page import EscalationRoute, PageAction, PageText
from storage.pages import PageTask
from storage.store import SqlStore
from tests.engine.conftest import World, alert

KEY = PagerDutyDouble().routing_key
ROUTE = EscalationRoute(name="on-call", pagers=("pd",))


@pytest.fixture
async def world(store: SqlStore) -> World:
    async with store.begin() as tx:
        await tx.org.declare_client("default", {})
        room = Room(id="room", platform=Platform.CONSOLE, chat="here")
        await tx.org.declare_rooms("default", [room])
        await tx.sources.declare("src", "default", kind="alertmanager", name="prom", token=None)
    return await World(store, rules=Rules(routes=(ROUTE,))).connect()


def task(action: PageAction = PageAction.TRIGGER, id_: int = 1) -> PageTask:
    body = PageText(
        number=7,
        severity=Severity.HIGH,
        rule="HighErrorRate",
        summary="x" * 3000,
        labels={"note": "y" * 10_000},
    )
    return PageTask(
        id=id_, client_id="acme", incident_id="i1", pager="pd", action=action, body=body, attempts=1
    )


@asynccontextmanager
async def pagerduty(double: PagerDutyDouble, key: str = KEY) -> AsyncIterator[PagerDuty]:
    async with serve(double.app) as url:
        pager = PagerDuty(PagerSettings(kind=PagerKind.PAGERDUTY, url=url), key)
        yield pager
        await pager.close()


async def test_pagerduty_hears_of_one_incident_under_one_key() -> None:
    double = PagerDutyDouble()
    states = []
    async with pagerduty(double) as pager:
        for action in PageAction:
            assert await pager.tell(task(action)) == Took()
            states += [alarm.state for alarm in double.alarms.values()]
    assert states == ["triggered", "acknowledged", "resolved"]
    assert {event["dedup_key"] for event in double.events} == {"caveat-i1"}
    described = double.events[0]["payload"]
    assert (described["severity"], described["source"]) == ("error", "acme")
    assert len(described["summary"]) == 1024


async def test_a_wrong_routing_key_is_refused_for_good() -> None:
    async with pagerduty(PagerDutyDouble(), key="R-of-somebody-else") as pager:
        told = await pager.tell(task())
    assert isinstance(told, Refused)
    assert "Invalid routing key" in told.reason


async def test_a_pager_that_is_busy_or_broken_is_asked_again() -> None:
    double = PagerDutyDouble()
    double.limit_rate(after_s=7)
    double.faults.add(ENQUEUE, bad_gateway())
    double.faults.add(ENQUEUE, ReplyLost())
    async with pagerduty(double) as pager:
        told: list[Told] = [await pager.tell(task()) for _ in range(4)]
    assert [one.wait_s for one in told if isinstance(one, Later)] == [7.0, None, None]
    assert told[3] == Took()
    # The answer to one was lost: it was told twice, and rings once.
    assert [alarm.triggers for alarm in double.alarms.values()] == [2]


async def test_a_webhook_is_signed_told_apart_and_never_sent_elsewhere() -> None:
    double, stranger = (PageWebhookDouble(SystemClock().now) for _ in range(2))
    async with serve(double.app) as url, serve(stranger.app) as other:
        own = PagerSettings(kind=PagerKind.WEBHOOK, url=f"{url}/hook")
        pager = Webhook(own, "webhook-rehearsal", SystemClock())
        forger = Webhook(own, "guessed", SystemClock())
        double.faults.add(HOOK, ReplyLost())
        assert isinstance(await pager.tell(task()), Later)
        assert await pager.tell(task()) == Took()
        assert isinstance(await forger.tell(task(id_=2)), Refused)
        double.elsewhere = f"{other}/hook"
        assert isinstance(await pager.tell(task(id_=3)), Refused)
        await pager.close()
        await forger.close()
    assert [page["dedup_key"] for page in double.pages.values()] == ["caveat-i1"]
    assert stranger.pages == {}


async def test_no_proxy_of_the_environment_gets_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with pagerduty(PagerDutyDouble()) as pager:
        assert await pager.tell(task()) == Took()


def test_waits_grow_to_a_minute() -> None:
    assert [backoff_s(n) for n in (1, 2, 3, 7, 40)] == [1.0, 2.0, 4.0, 60.0, 60.0]


@dataclass
class Post:
    """A sender at work on a world's pages."""

    world: World
    double: PagerDutyDouble
    telemetry: Telemetry

    async def rows(self, sql: str) -> list[tuple[object, ...]]:
        async with self.world.store.begin() as tx:
            return [tuple(row) for row in await tx.session.execute(text(sql))]

    async def until(self, sql: str) -> None:
        async with asyncio.timeout(20):
            while not await self.rows(sql):
                await asyncio.sleep(0.02)


@asynccontextmanager
async def sending(world: World, key: str = KEY) -> AsyncIterator[Post]:
    double, telemetry, stop = PagerDutyDouble(), Telemetry(), asyncio.Event()
    async with pagerduty(double, key) as pager:
        sender = PageSender(world.store, {("default", "pd"): pager}, telemetry)
        running = asyncio.create_task(sender.run(stop))
        yield Post(world, double, telemetry)
        stop.set()
        await running


async def test_a_page_goes_out_and_what_follows_it_comes_after_it(world: World) -> None:
    async with sending(world) as post:
        post.double.faults.add(ENQUEUE, answer(503, {}))
        await world.deliver(alert(), now_s=0)
        await world.deliver(alert(until_s=60), now_s=60)
        await post.until("select 1 from pages where action = 'resolve' and state = 'sent'")
    assert [event["event_action"] for event in post.double.events] == ["trigger", "resolve"]
    said = post.telemetry.exposition().decode()
    assert 'caveat_page_sends_total{action="trigger",result="later"} 1.0' in said
    assert 'caveat_page_total{reason="oncall_disabled",result="not_paged"} 0.0' in said


async def test_a_page_nobody_takes_is_a_dead_letter_a_notice_and_a_line_on_the_card(
    world: World,
) -> None:
    async with sending(world, key="R-wrong") as post:
        await world.deliver(alert(), now_s=0)
        await post.until("select 1 from dead_letters where kind = 'page'")
        assert await post.rows("select state from pages") == [("dead",)]
        notices = await post.rows("select subject_id from cards where subject_kind = 'notice'")
    assert notices == [("page_undelivered:pd, incident 1",)]
    async with world.store.begin() as tx:
        record = await tx.pages.record((await world.incident(1)).id)
    assert record is not None
    assert record.failed == ("pd",)


async def test_patience_with_a_silent_pager_ends(world: World) -> None:
    async with sending(world) as post:
        post.double.faults.add(ENQUEUE, bad_gateway(), times=2)
        await world.deliver(alert(), now_s=0)
        await post.until("select 1 from pages where error is not null")
        late = f"update pages set attempts = {MOST_TRIES - 1}, due_at = clock_timestamp()"
        async with world.store.begin() as tx:
            await tx.session.execute(text(late))
        await post.until("select 1 from dead_letters where kind = 'page'")
    assert post.double.events == []
