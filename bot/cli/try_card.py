"""`caveat try card`: an Alertmanager payload as the facts card it would become."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from bot.backends.clock import SystemClock
from bot.cli.errors import CommandError
from bot.cli.unstored import case_of, incidents_of, masked
from bot.sources.source import UnreadableError
from bot.sources.table import SOURCES
from cards.card import Card
from cards.draw import card as draw
from cards.render import markdown, slack, telegram, terminal
from engine.model.alert import Alert, AlertStatus
from engine.model.incident import Incident, IncidentState, MemberState
from engine.model.run import CaseFile
from engine.pack.section import Ports
from engine.redact import Redactor

SURFACES: Mapping[str, Callable[[Card], str]] = {
    "slack": lambda card: slack.render(card).model_dump_json(),
    "telegram": lambda card: telegram.render(card).model_dump_json(),
    "terminal": terminal.text,
    "markdown": markdown.render,
}


def run_card(to: str, body: bytes, now: datetime) -> str:
    """Draw the card of a notification; no backend is asked, so it holds the alerts only.

    Of several failures in one body the worst is drawn, as its card would be posted.

    Raises:
        CommandError: there is no such surface, or nothing of the body can be read.
    """
    surface = SURFACES.get(to)
    if surface is None:
        raise CommandError(f"no surface named {to!r}; there are {', '.join(SURFACES)}")
    return surface(draw(case_of_body(body, now), now, offered=()))


def case_of_body(body: bytes, now: datetime) -> CaseFile:
    """The case a notification makes, of the alerts alone.

    Raises:
        CommandError: nothing of the body can be read.
    """
    redactor = Redactor(())
    try:
        parsed = SOURCES["alertmanager"].parse(body, now)
    except UnreadableError as error:
        raise CommandError(error.reason) from None
    incident = _worst([masked(alert, redactor) for alert in parsed.alerts], now)
    if incident is None:
        raise CommandError("no card: only heartbeats and alerts of severity info, or none at all")
    incident = incident.model_copy(update={"truncated": parsed.truncated})
    return asyncio.run(case_of(incident, Ports(clock=SystemClock(), redact=redactor.text)))


def _worst(alerts: Sequence[Alert], now: datetime) -> Incident | None:
    """The worst failure that fires; where none does, the worst one that ended."""
    firing = [alert for alert in alerts if alert.firing_at(now)]
    if firing:
        return next(iter(incidents_of(firing, now).incidents), None)
    began = [a.model_copy(update={"status": AlertStatus.FIRING, "ends_at": None}) for a in alerts]
    ended = max((a.ends_at for a in alerts if a.ends_at), default=now)
    for incident in incidents_of(began, now).incidents:
        members = [m.model_copy(update={"state": MemberState.RESOLVED}) for m in incident.members]
        over = {"state": IncidentState.RESOLVED, "resolved_at": ended, "members": tuple(members)}
        return incident.model_copy(update=over)
    return None
