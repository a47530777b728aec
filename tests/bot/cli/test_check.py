"""`caveat check`: a line for every part, with its cure, and what a missing piece costs."""

import io
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.backends.clock import SystemClock
from bot.backends.of_client import connect
from bot.chats.slack.manifest import scopes
from bot.cli.check import lines_of, table
from bot.cli.checks.alertmanager import alertmanager, repeats_of
from bot.cli.checks.changes import changes
from bot.cli.checks.compliance import compliance
from bot.cli.checks.database import database
from bot.cli.checks.kubernetes import kubernetes
from bot.cli.checks.line import Line, Mark
from bot.cli.checks.links import links
from bot.cli.checks.loki import loki
from bot.cli.checks.memory import short_circuit
from bot.cli.checks.model import budget, model
from bot.cli.checks.paging import paging
from bot.cli.checks.prometheus import deploys_readable, prometheus
from bot.cli.checks.slack import slack
from bot.cli.checks.telegram import telegram
from bot.cli.checks.webhook import receiver, webhook
from bot.cli.checks.zabbix import zabbix
from bot.config import (
    BackendSettings,
    ClientSettings,
    RoomSettings,
    Settings,
    SlackSettings,
    TelegramSettings,
)
from bot.config_oncall import OncallSettings
from bot.drill.doubles.faults import Answer, Fault, ReplyLost, answer, bad_gateway
from bot.drill.doubles.kubernetes import TOKEN as TOKEN_OF_CLUSTER
from bot.drill.doubles.kubernetes import KubernetesDouble
from bot.drill.doubles.loki import LokiDouble
from bot.drill.doubles.pagerduty import PagerDutyDouble
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.doubles.telegram import TelegramDouble
from bot.drill.doubles.zabbix import TOKEN as TOKEN_OF_ZABBIX
from bot.drill.doubles.zabbix import Machine, ZabbixDouble
from bot.tools.compliance import ComplianceFile
from engine.model.alert import Alert, AlertStatus, Severity
from engine.model.base import Frozen
from engine.model.policy import TriageRule
from storage.about import DatabaseFacts

OK, BAD, ABSENT = Mark.OK, Mark.BAD, Mark.ABSENT
START = scopes("start")


def now() -> datetime:
    return datetime.now(UTC)


def marks(lines: list[Line]) -> dict[str, Mark]:
    return {line.part: line.mark for line in lines}


def of(lines: list[Line], part: str) -> Line:
    return next(line for line in lines if line.part == part)


def cpu(folder: Path, flags: str) -> Path:
    path = folder / "cpuinfo"
    path.write_text(f"flags\t\t: {flags}\n")
    return path


@pytest.mark.parametrize(
    ("version", "vector", "flags", "expected"),
    [
        ("18.4", True, "avx2 bmi2 fma", {"database": OK, "memory": OK}),
        ("18.4", True, "sse", {"database": OK, "memory": ABSENT}),
        ("16.1", False, "avx2 bmi2 fma", {"database": OK, "memory": ABSENT}),
        ("14.9 (Debian)", True, "avx2 bmi2 fma", {"database": BAD}),
    ],
)
def test_the_database_line(
    tmp_path: Path, version: str, vector: bool, flags: str, expected: Mapping[str, Mark]
) -> None:
    facts = DatabaseFacts(version=version, size_bytes=8_000_000, vector_installed=vector)
    lines = database(facts, embedded=True, cpu=cpu(tmp_path, flags))
    assert marks(lines) == expected
    assert all(line.cure for line in lines if line.mark is not OK)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, []),
        ({"memory_shortcircuit_embedding": "hash-2"}, []),
        ({"memory_shortcircuit_distance": 0.15}, [BAD]),
        (
            {"memory_shortcircuit_distance": 0.15, "memory_shortcircuit_embedding": "hash-1"},
            [BAD],
        ),
        ({"memory_shortcircuit_distance": 0.15, "memory_shortcircuit_embedding": "hash-2"}, [OK]),
    ],
)
def test_a_distance_for_another_embedding_is_a_fault(
    rule: Mapping[str, object], expected: list[Mark]
) -> None:
    lines = short_circuit(TriageRule.model_validate(rule), "hash-2")
    assert [line.mark for line in lines] == expected
    assert all(line.cure for line in lines if line.mark is BAD)


async def of_prometheus(double: MetricsDouble) -> list[Line]:
    async with serve(double.app) as url:
        own = ClientSettings(prometheus=BackendSettings(url=url))
        backends = connect(own, SystemClock(), "alertmanager")
        assert backends.metrics is not None
        try:
            return await prometheus(backends.metrics, url, SystemClock())
        finally:
            await backends.close()


async def test_a_whole_prometheus_is_all_ticks() -> None:
    double = MetricsDouble(now)
    double.plant("up", {"job": "a"}, 1.0)
    double.plant("up", {"job": "b"}, 0.0)
    double.plant("kube_pod_info", {"pod": "p"})
    lines = await of_prometheus(double)
    assert set(marks(lines).values()) == {OK}
    assert of(lines, "targets").said == "1 of 2 up"


async def test_a_clock_that_is_off_and_what_is_not_scraped_are_told() -> None:
    double = MetricsDouble(lambda: now() - timedelta(minutes=3))
    lines = await of_prometheus(double)
    assert marks(lines) == {
        "prometheus": OK, "targets": BAD, "clock": BAD, "rules": OK, "kube-state-metrics": ABSENT,
    }  # fmt: skip
    assert "-180 s" in of(lines, "clock").said


async def test_a_prometheus_nobody_reaches_is_one_line() -> None:
    own = ClientSettings(prometheus=BackendSettings(url="http://127.0.0.1:1"))
    backends = connect(own, SystemClock(), "alertmanager")
    assert backends.metrics is not None
    (line,) = await prometheus(backends.metrics, "http://127.0.0.1:1", SystemClock())
    await backends.close()
    assert line.mark is BAD
    assert "http://127.0.0.1:1" in line.said
    assert "no metrics" in line.costs


async def test_deploys_are_readable_where_something_carries_a_version() -> None:
    double = MetricsDouble(now)
    found = []
    async with serve(double.app) as url:
        own = ClientSettings(prometheus=BackendSettings(url=url))
        backends = connect(own, SystemClock(), "alertmanager")
        assert backends.metrics is not None
        found.append(await deploys_readable(backends.metrics.http))
        double.plant("app_build_info", {"version": "1"})
        found.append(await deploys_readable(backends.metrics.http))
        await backends.close()
    assert found == [False, True]


def alertmanager_app(config: str) -> Starlette:
    row = {
        "labels": {"alertname": "Down"},
        "annotations": {},
        "startsAt": now().isoformat(),
        "status": {"state": "active"},
    }

    async def alerts(_: object) -> Response:
        return JSONResponse([row])

    async def status(_: object) -> Response:
        return JSONResponse({"config": {"original": config}})

    return Starlette(routes=[Route("/api/v2/alerts", alerts), Route("/api/v2/status", status)])


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("route: {receiver: x}", "4h, under the stale time of 6h"),
        ("route: {receiver: x, routes: [{repeat_interval: 12h}]}", "12h, not under"),
        ("route: {receiver: x, repeat_interval: 1h30m}", "90m, under"),
        ("- nonsense", "not told"),
    ],
)
async def test_how_often_alertmanager_repeats_is_held_against_the_stale_time(
    config: str, said: str
) -> None:
    async with serve(alertmanager_app(config).router) as url:
        own = ClientSettings(alertmanager=BackendSettings(url=url))
        backends = connect(own, SystemClock(), "alertmanager")
        lines, firing = await alertmanager(backends, url, 6 * 3600)
        await backends.close()
    assert of(lines, "alertmanager").said.startswith("1 firing")
    assert of(lines, "repeat_interval").said.startswith(said)
    assert [alert.rule for alert in firing] == ["Down"]


def test_a_route_that_says_nothing_repeats_as_the_one_above_it() -> None:
    route: dict[str, Any] = {
        "repeat_interval": "1w",
        "routes": [{"receiver": "y"}, {"repeat_interval": "5m"}],
    }
    assert list(repeats_of(route, 0)) == [604_800, 604_800, 300]


TOKEN = {"webhook_token": "sender-token-0123456789"}


@pytest.mark.parametrize(
    ("given", "mark", "said"),
    [
        ({}, ABSENT, "no token"),
        (TOKEN, ABSENT, "this machine only"),
        (TOKEN | {"http": {"host": "0.0.0.0"}}, OK, "http://0.0.0.0:9190/webhooks/alertmanager"),
        (TOKEN | {"http": {"public_url": "https://c.example/"}}, OK, "https://c.example/webhooks"),
    ],
)
def test_the_webhook_line(given: Mapping[str, Any], mark: Mark, said: str) -> None:
    settings = Settings.model_validate(given)
    line = webhook(settings, settings)
    assert line.mark is mark
    assert said in line.said


def test_the_receiver_to_paste_goes_on_to_others_and_masks_the_token() -> None:
    text = receiver(Settings.model_validate(TOKEN))
    assert "continue: true" in text
    assert "sender-token" not in text


async def of_slack(double: SlackDouble, *channels: str, **tokens: Any) -> list[Line]:
    async with double.serving() as url:
        given = {"bot_token": double.token, "base_url": f"{url}/api/"} | tokens
        return await slack(SlackSettings.model_validate(given), channels)


async def test_slack_with_every_scope_knows_its_channels() -> None:
    double = SlackDouble(now, scopes=START, app_token="xapp-1")
    double.channel("C1")
    double.channel("C2", joined=False)
    lines = await of_slack(double, "#c1", "#c2", "#c3", app_token="xapp-1")
    assert marks(lines) == {
        "slack": OK, "slack scopes": ABSENT, "slack app token": OK,
        "slack #c1": OK, "slack #c2": BAD, "slack #c3": BAD,
    }  # fmt: skip
    assert of(lines, "slack #c2").cure == "/invite @caveat there"


async def test_slack_without_presses_needs_less_and_says_what_it_cannot_tell() -> None:
    cards_only = START - {"users:read", "channels:read", "groups:read"}
    lines = await of_slack(SlackDouble(now, scopes=cards_only), "#c1")
    assert marks(lines) == {
        "slack": OK, "slack scopes": ABSENT, "slack app token": ABSENT, "slack rooms": ABSENT,
    }  # fmt: skip


async def test_without_the_scope_for_files_only_charts_are_off() -> None:
    held = [scope for scope in START if scope != "files:write"]
    line = of(await of_slack(SlackDouble(now, scopes=held)), "slack scopes")
    assert (line.mark, line.costs) == (ABSENT, "charts are off")


async def test_a_scope_without_which_cards_fail_is_a_cross() -> None:
    line = of(await of_slack(SlackDouble(now, scopes=["chat:write"])), "slack scopes")
    assert line.mark is BAD
    assert "files:write" in line.said


async def test_presses_and_user_groups_need_scopes_of_their_own() -> None:
    own = {"app_token": "xapp-rehearsal"}
    double = SlackDouble(now, scopes=START - {"users:read"})
    said = of(await of_slack(double, **own), "slack scopes").said
    groups = of(
        await of_slack(SlackDouble(now, scopes=START), usergroups={"S1": []}), "slack scopes"
    )
    assert (said, groups.said) == ("missing: users:read", "missing: usergroups:read")


@pytest.mark.parametrize(
    ("tokens", "mark", "said"),
    [
        ({"app_token": "xapp-rehearsal"}, OK, "opens a socket"),
        ({"app_token": "xapp-other"}, BAD, "opens no socket: invalid_auth"),
        ({"app_token": "xoxb-rehearsal"}, BAD, "does not begin with xapp-"),
        ({"signing_secret": "s"}, OK, "HTTP mode"),
    ],
)
async def test_the_line_of_slacks_app_token(
    tokens: Mapping[str, str], mark: Mark, said: str
) -> None:
    line = of(await of_slack(SlackDouble(now), **tokens), "slack app token")
    assert line.mark is mark
    assert said in line.said


async def test_a_dead_slack_token_and_a_room_without_one_are_crosses() -> None:
    double = SlackDouble(now)
    double.dead_token = "token_revoked"
    (dead,) = await of_slack(double)
    (none,) = await slack(SlackSettings(), ["#ops"])
    (unused,) = await slack(SlackSettings(), [])
    assert (dead.mark, none.mark, unused.mark) == (BAD, BAD, ABSENT)
    assert "token_revoked" in dead.said


async def test_slack_that_is_not_reachable_is_a_cross() -> None:
    given = {"bot_token": "xoxb-1", "base_url": "http://127.0.0.1:1/api/"}
    (line,) = await slack(SlackSettings.model_validate(given), [])
    assert line.mark is BAD


async def of_telegram(double: TelegramDouble, *rooms: RoomSettings) -> list[Line]:
    async with serve(double.app) as url:
        given = {"token": double.token, "base_url": f"{url}/bot"}
        return await telegram(TelegramSettings.model_validate(given), rooms)


async def test_telegram_tells_privacy_mode_topics_and_standing() -> None:
    double = TelegramDouble(now)
    double.chat(-1001).topics[12] = True
    double.chat(-1002)
    double.chat(-1003).standing = "left"
    double.chat(-1004).standing = "restricted"
    rooms = [
        RoomSettings(telegram=-1001, topic=12),
        RoomSettings(telegram=-1002, topic=5),
        RoomSettings(telegram=-1003),
        RoomSettings(telegram=-1004),
    ]
    lines = await of_telegram(double, *rooms)
    assert marks(lines) == {
        "telegram": OK, "telegram privacy": OK, "telegram updates": OK,
        "telegram -1001": OK, "telegram -1002": BAD, "telegram -1003": BAD,
        "telegram -1004": BAD,
    }  # fmt: skip
    assert "on:" in of(lines, "telegram privacy").said
    assert "no topics" in of(lines, "telegram -1002").said


async def test_a_webhook_telegram_cannot_reach_is_a_cross() -> None:
    double = TelegramDouble(now)
    double.updates.webhook = "https://caveat.example/telegram"
    double.updates.last_error = "Connection refused"
    assert "polled" in of(await of_telegram(double), "telegram updates").said
    async with serve(double.app) as url:
        given = {"token": double.token, "base_url": f"{url}/bot", "webhook_secret": "x" * 16}
        lines = await telegram(TelegramSettings.model_validate(given), [])
    assert marks(lines)["telegram updates"] is BAD


async def test_a_telegram_token_that_is_refused_or_missing_is_told() -> None:
    async with serve(TelegramDouble(now).app) as url:
        given = {"token": "1:wrong", "base_url": f"{url}/bot"}
        (refused,) = await telegram(TelegramSettings.model_validate(given), [])
    (missing,) = await telegram(TelegramSettings(), [RoomSettings(telegram=1)])
    (unused,) = await telegram(TelegramSettings(), [])
    assert (refused.mark, missing.mark, unused.mark) == (BAD, BAD, ABSENT)


@pytest.mark.parametrize(
    ("given", "mark", "said"),
    [
        ({}, ABSENT, "no key"),
        ({"model": {"api_key": "k"}}, OK, "3 and 15 USD assumed"),
        ({"model": {"api_key": "k"}, "triage": {"model": "mystery-1"}}, BAD, "no price"),
        (
            {"model": {"api_key": "k", "price_per_mtok": [1, 2]}, "triage": {"model": "mystery-1"}},
            OK,
            "1 and 2 USD as you set",
        ),
    ],
)
def test_the_model_line(given: Mapping[str, Any], mark: Mark, said: str) -> None:
    (line,) = model(Settings.model_validate(given))
    assert line.mark is mark
    assert said in line.said


class Used(Frozen):
    usd: float
    tokens: int = 10


@pytest.mark.parametrize(
    ("usd", "investigates", "mark"), [(1, True, OK), (5, True, BAD), (0, False, ABSENT)]
)
def test_the_budget_line(usd: float, investigates: bool, mark: Mark) -> None:
    assert budget(ClientSettings(), Used(usd=usd), investigates=investigates).mark is mark


@pytest.mark.parametrize(
    ("sources", "read", "mark"), [(2, False, OK), (0, True, OK), (0, False, ABSENT)]
)
def test_the_changes_line(sources: int, read: bool, mark: Mark) -> None:
    assert changes(sources, from_metrics=read).mark is mark


async def of_loki(double: LokiDouble, url: str | None = None, **matchers: str) -> Line:
    async with serve(double.app) as served:
        at = url or served
        own = ClientSettings(loki=BackendSettings(url=at, extra_matchers=matchers))
        backends = connect(own, SystemClock(), "alertmanager")
        assert backends.logs is not None
        line = await loki(backends.logs.tool, at, backends.logs.matchers)
        await backends.close()
    return line


def written(fault: Fault | None = None) -> LokiDouble:
    double = LokiDouble(broken=fault)
    double.plant({"app": "a", "pod": "a-1"})
    return double


@pytest.mark.parametrize(("double", "matchers", "mark", "said", "cure"), [
    (written(), {"app": "a"}, OK, "2 labels", ""),
    (written(), {"tenant": "a"}, BAD, "no line", "loki.extra_matchers"),
    (LokiDouble(), {}, BAD, "no lines of the last hours", "ships logs"),
    (written(answer(401, "no org id")), {}, BAD, "HTTP 401", "loki.bearer_file, basic_file or"),
    (written(answer(429, "limit")), {}, BAD, "HTTP 429", "limits"),
    (written(answer(404, "no")), {}, BAD, "HTTP 404", "base"),
    (written(bad_gateway()), {}, BAD, "HTTP 502", "own log"),
    (written(Answer(200, "<html>")), {}, BAD, "not as one should", "base"),
    (written(ReplyLost()), {}, BAD, "not reachable", "curl"),
])  # fmt: skip
async def test_the_loki_line(
    double: LokiDouble, matchers: Mapping[str, str], mark: Mark, said: str, cure: str
) -> None:
    line = await of_loki(double, **matchers)
    assert line.mark is mark
    assert said in line.said
    assert cure in line.cure
    assert bool(line.costs) is (mark is BAD)


async def test_an_address_that_speaks_no_tls_has_a_cure_of_its_own() -> None:
    async with serve(written().app) as url:
        line = await of_loki(written(), url.replace("http:", "https:"))
    assert "no trusted connection (TLS: " in line.said
    assert "loki.ca_file" in line.cure


async def of_kubernetes(
    double: KubernetesDouble, tmp_path: Path, *, token: str = TOKEN_OF_CLUSTER, **matchers: str
) -> Line:
    (tmp_path / "token").write_text(token)
    async with serve(double.app) as url:
        own = ClientSettings(
            kubernetes=BackendSettings(
                url=url, bearer_file=tmp_path / "token", extra_matchers=matchers
            )
        )
        backends = connect(own, SystemClock(), "alertmanager")
        assert backends.kubernetes is not None
        line = await kubernetes(backends.kubernetes.tool, url, matchers.get("namespace"))
        await backends.close()
    return line


async def test_a_cluster_that_lets_its_events_be_listed_is_a_tick(tmp_path: Path) -> None:
    everywhere = await of_kubernetes(KubernetesDouble(), tmp_path)
    one = await of_kubernetes(KubernetesDouble(allowed=("shop",)), tmp_path, namespace="shop")
    assert (everywhere.mark, one.mark) == (OK, OK)
    assert everywhere.said.startswith("v1.31.2 at http://127.0.0.1")
    assert everywhere.said.endswith("in every namespace")
    assert one.said.endswith("in namespace shop")


async def test_a_login_and_a_verb_that_are_missing_are_two_cures(tmp_path: Path) -> None:
    stale = await of_kubernetes(KubernetesDouble(), tmp_path, token="stale")
    assert (stale.mark, "kubernetes.bearer_file" in stale.cure) == (BAD, True)
    forbidden = await of_kubernetes(KubernetesDouble(allowed=("shop",)), tmp_path)
    assert forbidden.mark is BAD
    assert 'cannot list resource "events"' in forbidden.said
    assert "ClusterRole with the verb list on events" in forbidden.cure
    assert "kubernetes.extra_matchers" in forbidden.cure
    held = await of_kubernetes(KubernetesDouble(allowed=("shop",)), tmp_path, namespace="own")
    assert "a Role with the verb list on events" in held.cure


@pytest.mark.parametrize(("content", "mark", "said"), [
    ("[{subject: n1, control: c, status: failed, at: 2026-11-29}]", OK, "1 facts"),
    ("[]", BAD, "no facts"),
    ("{a: 1}", BAD, "not a list of facts"),
    (None, BAD, "FileNotFoundError"),
])  # fmt: skip
async def test_the_compliance_line(
    tmp_path: Path, content: str | None, mark: Mark, said: str
) -> None:
    path = tmp_path / "facts.yaml"
    if content is not None:
        path.write_text(content)
    line = await compliance(ComplianceFile(path, SystemClock()), path)
    assert line.mark is mark
    assert said in line.said
    assert bool(line.cure) is (mark is BAD)


async def test_a_zabbix_in_every_state_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN_OF_ZABBIX)
    seen = []
    for double in (
        ZabbixDouble(machines=[Machine("1", "web1", ["Web"])]),
        ZabbixDouble(),
        ZabbixDouble(version=(5, 0)),
        ZabbixDouble(broken=answer(403, {})),
    ):
        async with serve(double.app) as url:
            reached = BackendSettings(url=url, bearer_file=tmp_path / "token")
            hosts = connect(ClientSettings(zabbix=reached), SystemClock(), "x")
            assert hosts.hosts is not None
            seen.append(await zabbix(hosts.hosts, url))
            await hosts.close()
    assert [line.mark for line in seen] == [OK, BAD, BAD, BAD]
    assert [line.cure.split(" ")[0] for line in seen] == ["", "give", "update", "give"]
    assert all(line.costs for line in seen[1:])


async def test_what_is_not_set_up_says_what_it_costs(tmp_path: Path) -> None:
    unset = Settings.model_validate({"database_url": "postgresql://u@127.0.0.1:1/x",
                                     "home": tmp_path})  # fmt: skip
    lines = await lines_of(unset)
    for part in ("prometheus", "loki", "kubernetes", "compliance", "zabbix", "alertmanager"):
        assert of(lines, part).mark is ABSENT
        assert of(lines, part).costs, part


def test_hosts_that_alerts_link_to_and_nobody_listed_are_named() -> None:
    alert = Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=Severity.CRITICAL,
        labels={"alertname": "Down"},
        annotations={"runbook_url": "https://wiki.example/x", "summary": "see https://ok.example/"},
        generator_url="http://prom.example:9090/graph",
        starts_at=now(),
    )
    settings = Settings.model_validate(
        {
            "links": {"hosts": ["ok.example"]},
            "prometheus": {"url": "http://10.0.0.1:9090", "public_url": "http://prom.example:9090"},
        }
    )
    line = links(settings, settings, [alert])
    assert (line.mark, line.said) == (ABSENT, "not listed: wiki.example")
    assert links(settings, settings, []).mark is OK


async def test_a_database_that_is_down_is_a_cross_and_the_rest_is_checked(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"database_url": "postgresql://nobody:hidden@127.0.0.1:1/caveat", "home": tmp_path}
    )
    lines = await lines_of(settings)
    found = marks(lines)
    assert found["database"] is BAD
    assert {"prometheus", "alertmanager", "webhook", "slack", "telegram", "model"} <= set(found)
    assert "hidden" not in of(lines, "database").said


async def test_every_part_is_asked_with_a_database(shared_database: str, tmp_path: Path) -> None:
    url = shared_database.replace("postgresql+psycopg", "postgresql")
    settings = Settings.model_validate({"database_url": url, "home": tmp_path})
    found = marks(await lines_of(settings))
    assert found["database"] is OK
    assert {"changes", "budget"} <= set(found)


def test_the_table_prints_texts_as_they_are_and_masks_them() -> None:
    console = Console(file=io.StringIO(), width=100)
    line = Line(part="x", mark=BAD, said="[red]said[/red] secret", cure="do it", costs="all")
    console.print(table([line], lambda text: text.replace("secret", "***")))
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "[red]said[/red] ***" in said
    assert "→ do it" in said
    assert "without it: all" in said


async def test_pagers_are_reached_without_paging_anybody() -> None:
    double = PagerDutyDouble()
    async with serve(double.app) as url:
        pagers = {
            "pd": {"kind": "pagerduty", "url": url},
            "away": {"kind": "webhook", "url": "http://127.0.0.1:9/hook"},
        }
        told = OncallSettings.model_validate(
            {
                "routes": [{"pagers": ["pd", "away"]}],
                "pagers": pagers,
                "secrets": {"pd": double.routing_key, "away": "key"},
            }
        )
        lines = await paging(told, enabled=True)
        off = await paging(told, enabled=False)
    assert [(line.part, line.mark) for line in lines] == [
        ("paging", OK), ("pager pd", OK), ("pager away", BAD),
    ]  # fmt: skip
    assert off[0].mark is ABSENT
    assert (double.tried, double.events) == (0, [])
    assert [line.mark for line in await paging(OncallSettings(), enabled=True)] == [ABSENT]
