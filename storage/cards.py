"""Cards wished for and what became of them: the outbox's table."""

import secrets
from collections.abc import Mapping, Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import Frozen
from engine.model.incident import Incident
from engine.model.org import Platform, Room
from engine.routing import route
from storage.org import OrgRows

INCIDENT = "incident"
CLAIM_S = 60
"""How long an outbox may hold a card it is sending."""


class CardTask(Frozen):
    """A card to draw and send: the newest revision that was wished for."""

    card_id: str
    client_id: str
    subject_kind: str
    subject_id: str
    room_id: str
    platform: Platform
    wanted: int
    sent: int
    sent_hash: str | None
    message_ref: str | None
    posting: bool
    """A post was started before and nobody knows how it ended: look for it first."""
    attempts: int
    plain: bool
    claim: int
    reason: str
    waited_s: float
    """Seconds since the wish; what the facts-card histogram counts."""


class MessageTask(Frozen):
    """A message beside a card to draw and send."""

    message_id: str
    card_id: str
    client_id: str
    subject_id: str
    room_id: str
    platform: Platform
    kind: str
    dedup_key: str
    audible: bool
    card_ref: str
    message_ref: str | None
    wanted: int
    sent: int
    sent_hash: str | None
    posting: bool
    attempts: int
    claim: int


_WISH = text("""
    update cards set
        wanted = wanted + 1, reason = :reason, wished_at = clock_timestamp(),
        due_at = case when wanted > sent
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
_CLAIM = text("""
    update cards set
        claim = claim + 1, attempts = attempts + 1,
        due_at = clock_timestamp() + make_interval(secs => :hold_s),
        posting_since = case when message_ref is null
                             then coalesce(posting_since, clock_timestamp()) end
    from rooms, (
        select cards.id, cards.posting_since is not null as posting
        from cards join rooms on rooms.id = cards.room_id
        where wanted > sent and dead_reason is null and due_at <= clock_timestamp()
          and rooms.platform = any(:platforms)
        order by message_ref is not null, due_at
        limit :limit for update of cards skip locked
    ) as due
    where cards.id = due.id and rooms.id = cards.room_id
    returning cards.id as card_id, cards.client_id, subject_kind, subject_id, room_id,
              rooms.platform, wanted, sent, sent_hash, message_ref, due.posting, attempts, plain,
              claim, reason,
              extract(epoch from clock_timestamp() - wished_at)::float8 as waited_s
""")
_SENT = text("""
    update cards set
        sent = greatest(sent, :revision), sent_hash = :hash, message_ref = :ref,
        posting_since = null, posted_at = coalesce(posted_at, clock_timestamp()), attempts = 0,
        due_at = case when wanted > :revision then clock_timestamp() else due_at end
    where id = :id and claim = :claim
""")
_LATER = text("""
    update cards set
        due_at = clock_timestamp() + make_interval(secs => :delay_s),
        posting_since = case when :refused then null else posting_since end,
        attempts = attempts - case when :counted then 0 else 1 end,
        plain = plain or :plain,
        message_ref = case when :lost then null else message_ref end
    where id = :id and claim = :claim
""")
_DEAD = text("""
    update cards set dead_reason = :reason, posting_since = null where id = :id and claim = :claim
""")
_LETTER = text("""
    insert into dead_letters (client_id, kind, subject_id, reason, error)
    values (:client_id, :kind, :subject_id, 'delivery_failed', :error)
""")
_WISH_MESSAGES = text("""
    insert into messages (id, client_id, card_id, kind, dedup_key, audible)
    select replace(gen_random_uuid()::text, '-', ''), client_id, id, :kind, :dedup_key, :audible
    from cards where client_id = :client_id and subject_kind = 'incident'
      and subject_id = :incident_id
    on conflict on constraint one_message do update set
        wanted = messages.wanted + 1, due_at = clock_timestamp()
""")
_CLAIM_MESSAGES = text("""
    update messages set
        claim = messages.claim + 1, attempts = messages.attempts + 1,
        due_at = clock_timestamp() + make_interval(secs => :hold_s),
        posting_since = case when messages.message_ref is null
                             then coalesce(messages.posting_since, clock_timestamp()) end
    from cards, rooms, (
        select messages.id, messages.posting_since is not null as posting
        from messages join cards on cards.id = messages.card_id
             join rooms on rooms.id = cards.room_id
        where messages.wanted > messages.sent and messages.dead_reason is null
          and messages.due_at <= clock_timestamp() and rooms.platform = any(:platforms)
          and cards.message_ref is not null
        order by messages.due_at
        limit :limit for update of messages skip locked
    ) as due
    where messages.id = due.id and cards.id = messages.card_id and rooms.id = cards.room_id
    returning messages.id as message_id, card_id, messages.client_id, cards.subject_id,
              cards.room_id, rooms.platform, kind, dedup_key, audible,
              cards.message_ref as card_ref, messages.message_ref, messages.wanted, messages.sent,
              messages.sent_hash, due.posting, messages.attempts, messages.claim
""")
_SENT_MESSAGE = text("""
    update messages set
        sent = greatest(sent, :revision), sent_hash = :hash, message_ref = :ref,
        posting_since = null, attempts = 0
    where id = :id and claim = :claim
""")
_LATER_MESSAGE = text("""
    update messages set
        due_at = clock_timestamp() + make_interval(secs => :delay_s),
        posting_since = case when :refused then null else posting_since end
    where id = :id and claim = :claim
""")
_DEAD_MESSAGE = text("""
    update messages set dead_reason = :reason, posting_since = null
    where id = :id and claim = :claim
""")
_AUDIBLE = text("""
    select count(*) from messages join cards on cards.id = messages.card_id
    where cards.subject_kind = 'incident' and cards.subject_id = :incident_id
      and messages.audible and cards.room_id = :room_id
""")
_NOTIFY = text("select pg_notify('caveat_cards', '')")


class CardRows:
    """The cards of every room."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def wish(self, incident: Incident, reason: str, *, due_s: float = 0) -> None:
        """Ask for the incident's card to be drawn (again) in every room it belongs in."""
        rooms = await OrgRows(self._session).rooms(incident.client_id)
        chosen = route(rooms, incident.lead.alert.labels)
        await self._wish(incident.client_id, INCIDENT, incident.id, chosen, reason, due_s)

    async def wish_digest(self, client_id: str, kind: str, subject_id: str) -> None:
        """Ask for a digest card in the rooms that take what no other room took."""
        chosen = route(await OrgRows(self._session).rooms(client_id), {})
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

    async def claim(self, platforms: Sequence[Platform], limit: int) -> Sequence[CardTask]:
        """Take cards that are due: new ones before edits."""
        values = {"platforms": [p.value for p in platforms], "limit": limit, "hold_s": CLAIM_S}
        rows = await self._session.execute(_CLAIM, values)
        return [CardTask.model_validate(dict(row._mapping)) for row in rows]  # noqa: SLF001

    async def sent(self, task: CardTask, message_ref: str, content_hash: str) -> None:
        """Record what is shown now; a newer wish makes the card due at once."""
        values = {
            "id": task.card_id,
            "claim": task.claim,
            "revision": task.wanted,
            "hash": content_hash,
            "ref": message_ref,
        }
        await self._session.execute(_SENT, values)

    async def later(
        self,
        task: CardTask,
        delay_s: float,
        *,
        refused: bool,
        counted: bool = True,
        plain: bool = False,
        lost: bool = False,
    ) -> None:
        """Try again after `delay_s`.

        Args:
            task: the card.
            delay_s: seconds to wait; at least what the server asked for.
            refused: the chat said no, so nothing was posted; otherwise nobody knows.
            counted: whether the try counts (a rate limit does not).
            plain: draw it as plain text from now on.
            lost: the message is gone; post a new one.
        """
        values = {
            "id": task.card_id,
            "claim": task.claim,
            "delay_s": delay_s,
            "refused": refused,
            "counted": counted,
            "plain": plain,
            "lost": lost,
        }
        await self._session.execute(_LATER, values)

    async def dead(self, task: CardTask, error: str) -> None:
        """Give a card up, with a dead-letter row."""
        held = {"id": task.card_id, "claim": task.claim, "reason": error}
        await self._session.execute(_DEAD, held)
        letter = {"client_id": task.client_id, "kind": "card", "error": error}
        await self._session.execute(_LETTER, {**letter, "subject_id": task.subject_id})

    async def claim_messages(
        self, platforms: Sequence[Platform], limit: int
    ) -> Sequence[MessageTask]:
        """Take messages that are due and whose card is posted."""
        values = {"platforms": [p.value for p in platforms], "limit": limit, "hold_s": CLAIM_S}
        rows = await self._session.execute(_CLAIM_MESSAGES, values)
        return [MessageTask.model_validate(dict(row._mapping)) for row in rows]  # noqa: SLF001

    async def message_sent(self, task: MessageTask, message_ref: str, content_hash: str) -> None:
        """Record what is shown now."""
        values = {
            "id": task.message_id,
            "claim": task.claim,
            "revision": task.wanted,
            "hash": content_hash,
            "ref": message_ref,
        }
        await self._session.execute(_SENT_MESSAGE, values)

    async def message_later(self, task: MessageTask, delay_s: float, *, refused: bool) -> None:
        """Try again after `delay_s`."""
        values = {"id": task.message_id, "claim": task.claim, "delay_s": delay_s}
        await self._session.execute(_LATER_MESSAGE, {**values, "refused": refused})

    async def message_dead(self, task: MessageTask, error: str) -> None:
        """Give a message up, with a dead-letter row."""
        held = {"id": task.message_id, "claim": task.claim, "reason": error}
        await self._session.execute(_DEAD_MESSAGE, held)
        letter = {"client_id": task.client_id, "kind": "message", "error": error}
        await self._session.execute(_LETTER, {**letter, "subject_id": task.subject_id})

    async def audible_so_far(self, incident_id: str, room_id: str) -> int:
        """How many messages beside the card may have rung in a room."""
        values = {"incident_id": incident_id, "room_id": room_id}
        return int((await self._session.execute(_AUDIBLE, values)).scalar_one())
