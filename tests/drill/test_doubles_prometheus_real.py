"""The rehearsal metrics server against a real Prometheus that holds the same series."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from tests.drill.shop import plant

SAME = """
up
up{zone="x"}
up{zone!="x"}
{__name__=~"up|load",zone=~"x|y"}
gone
gone offset 20m
rate(http_requests_total[5m])
rate(http_requests_total[37s])
increase(http_requests_total[10m])
irate(http_requests_total[5m])
delta(load[10m])
idelta(load[10m])
deriv(load[10m])
predict_linear(load[10m], 600)
changes(up[1h])
resets(http_requests_total[1h])
avg_over_time(load[7m])
min_over_time(load[7m])
max_over_time(load[7m])
sum_over_time(load[7m])
count_over_time(load[7m])
last_over_time(load[7m])
stddev_over_time(load[7m])
quantile_over_time(0.9, load[7m])
present_over_time(gone[1h])
sum(load)
sum by (zone) (load)
avg without (instance) (load)
min(load)
max by (job, zone) (load)
count by (code) (http_requests_total)
stddev(load)
quantile(0.25, load)
topk(2, load)
bottomk(1, load)
count_values("state", up)
group by (zone) (up)
load > 4
load > bool 4
4 < load
load * 2 + 1
load ^ 2 % 3
-load
load / 0
load / on (instance) up
load / ignoring (code) up
up * on (instance) group_left (team) owner
owner * on (instance) group_right (team) load
up and on (instance) owner
up unless on (instance) owner
owner or up
up == on (instance) up
sum(rate(http_requests_total{code="500"}[5m])) / sum(rate(http_requests_total[5m]))
histogram_quantile(0.9, sum by (le) (rate(latency_bucket[5m])))
histogram_quantile(0.99, rate(latency_bucket[5m]))
histogram_quantile(0.01, rate(latency_bucket[5m]))
clamp(load, 3, 4)
clamp_min(load, 4)
clamp_max(load, 4)
absent(nothing{job="shop",zone=~"x"})
absent(up)
round(load, 0.5)
abs(load - 4)
ceil(load)
floor(load)
sqrt(load)
ln(load)
exp(load)
sgn(load - 4)
time() - 5
vector(7)
scalar(sum(up)) * load
label_replace(up, "pod", "p-$1", "instance", "(.*):.*")
label_join(up, "both", "/", "job", "zone")
max_over_time(sum(up)[30m:1m])
rate(sum by (job) (http_requests_total)[10m:30s])
hour()
day_of_week(vector(0))
sort_desc(load)
up{instance="b:9100"} == 0
sum(up) / count(up)
sum by (zone) (load) > 100
""".strip().splitlines()


def openmetrics(planted: list[tuple[str, dict[str, str], Any]]) -> str:
    """Write planted series in the text form that promtool makes blocks of."""
    lines: list[str] = []
    for name in dict.fromkeys(name for name, _, _ in planted):
        lines.append(f"# TYPE {name} unknown")
        for _, labels, source in (each for each in planted if each[0] == name):
            said = ",".join(f'{key}="{value}"' for key, value in labels.items())
            lines += [f"{name}{{{said}}} {value!r} {at:.0f}" for at, value in source]
    return "\n".join([*lines, "# EOF", ""])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@asynccontextmanager
async def real(folder: Path, text: str) -> AsyncIterator[str]:
    """Run a Prometheus that holds the series of `text`."""
    (folder / "series.om").write_text(text)
    (folder / "prometheus.yml").write_text("global: {}\n")
    blocks = ("tsdb", "create-blocks-from", "openmetrics", "--quiet")
    made = await asyncio.create_subprocess_exec(
        "promtool", *blocks, str(folder / "series.om"), str(folder / "tsdb"),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert await asyncio.wait_for(made.wait(), 30) == 0
    url = f"http://127.0.0.1:{free_port()}"
    server = await asyncio.create_subprocess_exec(
        "prometheus", f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address={url[7:]}",
        "--log.level=error", stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with httpx.AsyncClient(verify=False) as client:
            assert await is_ready(client, url)
        yield url
    finally:
        server.terminate()
        await server.wait()


async def is_ready(client: httpx.AsyncClient, url: str) -> bool:
    for _ in range(100):
        try:
            if (await client.get(f"{url}/-/ready")).status_code == 200:
                return True
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.1)
    return False


def canonical(data: Any) -> Any:
    """Make results comparable: rows by their labels, values as numbers."""
    if data["resultType"] == "scalar":
        return [((), [float(data["result"][1])])]
    rows = [
        (
            tuple(sorted(row["metric"].items())),
            [float(v) for _, v in row.get("values") or [row["value"]]],
        )
        for row in data["result"]
    ]
    return sorted(rows)


@pytest.mark.real
@pytest.mark.skipif(not shutil.which("promtool"), reason="no prometheus installed")
async def test_a_real_prometheus_says_the_same(tmp_path: Path) -> None:
    end = float(int(datetime.now(UTC).timestamp()) // 3600 * 3600 - 3600)
    double = MetricsDouble(lambda: datetime.now(UTC))
    text = openmetrics(plant(double, end))
    async with (
        serve(double.app) as ours,
        real(tmp_path, text) as theirs,
        httpx.AsyncClient(verify=False, timeout=20) as client,
    ):
        for query in SAME:
            for path, params in (
                ("query", {"query": query, "time": end - 7}),
                ("query_range", {"query": query, "start": end - 900, "end": end, "step": 70}),
            ):
                replies = [
                    (await client.get(f"{url}/api/v1/{path}", params=params)).json()["data"]
                    for url in (ours, theirs)
                ]
                mine, real_one = (canonical(reply) for reply in replies)
                assert [key for key, _ in mine] == [key for key, _ in real_one], query
                for (_, got), (_, wanted) in zip(mine, real_one, strict=True):
                    assert got == pytest.approx(wanted, rel=1e-9, nan_ok=True), query
