"""Cards wished for; the outbox draws and sends them after the transaction."""

import secrets
from collections.abc import Mapping, Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.incident import Incident
from engine.model.org import Room
from engine.routing import route
from storage.org import OrgRows

INCIDENT = "incident"
NOTICE = "notice"
CHANNEL = "caveat_cards"
"""Told whenever a card or message is wished for."""

_WISH = text("""
    update cards set
        wanted = wanted + 1, reason = :reason, wished_at = clock_timestamp(),
        due_at = case when posting_since is not null then due_at
                      when wanted > sent
                      then least(due_at, clock_timestamp() + make_interval(secs => :due_s))
                      else clock_timestamp() + make_interval(secs => :due_s) end
    where client_id = :client_id and subject_kind = :kind and subject_id = :subject_id
    returning room_id
""")
_ADD = text("""
    insert into cards (id, client_id, subject_kind, subject_id, room_id, reason, due_at)
    values (:id, :client_id, :kind, :subject_id, :room_id, :reason,
            clock_timestamp() + make_interval(secs => :due_s))
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


class CardRows:
    """The cards of every room."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def wish(self, incident: Incident, reason: str, *, due_s: float = 0) -> None:
        """Ask for the incident's card to be drawn (again) in every room it belongs in."""
        chosen = await self._chosen(incident.client_id, incident.lead.alert.labels)
        await self._wish(incident.client_id, INCIDENT, incident.id, chosen, reason, due_s)

    async def wish_digest(self, client_id: str, kind: str, subject_id: str) -> None:
        """Ask for a digest card in the rooms that take what no other room took."""
        chosen = await self._chosen(client_id, {})
        await self._wish(client_id, kind, subject_id, chosen, kind, 0)

    async def _wish(
        self,
        client_id: str,
        kind: str,
        subject_id: str,
        chosen: Sequence[Room],
        reason: str,
        due_s: float,
    ) -> None:
        subject = {"client_id": client_id, "kind": kind, "subject_id": subject_id}
        wish = {**subject, "reason": reason, "due_s": due_s}
        have = {row.room_id for row in await self._session.execute(_WISH, wish)}
        platforms = {r.platform for r in await self._rooms_of(have)}
        for room in chosen:
            if room.platform not in platforms:
                # 22 characters of it go into the message: the nonce a lost post is found by.
                card_id = secrets.token_urlsafe(16)
                values = {**wish, "id": card_id, "room_id": room.id}
                await self._session.execute(_ADD, values)
        await self._session.execute(_NOTIFY)

    async def wish_notice(self, client_id: str, subject_id: str, room: Room) -> None:
        """Ask for a notice in one room; asked again, it is drawn again in place."""
        await self._wish(client_id, NOTICE, subject_id, [room], NOTICE, 0)

    async def _chosen(self, client_id: str, labels: Mapping[str, str]) -> Sequence[Room]:
        """Where a card belongs; a client no room can be reached of has our own console."""
        org = OrgRows(self._session)
        rooms = await org.reachable(client_id)
        return route(rooms, labels) or rooms[:1] or [await org.console_room(client_id)]

    async def _rooms_of(self, room_ids: set[str]) -> Sequence[Room]:
        org = OrgRows(self._session)
        found = [await org.room(room_id) for room_id in room_ids]
        return [room for room in found if room is not None]

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
