"""`caveat try card`: an Alertmanager payload as the facts card it would become."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from bot.backends.clock import SystemClock
from bot.cli.errors import CommandError
from bot.cli.unstored import case_of, incidents_of, masked
from bot.sources.source import UnreadableError
from bot.sources.table import SOURCES
from cards.card import Card
from cards.draw import card as draw
from cards.render import markdown, slack, telegram, terminal
from engine.model.run import CaseFile
from engine.pack.section import Ports
from engine.redact import Redactor

SURFACES: Mapping[str, Callable[[Card], str]] = {
    "slack": lambda card: slack.render(card).model_dump_json(indent=2),
    "telegram": lambda card: telegram.render(card).model_dump_json(indent=2),
    "terminal": terminal.text,
    "markdown": markdown.render,
}


def run_card(to: str, body: bytes) -> str:
    """Draw every card of one notification; no backend is asked, so it holds the alerts only.

    Raises:
        CommandError: there is no such surface, or nothing of the body can be read.
    """
    surface = SURFACES.get(to)
    if surface is None:
        raise CommandError(f"no surface named {to!r}; there are {', '.join(SURFACES)}")
    clock = SystemClock()
    now = clock.now()
    cases = asyncio.run(_cases(body, now, clock))
    return "\n".join(surface(draw(case, now)) for case in cases)


async def _cases(body: bytes, now: datetime, clock: SystemClock) -> list[CaseFile]:
    try:
        parsed = SOURCES["alertmanager"].parse(body, now)
    except UnreadableError as error:
        raise CommandError(error.reason) from None
    redactor = Redactor(())
    alerts = [masked(alert, redactor) for alert in parsed.alerts if alert.firing_at(now)]
    found = incidents_of(alerts, now)
    if not found.incidents:
        raise CommandError(
            "no card: nothing in it fires, or only heartbeats and alerts of severity info"
        )
    ports = Ports(clock=clock, redact=redactor.text)
    return [await case_of(incident, ports) for incident in found.incidents]
