"""`caveat serve` and `caveat worker`: the product at work."""

import asyncio
import logging
from pathlib import Path

from rich.console import Console

from bot.backends.late import preload
from bot.chats.table import chats
from bot.compose import House
from bot.config import Settings, load
from bot.database import database
from bot.declare import declare, retire
from bot.logs import set_up_logs
from bot.serve import Running, on_signals
from engine.redact import Redactor

log = logging.getLogger(__name__)


def serve(config: Path | None, *, front: bool) -> None:
    """Run until told to stop; exits 0 after a clean stop."""
    settings = load(config)
    set_up_logs(Redactor(settings.secrets))
    asyncio.run(_serve(settings, front=front))


async def _serve(settings: Settings, *, front: bool) -> None:
    if settings.model.api_key:
        preload()
    async with database(settings) as store:
        if front:
            await declare(store, settings)
            await retire(store, settings)
        running = Running(House(settings, store, chats(settings, Console())))
        on_signals(running.stop)
        async with running.work(front=front):
            for line in _greeting(settings, running.url if front else None):
                log.info(line)
            await running.stop.wait()
            log.info("stopping: letting running jobs end")
        if running.failed:
            raise SystemExit(1)


def _greeting(settings: Settings, url: str | None) -> list[str]:
    lines = [f"listening on {url}"] if url else ["working on jobs"]
    for client, own in settings.by_client.items():
        polled = f"polling {own.alertmanager.url}" if own.alertmanager else "no Alertmanager polled"
        rooms = ", ".join(r.slack or str(r.telegram) for r in own.rooms) or "this log"
        model = "with a model" if settings.model.api_key and own.ai_triage else "without a model"
        lines.append(f"{client}: {polled}; cards go to {rooms}; {model}")
    return lines
