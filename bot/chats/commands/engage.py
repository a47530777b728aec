"""`engage QUESTION`: what may be asked here, an incident, or a question of one's own."""

import re
from datetime import timedelta

from bot.chats.arrival import Reply, Shown, Told
from bot.chats.commands.command import Command, Spoken
from bot.chats.commands.help_ import help_
from cards import draw, talk
from engine.budget import day_start, exhausted
from engine.inquiries.choosing import look
from engine.inquiries.reading import scopes, window
from engine.model.base import digest
from engine.model.desk import Membership
from engine.model.incident import Incident
from engine.model.inquiry import Inquiry, InquiryState
from engine.model.org import Client, Platform

MOST_TEXT = 500
MOST_ASKED = 6
WINDOW = timedelta(minutes=10)
"""One account may ask so often within it."""
_NUMBER = re.compile(r"(?:incident\s+)?#?(\d{1,9})\s*", re.IGNORECASE)


async def engage(spoken: Spoken) -> Reply | None:
    """Go through the gates, in their order, then look."""
    refused = _gate(spoken)
    if refused is not None:
        spoken.install.count(refused)
        return _refusal(spoken, refused)
    asked = " ".join(spoken.rest.split())[:MOST_TEXT]
    if not asked:
        return await help_(spoken)
    number = _NUMBER.fullmatch(asked)
    if number is not None:
        return await _incident(spoken, number[1])
    return await _question(spoken, asked)


def _gate(spoken: Spoken) -> str | None:
    """Say which gate holds; investigation being on stands for none of the others."""
    if spoken.room is None:
        return "not_bound"
    if not spoken.askable:
        return "empty_room"
    person = spoken.actor.person
    known = spoken.actor.membership is Membership.FULL and (person is None or person.active)
    return None if known else "unknown_person"


def _refusal(spoken: Spoken, gate: str) -> Reply | None:
    """A room nothing may be asked in is silent in Telegram: nobody there expects a bot."""
    quiet = spoken.arrival.identity.platform is Platform.TELEGRAM
    if gate == "unknown_person":
        return Told(line=talk.GUEST)
    return None if quiet else Told(line=talk.NOTHING_HERE)


async def _incident(spoken: Spoken, number: str) -> Reply:
    for client in spoken.askable:
        incident = await spoken.tx.incidents.named(client.id, number)
        case = None if incident is None else await spoken.tx.case(incident.id)
        if case is not None:
            spoken.install.count("answered")
            return Shown(card=draw.card(case, spoken.now, offered=()))
    spoken.install.count("out_of_scope")
    return Told(line=talk.no_incident(number))


async def _question(spoken: Spoken, asked: str) -> Reply | None:
    if await _too_many(spoken):
        spoken.install.count("rate_limited")
        return Told(line=talk.too_often(MOST_ASKED, WINDOW.total_seconds()))
    place = await _placed(spoken, asked)
    client = next(c for c in spoken.askable if c.id == place.client_id)
    if place.state is InquiryState.WAITING and await _spent(spoken, client):
        spoken.install.count("budget")
        return Told(line=talk.BUDGET)
    known = await _already_found(spoken, place)
    if known is not None:
        spoken.install.count("answered")
        return known
    await spoken.tx.inquiries.save(place)
    await spoken.tx.cards.wish_inquiry(place, reply_ref=spoken.arrival.message_ref)
    await look(spoken.tx, place)
    spoken.install.count("answered")
    return None


async def _placed(spoken: Spoken, asked: str) -> Inquiry:
    """Find out what it is about, among what its clients' label values name."""
    assert spoken.room is not None, "the gate asked"
    start_at, end_at = window(asked, spoken.now)
    found = []
    for client in spoken.askable:
        known = [
            *spoken.install.names(client.id),
            *await spoken.tx.inquiries.scopes_seen(client.id),
        ]
        found += [(client, scope) for scope in scopes(asked, known)]
    named = [client for client in spoken.askable if client.id.lower() in asked.lower().split()]
    if named:
        found = [(client, scope) for client, scope in found if client in named] or found
    client = found[0][0] if found else (named or list(spoken.askable))[0]
    own = [scope for of, scope in found if of is client]
    state = InquiryState.WAITING if len(found) == 1 else InquiryState.CHOOSING
    return Inquiry(
        id=digest(f"inquiry {spoken.arrival.identity.platform} {spoken.arrival.key}", 32),
        client_id=client.id,
        room_id=spoken.room.room_id,
        text=asked,
        asked_by=spoken.actor.name,
        account=spoken.actor.key,
        asked_at=spoken.now,
        start_at=start_at,
        end_at=end_at,
        state=state if own else InquiryState.UNPLACED,
        scope=own[0] if len(found) == 1 else {},
        choices=tuple(own[:3]) if len(found) > 1 else (),
    )


async def _too_many(spoken: Spoken) -> bool:
    since = spoken.now - WINDOW
    return await spoken.tx.inquiries.by_account(spoken.actor.key, since) >= MOST_ASKED


async def _spent(spoken: Spoken, client: Client) -> bool:
    connected = spoken.install.connected.get(client.id)
    spent = await spoken.tx.calls.spent(client.id, day_start(spoken.now))
    return connected is not None and exhausted(spent, connected.budget)


async def _already_found(spoken: Spoken, place: Inquiry) -> Reply | None:
    """An open incident of just this scope that has a finding is quoted, not looked at again."""
    if place.state is not InquiryState.WAITING:
        return None
    for incident in await spoken.tx.incidents.open_for_client(place.client_id):
        if _is_about(incident, place):
            case = await spoken.tx.case(incident.id)
            if case is not None and case.finding is not None:
                return Shown(card=draw.card(case, spoken.now, offered=()))
    return None


def _is_about(incident: Incident, place: Inquiry) -> bool:
    scope = incident.group_of(incident.lead).scope
    return all(scope.get(name) == value for name, value in place.scope.items())


COMMAND = Command(verb="engage", run=engage)
