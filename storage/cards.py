"""Cards wished for; the outbox draws and sends them after the transaction."""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.incident import Incident
from engine.model.inquiry import Inquiry
from engine.model.org import Room
from engine.ports import CardWish
from engine.routing import route
from storage.org import OrgRows

INCIDENT = "incident"
NOTICE = "notice"
INQUIRY = "inquiry"
CHANNEL = "caveat_cards"
"""Told whenever a card or message is wished for."""

_WISH = text("""
    update cards set
        wanted = wanted + 1, reason = w.reason, wished_at = clock_timestamp(),
        due_at = case when posting_since is not null then due_at
                      when wanted > sent
                      then least(due_at, clock_timestamp() + make_interval(secs => w.due_s))
                      else clock_timestamp() + make_interval(secs => w.due_s) end
    from json_to_recordset(cast(:rows as json)) as w (subject_id text, reason text, due_s float),
         rooms
    where cards.client_id = :client_id and cards.subject_kind = :kind
      and cards.subject_id = w.subject_id and rooms.id = cards.room_id
    returning cards.subject_id, rooms.platform
""")
_ADD = text("""
    insert into cards (id, client_id, subject_kind, subject_id, room_id, reason, due_at)
    select id, :client_id, :kind, subject_id, room_id, reason,
           clock_timestamp() + make_interval(secs => due_s)
    from json_to_recordset(cast(:rows as json))
         as w (id text, subject_id text, room_id text, reason text, due_s float)
    on conflict on constraint one_card do update set
        wanted = cards.wanted + 1, due_at = least(cards.due_at, excluded.due_at)
""")
_WISH_MESSAGES = text("""
    insert into messages (id, client_id, card_id, kind, dedup_key, audible)
    select replace(gen_random_uuid()::text, '-', ''), client_id, id, :kind, :dedup_key, :audible
    from cards where client_id = :client_id and subject_kind = 'incident'
      and subject_id = :incident_id
    on conflict on constraint one_message do update set
        wanted = messages.wanted + 1,
        due_at = case when messages.posting_since is null then clock_timestamp()
                      else messages.due_at end
""")
_NOTIFY = text(f"select pg_notify('{CHANNEL}', '')")


class _Subject(NamedTuple):
    """What a card is about, and the rooms it belongs in."""

    subject_id: str
    chosen: Sequence[Room]
    reason: str
    due_s: float = 0


def _columns(subject: _Subject) -> dict[str, object]:
    return {name: getattr(subject, name) for name in ("subject_id", "reason", "due_s")}


class CardRows:
    """The cards of every room."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def wish(self, incident: Incident, reason: str, *, due_s: float = 0) -> None:
        """Ask for the incident's card to be drawn (again) in every room it belongs in."""
        await self.wish_all(incident.client_id, [CardWish(incident, reason, due_s)])

    async def wish_all(self, client_id: str, wishes: Sequence[CardWish]) -> None:
        """Ask for the cards of many incidents of a client, each of them named once."""
        if not wishes:
            return
        rooms = await OrgRows(self._session).reachable(client_id)
        # In one order always, so that writers never cross.
        subjects = [
            _Subject(
                one.incident.id,
                await self._chosen(client_id, rooms, one.incident.lead.alert.labels),
                one.reason,
                one.due_s,
            )
            for one in sorted(wishes, key=lambda wish: wish.incident.id)
        ]
        await self._wish(client_id, INCIDENT, subjects)

    async def wish_digest(self, client_id: str, kind: str, subject_id: str) -> None:
        """Ask for a digest card in the rooms that take what no other room took."""
        rooms = await OrgRows(self._session).reachable(client_id)
        chosen = await self._chosen(client_id, rooms, {})
        await self._wish(client_id, kind, [_Subject(subject_id, chosen, kind)])

    async def wish_notice(self, client_id: str, subject_id: str, room: Room) -> None:
        """Ask for a notice in one room; asked again, it is drawn again in place."""
        await self._wish(client_id, NOTICE, [_Subject(subject_id, [room], NOTICE)])

    async def wish_inquiry(self, inquiry: Inquiry, reply_ref: str | None = None) -> None:
        """Ask for the message of a question in the room it was asked in, below the question."""
        room = await OrgRows(self._session).room(inquiry.room_id)
        assert room is not None, "an inquiry's room is a foreign key"
        subject = _Subject(inquiry.id, [room], INQUIRY)
        await self._wish(inquiry.client_id, INQUIRY, [subject])
        if reply_ref is not None:
            asked = (
                "update cards set reply_ref = :ref where subject_kind = :kind and subject_id = :id"
            )
            values = {"ref": reply_ref, "kind": INQUIRY, "id": inquiry.id}
            await self._session.execute(text(asked), values)

    async def _wish(self, client_id: str, kind: str, subjects: Sequence[_Subject]) -> None:
        whose = {"client_id": client_id, "kind": kind}
        asked = json.dumps([_columns(one) for one in subjects])
        found = await self._session.execute(_WISH, whose | {"rows": asked})
        have = {(row.subject_id, row.platform) for row in found}
        missing = [
            # 22 characters of the id go into the message: the nonce a lost post is found by.
            {**_columns(one), "room_id": room.id, "id": secrets.token_urlsafe(16)}
            for one in subjects
            for room in one.chosen
            if (one.subject_id, room.platform.value) not in have
        ]
        if missing:
            await self._session.execute(_ADD, whose | {"rows": json.dumps(missing)})
        await self._session.execute(_NOTIFY)

    async def _chosen(
        self, client_id: str, rooms: Sequence[Room], labels: Mapping[str, str]
    ) -> Sequence[Room]:
        """Where a card belongs; a client no room can be reached of has our own console."""
        return (
            route(rooms, labels)
            or rooms[:1]
            or [await OrgRows(self._session).console_room(client_id)]
        )

    async def wish_message(
        self, incident: Incident, kind: str, dedup_key: str, *, audible: bool
    ) -> None:
        """Ask for a message beside each of the incident's cards."""
        values: Mapping[str, object] = {
            "client_id": incident.client_id,
            "incident_id": incident.id,
            "kind": kind,
            "dedup_key": dedup_key,
            "audible": audible,
        }
        await self._session.execute(_WISH_MESSAGES, values)
        await self._session.execute(_NOTIFY)

    async def forget(self, client_id: str) -> None:
        """Draw nothing of a client any more that was wished for until now."""
        for table in ("cards", "messages"):
            given_up = f"update {table} set sent = wanted where client_id = :id"  # noqa: S608
            await self._session.execute(text(given_up), {"id": client_id})

    async def posted(self, kind: str, subject_id: str) -> bool:
        """Whether a subject's card stands in at least one room."""
        asked = text(
            "select count(*) from cards where subject_kind = :kind and subject_id = :id"
            " and message_ref is not null"
        )
        return bool((await self._session.execute(asked, {"kind": kind, "id": subject_id})).scalar())

    async def settled(self, client_id: str) -> bool:
        """Whether every card and message of a client shows what was last wished for."""
        asked = text("""
            select (select count(*) from cards where client_id = :id and wanted > sent
                    and dead_reason is null)
                 + (select count(*) from messages where client_id = :id and wanted > sent
                    and dead_reason is null)
        """)
        return not (await self._session.execute(asked, {"id": client_id})).scalar()
