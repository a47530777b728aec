"""The floor of Zabbix against a real server, its agent and its API."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from bot.backends.breaker import Fuse
from bot.backends.clock import SystemClock
from bot.backends.http import BackendSettings, BoundedHttp
from bot.cli.checks.line import Mark
from bot.cli.checks.zabbix import zabbix as checked
from bot.tools.zabbix import ZabbixHosts
from engine.model.evidence import Gap, GapCause, QueryOutcome
from engine.model.hosts import Reachable
from engine.model.policy import VerificationRule
from engine.verification.kind import Reach, Subject
from engine.verification.round import Batch, run_batch
from storage.embedded import EmbeddedPostgres
from tests.database import open_folder
from tests.engine.judged import pack
from tests.engine.verification.test_host_checks import hosts_of, of
from tests.fakes import MemoryStore
from tests.real_prometheus import free_port
from tests.real_zabbix import NEEDED, Api, until, zabbix

pytestmark = [pytest.mark.faults, pytest.mark.real(*NEEDED), pytest.mark.timeout(240)]
MANY = 60


@dataclass
class Planted:
    api: Api
    token: str
    cold_s: float


@pytest.fixture(scope="module")
def planted(postgres: EmbeddedPostgres) -> Iterator[Planted]:
    """A server with a host that answers, one that does not, one that burns, and a crowd."""
    folder = open_folder()
    begun_s = time.monotonic()
    dsn = asyncio.run(postgres.ensure_database("zabbix")).replace(
        "postgresql+psycopg", "postgresql"
    )
    with zabbix(folder, dsn) as api:
        cold_s = time.monotonic() - begun_s
        plant(api)
        yield Planted(api, api.token(), cold_s)
    shutil.rmtree(folder)


def plant(api: Api) -> None:
    groups = [
        api.call("hostgroup.create", {"name": name})["groupids"][0]
        for name in ("Checkout", "Everything")
    ]
    both = [{"groupid": id_} for id_ in groups]
    every = [{"groupid": groups[1]}]
    crowd = [{"host": f"crowd{n:02}", "groups": every} for n in range(MANY)]
    polled = [
        {"host": "web1", "groups": both, "interfaces": [interface(api.agent)]},
        {"host": "web2", "groups": both, "interfaces": [interface(free_port())]},
    ]
    made = api.call("host.create", [*polled, {"host": "db1", "groups": both[:1]}, *crowd])
    web1, web2, db1 = made["hostids"][:3]
    for id_ in (web1, web2):
        own = api.call("hostinterface.get", {"hostids": id_, "output": ["interfaceid"]})
        item = {"name": "ping", "key_": "agent.ping", "type": 0, "value_type": 3, "delay": "1s"}
        api.call("item.create", {**item, "hostid": id_, "interfaceid": own[0]["interfaceid"]})
    latency = {"name": "latency", "key_": "latency", "type": 2, "value_type": 0, "hostid": db1}
    api.call("item.create", latency)
    trigger = {"description": "High latency on {HOST.NAME}", "priority": 4}
    api.call("trigger.create", {**trigger, "expression": "last(/db1/latency)>100"})
    now = int(time.time())
    api.call(
        "maintenance.create",
        {
            "name": "announced", "active_since": now - 60, "active_till": now + 3600,
            "hosts": [{"hostid": web2}],
            "timeperiods": [{"timeperiod_type": 0, "start_date": now - 60, "period": 3600}],
        },
    )  # fmt: skip
    api.send("db1", "latency", "250")
    until(lambda: api.call("problem.get", {"output": ["eventid"]}))


def interface(port: int) -> dict[str, object]:
    return {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": str(port)}


def tool(planted: Planted, token: str = "") -> ZabbixHosts:
    http = BoundedHttp(BackendSettings(url=planted.api.url), SystemClock())
    return ZabbixHosts(http, SecretStr(token or planted.token), Fuse(SystemClock()))


async def batch(planted: Planted, *names: str) -> Batch:
    reach = Reach(
        store=MemoryStore(),  # type: ignore[arg-type]
        clock=SystemClock(),
        hosts=tool(planted),
    )
    subject = Subject(incident=hosts_of(*names), pack=pack())
    return await run_batch(subject, [], reach, VerificationRule())


async def settled(planted: Planted) -> None:
    """Wait until its pollers have made up their mind and its clock began the maintenance."""
    for _ in range(450):
        found = await tool(planted).hosts(["web1", "web2"])
        assert not isinstance(found, Gap)
        states = [(host.reachable, host.in_maintenance) for host in found]
        if states == [(Reachable.YES, False), (Reachable.NO, True)]:
            return
        await asyncio.sleep(0.2)
    raise AssertionError(states)


@pytest.mark.proves("S0-61", "S0-62", "S0-63", "S0-64")
async def test_the_floor_says_what_the_server_knows(planted: Planted) -> None:
    await settled(planted)
    found = await batch(planted, "web1", "web2", "nobody")
    told = of(found, "host_reachability")
    assert "web1 reachable (agent), no maintenance" in told.text
    assert "web2 UNREACHABLE (agent: " in told.text
    assert ", in maintenance; nobody not known to Zabbix" in told.text
    near = of(found, "host_neighbours")
    assert near.text.startswith("neighbours in Zabbix: 1 of 50 hosts with problems")
    assert "- db1: High latency on db1 (high, since " in near.text
    assert "groups searched: Checkout (3 hosts), Everything (62 hosts), the largest" in near.text
    assert "groups left out: none" in near.text
    assert (found.floor_fetched, found.degraded_reasons) == (True, ())
    print(f"Zabbix answers {planted.cold_s:.1f} s after a cold start")


async def test_a_host_that_burns_is_no_neighbour_of_itself(planted: Planted) -> None:
    near = of(await batch(planted, "db1"), "host_neighbours")
    assert near.text.startswith("neighbours in Zabbix: 0 of 2 hosts with problems (quiet)")


async def test_what_people_wrote_on_a_problem_is_read(planted: Planted) -> None:
    events = planted.api.call("problem.get", {"output": ["eventid"]})
    said = {"eventids": [events[0]["eventid"]], "action": 6, "message": "looking into it"}
    planted.api.call("event.acknowledge", said)
    db1 = await tool(planted).hosts(["db1"])
    assert not isinstance(db1, Gap)
    problems = await tool(planted).problems([db1[0].id])
    assert not isinstance(problems, Gap)
    assert problems[0].notes == ("looking into it",)


async def test_a_wrong_token_is_refused_and_the_check_says_so(planted: Planted) -> None:
    refused = await tool(planted, "wrong").hosts(["web1"])
    assert isinstance(refused, Gap)
    assert refused.cause is GapCause.REFUSED
    line = await checked(tool(planted, "wrong"), planted.api.url)
    assert (line.mark, "bearer_file" in line.cure) == (Mark.BAD, True)
    good = await checked(tool(planted), planted.api.url)
    assert (good.mark, good.said.startswith("6.0 at ")) == (Mark.OK, True)


async def test_a_host_nobody_polls_leaves_the_question_open(planted: Planted) -> None:
    told = of(await batch(planted, "crowd01"), "host_reachability")
    assert told.outcome is QueryOutcome.EMPTY
    assert "crowd01 reachability unknown, no maintenance" in told.text
