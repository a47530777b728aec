"""Zabbix over loopback: what is asked of which version, and what every accident becomes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from bot.backends.breaker import Fuse
from bot.backends.clock import SystemClock
from bot.backends.http import BackendSettings, BoundedHttp
from bot.cli.checks.line import Mark
from bot.cli.checks.zabbix import zabbix
from bot.drill.doubles.faults import Answer, Fault, Hang, ReplyLost, bad_gateway
from bot.drill.doubles.serve import serve
from bot.drill.doubles.zabbix import TOKEN, Machine, Trouble, ZabbixDouble
from bot.tools.zabbix import ZabbixHosts
from engine.model.evidence import Gap, GapCause
from engine.model.hosts import Reachable

WEB = Machine("11", "web1", ["Checkout"], available=2, error="timed out", maintained=True)
DB = Machine("12", "db1", ["Checkout", "Linux"], name="the database", ip="192.0.2.9")
OFF = Machine("13", "off1", ["Checkout"], watched=False)


@asynccontextmanager
async def seen(
    double: ZabbixDouble | None = None, token: str | None = TOKEN, **more: Any
) -> AsyncIterator[tuple[ZabbixHosts, ZabbixDouble]]:
    double = double or ZabbixDouble(machines=[WEB, DB, OFF], **more)
    clock = SystemClock()
    async with serve(double.app) as url:
        http = BoundedHttp(BackendSettings(url=url, timeout_s=0.3), clock)
        yield ZabbixHosts(http, SecretStr(token) if token else None, Fuse(clock)), double
        await http.close()


@pytest.mark.parametrize("version", [(6, 0), (6, 2), (6, 4), (7, 0), (7, 2)])
async def test_every_version_from_6_is_asked_in_its_own_words(version: tuple[int, int]) -> None:
    async with seen(version=version) as (tool, double):
        found = await tool.hosts(["web1"])
        assert not isinstance(found, Gap)
        assert [g.name for g in found[0].groups] == ["Checkout"]
        assert await tool.sizes([found[0].groups[0].id]) == {found[0].groups[0].id: 3}
        double.troubles = [Trouble("slow", ["11"], notes=["on it"])]
        problems = await tool.problems(["11"])
        assert not isinstance(problems, Gap)
        assert [(p.name, p.severity, p.host_ids, p.notes) for p in problems] == [
            ("slow", "high", ("11",), ("on it",))
        ]
        assert await tool.version() == version


async def test_a_version_before_6_is_not_asked_for_anything() -> None:
    async with seen(version=(5, 4)) as (tool, double):
        assert await tool.hosts(["web1"]) == Gap(
            cause=GapCause.REFUSED, detail="a version before 6.0"
        )
        assert {method for method, _ in double.asked} == {"apiinfo.version"}


async def test_a_host_is_found_by_its_name_its_shown_name_or_its_address() -> None:
    async with seen() as (tool, _):
        found = await tool.hosts(["192.0.2.9", "the database", "web1", "nobody"])
        assert not isinstance(found, Gap)
        assert [(h.asked, h.name) for h in found] == [
            ("192.0.2.9", "db1"), ("the database", "db1"), ("web1", "web1"),
        ]  # fmt: skip
        web = found[-1]
        assert (web.reachable, web.in_maintenance, web.interfaces[0].error) == (
            Reachable.NO, True, "timed out",
        )  # fmt: skip


async def test_members_are_the_hosts_that_are_polled() -> None:
    async with seen() as (tool, _):
        known = await tool.hosts(["web1"])
        assert not isinstance(known, Gap)
        members = await tool.members([known[0].groups[0].id])
        assert not isinstance(members, Gap)
        assert [h.name for h in members] == ["web1", "db1"]


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (Hang(), GapCause.TIMED_OUT),
        (ReplyLost(), GapCause.UNREACHABLE),
        (bad_gateway(), GapCause.REFUSED),
        (Answer(200, "<html>"), GapCause.GARBLED),
        (Answer(200, '{"result": "old"}'), GapCause.GARBLED),
        (Answer(200, '{"error": {"message": "no", "data": "no"}}'), GapCause.REFUSED),
    ],
)
async def test_every_accident_is_a_value(fault: Fault, cause: GapCause) -> None:
    async with seen(broken=fault) as (tool, _):
        found = await tool.hosts(["web1"])
        assert isinstance(found, Gap)
        assert found.cause is cause


async def test_rows_of_another_shape_are_garbled_and_a_dead_one_is_left_alone() -> None:
    async with seen() as (tool, double):
        assert await tool.version() == (6, 0)
        double.broken = Answer(200, '{"result": [{"hostid": 1}]}')
        found = await tool.hosts(["web1"])
        assert isinstance(found, Gap)
        assert (found.cause, found.detail) == (GapCause.GARBLED, "not what host.get lists")
        double.broken = bad_gateway()
        for _ in range(6):
            found = await tool.hosts(["web1"])
        assert isinstance(found, Gap)
        assert found.cause is GapCause.BREAKER_OPEN


@pytest.mark.parametrize(
    ("more", "mark", "said"),
    [
        ({}, Mark.OK, "3 hosts to see"),
        ({"token": "wrong"}, Mark.BAD, "Session terminated"),
        ({"token": None}, Mark.BAD, "Session terminated"),
        ({"version": (5, 0)}, Mark.BAD, "5.0"),
        ({"double": ZabbixDouble()}, Mark.BAD, "sees no host"),
        ({"broken": bad_gateway()}, Mark.BAD, "HTTP 502"),
    ],
)
async def test_the_check_says_what_to_do(more: dict[str, Any], mark: Mark, said: str) -> None:
    async with seen(**more) as (tool, _):
        line = await zabbix(tool, "http://zabbix.test")
        assert line.mark is mark
        assert said in line.said
        assert bool(line.cure) == (mark is Mark.BAD)
