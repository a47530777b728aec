"""What a card or message shows, read from the database at the moment it is drawn."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from cards import digest, draw, inquiry, sound, thread
from cards.actions import with_tokens
from cards.card import Card, Mention, Tone
from cards.life import choose
from cards.notice import Notice, notice, of_outage
from engine.model.action import Action
from engine.model.alert import Severity
from engine.model.org import Room
from engine.model.run import CaseFile
from engine.stages.investigate import said_once
from storage.outbox import CardTask, MessageTask
from storage.store import SqlTx

STORM_WINDOW_S = 60


@dataclass(frozen=True)
class Drawn:
    """A card ready to be sent to its room."""

    room: Room
    card: Card
    bare: Card
    """The same without its revision: what tells whether anything changed."""
    audible: bool
    opened_at: datetime | None = None
    """When its incident was opened."""
    in_storm: bool = False
    """Too many new cards came before it: a digest stands for it."""


@dataclass(frozen=True)
class DrawnMessage:
    """A message ready to be sent below its card."""

    room: Room
    card: Card | None
    """None: there is nothing to say."""
    audible: bool
    rung: int
    """Audible messages of the incident in this room so far, its card included."""


async def room_of(tx: SqlTx, room_id: str) -> Room:
    """The room of a card; rooms are never deleted."""
    room = await tx.org.room(room_id)
    assert room is not None, "a card's room is a foreign key"
    return room


async def draw_card(
    tx: SqlTx, task: CardTask, storm_above: int | None, offered: Collection[Action] = ()
) -> Drawn | None:
    """Draw a card; None when its subject is not there any more.

    Args:
        tx: the transaction it is read in.
        task: the card.
        storm_above: new cards a minute in a room from which on a digest stands for them.
        offered: acts that can be pressed in its chat.
    """
    drawn = await _drawn(tx, task, storm_above, offered)
    if drawn is None or not drawn.card.buttons:
        return drawn
    named = [(b.action, b.subject) for b in drawn.card.buttons]
    tokens = await tx.buttons.tokens(task.client_id, task.card_id, named)
    return replace(
        drawn, card=with_tokens(drawn.card, tokens), bare=with_tokens(drawn.bare, tokens)
    )


async def _drawn(
    tx: SqlTx, task: CardTask, storm_above: int | None, offered: Collection[Action]
) -> Drawn | None:
    room, now = await room_of(tx, task.room_id), await tx.now()
    match task.subject_kind:
        case "incident":
            return await _incident(tx, task, room, storm_above, offered)
        case "first_contact":
            card = await _first_contact(tx, task, now, offered)
        case "storm":
            card = await _storm(tx, task, room, now, offered)
        case "inquiry":
            return await _inquiry(tx, task, room)
        case _:
            card = await _notice(tx, task, now)
    rings = card.audible and not task.posted_before
    return Drawn(room=room, card=card, bare=card, audible=rings)


async def _incident(
    tx: SqlTx, task: CardTask, room: Room, storm_above: int | None, offered: Collection[Action]
) -> Drawn | None:
    case, now = await tx.case(task.subject_id), await tx.now()
    if case is None:
        return None
    shown = draw.card(case, now, room=room, revision=task.wanted, offered=offered)
    return Drawn(
        room=room,
        card=shown,
        bare=draw.card(case, now, room=room, offered=offered),
        audible=shown.audible and not task.posted_before,
        opened_at=case.incident.opened_at,
        in_storm=await _in_storm(tx, task, case, storm_above),
    )


async def _inquiry(tx: SqlTx, task: CardTask, room: Room) -> Drawn | None:
    answered = await tx.inquiries.answered(task.subject_id)
    if answered is None:
        return None
    card = inquiry.card(answered, await tx.now())
    return Drawn(room=room, card=card, bare=card, audible=False)


async def _in_storm(tx: SqlTx, task: CardTask, case: CaseFile, above: int | None) -> bool:
    """Whether a digest stands for a card that was never posted.

    A critical incident always has its own card. One already in a digest gets its own when it has a
    finding to show and the room has place for it.
    """
    is_new = task.message_ref is None and not task.posted_before
    if above is None or not is_new or case.incident.severity is Severity.CRITICAL:
        return False
    if task.digest_id is not None and case.finding is None:
        return True
    return await tx.outbox.new_cards(task.chat_key, STORM_WINDOW_S) >= above


async def _first_contact(
    tx: SqlTx, task: CardTask, now: datetime, offered: Collection[Action]
) -> Card:
    found = await tx.incidents.open_for_client(task.client_id)
    rows = [row for i in found if i.first_contact for row in digest.rows_of(i)]
    source = task.subject_id.rpartition(":")[2]
    card = digest.already_firing(rows, now, source=source, offered=offered)
    return card if rows else _over(card)


async def _storm(
    tx: SqlTx, task: CardTask, room: Room, now: datetime, offered: Collection[Action]
) -> Card:
    """The open ones of a storm; when none is, all of them under the sign that it ended."""
    ids = await tx.outbox.in_digest(task.card_id)
    found = [standing.incident for standing in await tx.incidents.load(ids)]
    still = [incident for incident in found if incident.state.value == "open"]
    rows = [digest.row_of(incident) for incident in still or found]
    card = digest.storm(rows, now, sound=room.sound, offered=offered)
    return card if still else _over(card)


def _over(card: Card) -> Card:
    return card.model_copy(update={"tone": Tone.RESOLVED, "audible": False})


async def _notice(tx: SqlTx, task: CardTask, now: datetime) -> Card:
    kind, _, about = task.subject_id.partition(":")
    outage = await tx.outages.get(about)
    if outage is not None:
        return of_outage(outage, now)
    room = await tx.org.room(about)
    return notice(Notice(kind), now, detail=f"{room.platform.value} {room.chat}" if room else "")


async def draw_message(tx: SqlTx, task: MessageTask) -> DrawnMessage:
    """Draw what stands below a card."""
    room, now = await room_of(tx, task.room_id), await tx.now()
    case = await tx.case(task.subject_id)
    if case is None:
        return DrawnMessage(room=room, card=None, audible=False, rung=0)
    if task.kind == "evidence":
        card = thread.evidence(case, now)
        return DrawnMessage(room=room, card=card, audible=False, rung=0)
    rung = await tx.outbox.audible_so_far(task.subject_id, task.room_id)
    rung += draw.card(case, now, room=room, offered=()).audible
    return DrawnMessage(
        room=room,
        card=_reply(case, task, room),
        audible=task.audible and _rings(case, room, task.kind, rung, now),
        rung=rung,
    )


def _reply(case: CaseFile, task: MessageTask, room: Room) -> Card | None:
    """What is still true of what the reply was wished for; one that was overtaken says nothing."""
    if task.kind == "severity":
        still = case.incident.severity.value == task.dedup_key
        return thread.worse(case, _took(case, room)) if still else None
    if case.finding is None or said_once(case.finding) != task.dedup_key:
        return None
    return thread.finding_reply(case, _took(case, room))


def _took(case: CaseFile, room: Room) -> Mention | None:
    """Whoever took it, where their account is one of this chat."""
    platform, _, account = (case.taken_account or "").partition(":")
    if not case.taken_by or platform != room.platform:
        return None
    return Mention(account=account, name=case.taken_by)


def _rings(case: CaseFile, room: Room, kind: str, rung: int, now: datetime) -> bool:
    """Whether it may ring: a cause that is another one, after somebody took it, always may."""
    if case.muted_until is not None and case.muted_until > now:
        return False
    severity = case.incident.severity
    what = sound.Transition.SEVERITY_UP if kind == "severity" else sound.Transition.FINDING
    if kind == "finding" and case.taken_by and case.finding and case.finding.rejudge_of:
        what = sound.Transition.CAUSE_CHANGED
    return sound.audible(what, choose(case), severity, room.sound, rung)
