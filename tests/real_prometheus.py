"""The sample shop on real binaries: exporter, Prometheus and Alertmanager on loopback.

Other tests use it as `with sample_shop(folder, shared / "sample") as shop:`.
"""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

PROMETHEUS = Path("/usr/bin/prometheus")
ALERTMANAGER = Path("/usr/bin/prometheus-alertmanager")
READY_S = 20
STOP_S = 5


@dataclass(frozen=True)
class Shop:
    """Where the running parts are."""

    prometheus_url: str
    alertmanager_url: str | None
    exporter_pid: int
    prometheus_pid: int


def installed() -> bool:
    """Whether the Debian packages are here."""
    return PROMETHEUS.exists() and ALERTMANAGER.exists()


def free_port() -> int:
    """Give a loopback port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def sample_shop(
    folder: Path,
    sample: Path,
    *,
    webhook_url: str | None = None,
    with_alertmanager: bool = False,
    exporter: Path | None = None,
    firing: str | None = "CheckoutHighErrorRate",
    rules: Path | None = None,
) -> Iterator[Shop]:
    """Run the shop; ready means that the named alert fires. Everything ends with the block."""
    ports = {name: free_port() for name in ("exporter", "prometheus", "alertmanager")}
    _configure(folder, rules or sample / "rules.yml", ports, webhook_url)
    prometheus = f"http://127.0.0.1:{ports['prometheus']}"
    alertmanager = f"http://127.0.0.1:{ports['alertmanager']}"
    with_alertmanager = with_alertmanager or webhook_url is not None
    script = str(exporter or sample / "exporter.py")
    with ExitStack() as stack:
        started = stack.enter_context(
            _run([sys.executable, script, str(ports["exporter"])], folder)
        )
        if with_alertmanager:
            stack.enter_context(_run(_alertmanager(folder, ports["alertmanager"]), folder))
            _wait(alertmanager + "/-/ready", lambda reply: reply.status_code == httpx.codes.OK)
        server = stack.enter_context(_run(_prometheus(folder, ports["prometheus"]), folder))
        _wait(prometheus + "/-/ready", lambda reply: reply.status_code == httpx.codes.OK)
        if firing is not None:
            _wait(prometheus + "/api/v1/alerts", lambda reply: _fires(reply, firing))
        shown = alertmanager if with_alertmanager else None
        yield Shop(prometheus, shown, started.pid, server.pid)


def _fires(reply: httpx.Response, name: str) -> bool:
    alerts = reply.json()["data"]["alerts"]
    return any(a["labels"]["alertname"] == name and a["state"] == "firing" for a in alerts)


def _configure(folder: Path, rules: Path, ports: dict[str, int], webhook_url: str | None) -> None:
    (folder / "rules.yml").write_text(rules.read_text())
    alertmanagers = f'[{{static_configs: [{{targets: ["127.0.0.1:{ports["alertmanager"]}"]}}]}}]'
    (folder / "prometheus.yml").write_text(
        f"""global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml]
alerting: {{alertmanagers: {alertmanagers}}}
scrape_configs:
  - job_name: shop
    honor_labels: true
    static_configs: [{{targets: ["127.0.0.1:{ports["exporter"]}"]}}]
  - job_name: prometheus
    static_configs: [{{targets: ["127.0.0.1:{ports["prometheus"]}"]}}]
"""
    )
    hook = f", webhook_configs: [{{url: '{webhook_url}'}}]" if webhook_url else ""
    (folder / "alertmanager.yml").write_text(
        f"""route: {{receiver: all, group_by: [alertname, service], group_wait: 1s}}
receivers: [{{name: all{hook}}}]
"""
    )


def _prometheus(folder: Path, port: int) -> list[str]:
    return [
        str(PROMETHEUS), f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn", "--web.console.templates=/nonexistent",
    ]  # fmt: skip


def _alertmanager(folder: Path, port: int) -> list[str]:
    return [
        str(ALERTMANAGER), f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'am'}", f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=", "--log.level=warn",
    ]  # fmt: skip


@contextmanager
def _run(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(url: str, ready: Callable[[httpx.Response], bool]) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        try:
            reply = httpx.get(url, timeout=1, trust_env=False)
            if ready(reply):
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise TimeoutError(url)
