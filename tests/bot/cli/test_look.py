"""`caveat look`: somebody's own alerts as cards, read-only, with nothing behind it."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.cli import look as looking
from bot.cli.errors import CommandError
from bot.cli.unstored import incidents_of
from bot.config import BackendSettings, ClientSettings, Settings
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from engine.model.alert import Alert, AlertStatus, Severity
from engine.redact import Redactor
from tests.real_prometheus import installed, sample_shop

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def alert(
    name: str, severity: Severity = Severity.CRITICAL, ago_s: float = 300, **labels: str
) -> Alert:
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=severity,
        labels={"alertname": name, **labels},
        starts_at=NOW - timedelta(seconds=ago_s),
    )


def test_alerts_that_fell_together_are_one_incident_and_those_days_apart_are_not() -> None:
    found = incidents_of(
        [
            alert("HighErrorRate", namespace="shop", service="checkout"),
            alert("HighLatency", namespace="shop", service="checkout", ago_s=280),
            alert("QueueLong", namespace="shop", service="checkout", ago_s=3 * 86_400),
        ],
        NOW,
    )
    assert [sorted(g.rule for g in i.groups) for i in found.incidents] == [
        ["HighErrorRate", "HighLatency"],
        ["QueueLong"],
    ]


def test_the_worst_comes_first_and_what_makes_no_card_is_counted() -> None:
    found = incidents_of(
        [
            alert("DiskFills", Severity.WARNING, namespace="a", service="x"),
            alert("Down", namespace="b", service="y"),
            alert("Watchdog", Severity.UNKNOWN),
            alert("Deployed", Severity.INFO, namespace="c", service="z"),
        ],
        NOW,
    )
    assert [i.lead.alert.rule for i in found.incidents] == ["Down", "DiskFills"]
    assert (found.heartbeats, found.silent) == (1, 1)


def row(name: str, **labels: str) -> dict[str, Any]:
    started = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
    return {
        "labels": {"alertname": name, "severity": "critical", **labels},
        "annotations": {"summary": f"{name} is bad"},
        "startsAt": started,
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": "0" * 16,
        "status": {"state": "active", "inhibitedBy": [], "silencedBy": []},
    }


def alertmanager(rows: list[dict[str, Any]], status: int = 200) -> Starlette:
    async def alerts(_: object) -> Response:
        return JSONResponse(rows, status)

    return Starlette(routes=[Route("/api/v2/alerts", alerts)])


def screen() -> Console:
    return Console(file=io.StringIO(), width=100)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def looked(limit: int = 5, **urls: str) -> str:
    own = ClientSettings(**{k: BackendSettings(url=url) for k, url in urls.items()})  # type: ignore[arg-type]
    console = screen()
    await looking._look(Settings(), own, limit, Redactor(()), console)
    return said(console)


async def test_only_the_worst_few_are_drawn_and_the_rest_is_counted() -> None:
    rows = [row(f"Rule{n}", namespace=f"n{n}", service=f"s{n}") for n in range(7)]
    for n, one in enumerate(rows):
        one["startsAt"] = (datetime.now(UTC) - timedelta(hours=n + 1)).isoformat()
    async with serve(alertmanager(rows).router) as url:
        text = await looked(2, alertmanager=url)
    assert "Rule0" in text
    assert "Rule5" not in text
    assert "5 more (--limit shows them); 7 alerts firing, 7 incidents" in text


async def test_prometheus_alone_is_enough_and_is_only_read() -> None:
    double = MetricsDouble(lambda: datetime.now(UTC))
    double.plant("up", {"namespace": "shop", "service": "checkout"})
    active = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
    labels = {
        "alertname": "CheckoutDown",
        "severity": "critical",
        "namespace": "shop",
        "service": "checkout",
    }
    double.alerts = [
        {"labels": labels, "annotations": {}, "state": "firing", "activeAt": active, "value": "1"},
        {
            "labels": labels | {"alertname": "Waits"},
            "annotations": {},
            "state": "pending",
            "activeAt": active,
        },
    ]
    async with serve(double.app) as url:
        text = await looked(prometheus=url)
    assert "CheckoutDown" in text
    assert "Waits" not in text
    assert "1 alert firing, 1 incident" in text
    assert {endpoint for endpoint, _ in double.asked} <= {
        "alerts", "rules", "query", "query_range", "series", "labels", "values", "metadata",
        "status/buildinfo", "status/flags", "targets", "format_query",
    }  # fmt: skip


async def test_a_secret_in_a_label_is_not_shown() -> None:
    rows = [row("Leak", namespace="n", service="s", token="ghp_" + "a1B2" * 9)]
    async with serve(alertmanager(rows).router) as url:
        text = await looked(alertmanager=url)
    assert "ghp_" not in text


async def test_nothing_firing_is_said_plainly() -> None:
    async with serve(alertmanager([]).router) as url:
        assert "Nothing fires." in await looked(alertmanager=url)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, "bearer_file"), (404, "base"), (500, "own log")],
)
async def test_a_refusal_names_the_address_and_what_to_check(status: int, expected: str) -> None:
    async with serve(alertmanager([], status).router) as url:
        with pytest.raises(CommandError, match=expected) as caught:
            await looked(alertmanager=url)
    assert f"Alertmanager at {url}: answers HTTP {status}" in str(caught.value)


async def test_an_address_nobody_listens_on_is_named() -> None:
    with pytest.raises(CommandError, match=r"Alertmanager at http://127.0.0.1:1: not reachable"):
        await looked(alertmanager="http://127.0.0.1:1")


async def test_without_metrics_the_cards_are_drawn_all_the_same() -> None:
    rows = [row("Down", namespace="n", service="s")]
    async with serve(alertmanager(rows).router) as url:
        text = await looked(alertmanager=url, prometheus="http://127.0.0.1:1")
    assert "Prometheus at http://127.0.0.1:1: not reachable" in text
    assert "Down" in text


def test_without_any_address_it_says_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="give --prometheus URL"):
        looking.look(looking.Asked())


@pytest.mark.real
@pytest.mark.skipif(not installed(), reason="needs Debian's Prometheus and Alertmanager")
def test_a_real_pair_is_read(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    console = screen()
    with sample_shop(tmp_path, shared / "sample", with_alertmanager=True) as shop:
        assert shop.alertmanager_url is not None
        asked = looking.Asked(shop.prometheus_url, shop.alertmanager_url)
        for _ in range(30):
            console = screen()
            looking.look(asked, console)
            if "CheckoutHighErrorRate" in said(console):
                break
    assert "CheckoutHighErrorRate" in said(console)
