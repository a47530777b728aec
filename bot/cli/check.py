"""`caveat check`: of every part, whether it works, or the one thing to do; no paid call."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.backends.clock import SystemClock
from bot.backends.hashing import HashedWords
from bot.backends.of_client import Backends, connect
from bot.chats.slack.manifest import create_link
from bot.cli.checks.alertmanager import alertmanager
from bot.cli.checks.alertmanager import not_configured as no_alertmanager
from bot.cli.checks.changes import changes
from bot.cli.checks.compliance import compliance
from bot.cli.checks.compliance import not_configured as no_compliance
from bot.cli.checks.database import database as database_lines
from bot.cli.checks.kubernetes import kubernetes
from bot.cli.checks.kubernetes import not_configured as no_kubernetes
from bot.cli.checks.line import Line, Mark, bad
from bot.cli.checks.links import links
from bot.cli.checks.loki import loki
from bot.cli.checks.loki import not_configured as no_loki
from bot.cli.checks.memory import short_circuit
from bot.cli.checks.model import budget, model
from bot.cli.checks.prometheus import deploys_readable, prometheus
from bot.cli.checks.prometheus import not_configured as no_prometheus
from bot.cli.checks.slack import slack
from bot.cli.checks.telegram import telegram
from bot.cli.checks.webhook import receiver, webhook
from bot.cli.checks.zabbix import not_configured as no_zabbix
from bot.cli.checks.zabbix import zabbix
from bot.config import ClientSettings, Settings, load
from bot.database import database
from engine.errors import StoreUnavailableError
from engine.model.alert import Alert
from engine.model.org import Flags
from engine.redact import Redactor
from storage.about import about
from storage.postgres.errors import EmbeddedPostgresError
from storage.store import SqlStore, SqlTx

STYLES = {Mark.OK: "green", Mark.BAD: "bold red", Mark.ABSENT: "yellow"}


def check(config: Path | None, console: Console | None = None) -> int:
    """Print a table; the exit status, 1 when anything that is set up does not work."""
    settings = load(config)
    lines = asyncio.run(lines_of(settings))
    shown = console or Console()
    masked = Redactor(settings.secrets).text
    shown.print(table(lines, masked))
    if settings.slack.bot_token is None:
        shown.print("Slack's app, made from its manifest:", style="bold")
        shown.print(create_link(), markup=False, highlight=False, soft_wrap=True)
    shown.print("Alertmanager's webhook, to paste:", style="bold")
    shown.print(receiver(settings), markup=False, highlight=False, soft_wrap=True)
    return int(any(line.mark is Mark.BAD for line in lines))


async def lines_of(settings: Settings) -> list[Line]:
    """Ask every part, one after the other."""
    async with _store(settings) as (store, found):
        lines = [*found, *short_circuit(settings.triage, HashedWords.name)]
        for client_id, own in settings.by_client.items():
            of_client = await _client(settings, client_id, own, store)
            several = len(settings.by_client) > 1
            lines += [_named(client_id, line) for line in of_client] if several else of_client
    rooms = [room for own in settings.by_client.values() for room in own.rooms]
    lines += await slack(settings.slack, list(dict.fromkeys(r.slack for r in rooms if r.slack)))
    lines += await telegram(settings.telegram, [r for r in rooms if r.telegram is not None])
    return [*lines, *model(settings)]


def _named(client_id: str, line: Line) -> Line:
    return line.model_copy(update={"part": f"{client_id}: {line.part}"})


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator[tuple[SqlStore | None, list[Line]]]:
    """The database and what is to say of it; without one the rest is checked all the same."""
    opening = database(settings)
    try:
        store = await opening.__aenter__()
    except (StoreUnavailableError, EmbeddedPostgresError) as error:
        cure = "check CAVEAT_DATABASE_URL, and that the server runs and knows this user"
        yield None, [bad("database", str(error), cure, "nothing works without it")]
        return
    try:
        async with store.begin() as tx:
            facts = await about(tx)
        yield store, database_lines(facts, embedded=settings.database_url is None)
    finally:
        await opening.__aexit__(None, None, None)


async def _client(
    settings: Settings, client_id: str, own: ClientSettings, store: SqlStore | None
) -> list[Line]:
    backends = connect(own, SystemClock(), "alertmanager")
    try:
        lines = await _metrics(backends, own)
        found, firing = await _alerts(settings, backends, own)
        lines += [*await _looked_up(backends, own), *found, webhook(settings, own)]
        if store is not None:
            lines += await _kept(store, client_id, own, backends)
        return [*lines, links(settings, own, firing)]
    finally:
        await backends.close()


async def _metrics(backends: Backends, own: ClientSettings) -> list[Line]:
    if backends.metrics is None or own.prometheus is None:
        return [no_prometheus()]
    return await prometheus(backends.metrics, own.prometheus.url, SystemClock())


async def _looked_up(backends: Backends, own: ClientSettings) -> list[Line]:
    """Backends of evidence beside metrics, each whether it is set up and what it lacks."""
    hosts, logs, cluster, facts = no_zabbix(), no_loki(), no_kubernetes(), no_compliance()
    if backends.hosts is not None and own.zabbix is not None:
        hosts = await zabbix(backends.hosts, own.zabbix.url)
    if backends.logs is not None and own.loki is not None:
        logs = await loki(backends.logs.tool, own.loki.url, backends.logs.matchers)
    if backends.kubernetes is not None and own.kubernetes is not None:
        held = backends.kubernetes.matchers.get("namespace")
        cluster = await kubernetes(backends.kubernetes.tool, own.kubernetes.url, held)
    if backends.compliance is not None and own.compliance_file is not None:
        facts = await compliance(backends.compliance, own.compliance_file)
    return [hosts, logs, cluster, facts]


async def _alerts(
    settings: Settings, backends: Backends, own: ClientSettings
) -> tuple[list[Line], Sequence[Alert]]:
    if own.alertmanager is None:
        return [no_alertmanager()], ()
    return await alertmanager(backends, own.alertmanager.url, settings.incident.stale_ttl_s)


async def _kept(
    store: SqlStore, client_id: str, own: ClientSettings, backends: Backends
) -> list[Line]:
    """What only the database knows: changes that were told, and money that was spent."""
    async with store.begin() as tx:
        sources = await tx.changes.sources(client_id)
        midnight = _midnight(await tx.now())
        spent = await tx.calls.spent(client_id, midnight)
        flags = await _flags(tx, client_id, own)
    read = backends.metrics is not None and await deploys_readable(backends.metrics.http)
    return [
        changes(sources, from_metrics=read),
        budget(own, spent, investigates=flags.ai_triage or flags.ai_triage_manual),
    ]


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


async def _flags(tx: SqlTx, client_id: str, own: ClientSettings) -> Flags:
    """Flags as they will be: the file's, else the database's, else the defaults."""
    try:
        known = (await tx.org.client(client_id)).flags
    except LookupError:
        known = Flags()
    declared = {name: value for name, value in own.flags.items() if name in Flags.model_fields}
    return known.model_copy(update=declared)


def table(lines: Sequence[Line], masked: Callable[[str], str]) -> Table:
    """The lines as one table; every text is a literal."""
    made = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for line in lines:
        told = Text(masked(line.said))
        if line.cure:
            told.append(f"\n→ {masked(line.cure)}", style="bold")
        if line.costs:
            told.append(f"\n  without it: {line.costs}", style="dim")
        made.add_row(Text(line.mark.value, style=STYLES[line.mark]), Text(line.part), told)
    return made
