"""Cards and messages in the hands of the outbox: taken, sent, put off, moved, given up."""

import secrets
from collections.abc import Mapping, Sequence

from pydantic import AwareDatetime
from sqlalchemy import TextClause
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import Frozen
from engine.model.org import Platform, Room
from storage import outbox_sql as sql
from storage.org import OrgRows

CLAIM_S = 60
"""How long an outbox may hold a card it is sending."""
STORM_QUIET_S = 900
"""A digest nothing was added to for so long belongs to a storm that is over."""
STORM_GATHER_S = 2
"""A digest waits so long for more before it is drawn again."""


class CardTask(Frozen):
    """A card to draw and send: the newest revision that was wished for."""

    card_id: str
    client_id: str
    subject_kind: str
    subject_id: str
    room_id: str
    chat_key: str
    """Platform and chat: what is paced."""
    platform: Platform
    wanted: int
    sent: int
    sent_hash: str | None
    message_ref: str | None
    posting_since: AwareDatetime | None
    """A post was started then and nobody knows how it ended: look for it first."""
    posted_before: bool
    reply_ref: str | None
    """The message it is posted below."""
    attempts: int
    plain: bool
    claim: int
    digest_id: str | None


class MessageTask(Frozen):
    """A message beside a card to draw and send."""

    message_id: str
    card_id: str
    client_id: str
    subject_id: str
    room_id: str
    chat_key: str
    platform: Platform
    kind: str
    dedup_key: str
    audible: bool
    card_ref: str
    message_ref: str | None
    wanted: int
    sent: int
    sent_hash: str | None
    posting_since: AwareDatetime | None
    attempts: int
    claim: int


class Closed(Frozen):
    """What may not be sent to now."""

    platforms: tuple[Platform, ...] = ()
    posts: tuple[str, ...] = ()
    """Chats that take no new message now."""
    edits: tuple[str, ...] = ()
    """Chats that take no edit now."""


class OutboxRows:
    """The outbox's side of the cards; only the newest claim of a row may settle it."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def claim(self, closed: Closed, limit: int) -> list[CardTask]:
        """Take cards that are due, one a chat: new ones before edits."""
        rows = await self._session.execute(sql.CLAIM, _claim(closed, limit))
        return [CardTask.model_validate(row._asdict()) for row in rows]

    async def claim_messages(self, closed: Closed, limit: int) -> list[MessageTask]:
        """Take messages that are due and whose card is posted, one a chat."""
        rows = await self._session.execute(sql.CLAIM_MESSAGES, _claim(closed, limit))
        return [MessageTask.model_validate(row._asdict()) for row in rows]

    async def next_due_s(self) -> float | None:
        """Seconds until something is due, negative when it is; None when nothing waits."""
        found: float | None = (await self._session.execute(sql.NEXT_DUE)).scalar_one()
        return found

    async def sent(
        self, task: CardTask, message_ref: str, content_hash: str, *, plain: bool = False
    ) -> None:
        """Record what is shown now; a newer wish makes the card due at once."""
        shown = {"revision": task.wanted, "hash": content_hash, "ref": message_ref}
        await self._of_card(sql.SENT, task, shown | {"plain": plain})

    async def adopted(self, task: CardTask, message_ref: str) -> None:
        """Record a message that was posted after all; what it says is made new at once."""
        await self._of_card(sql.ADOPTED, task, {"ref": message_ref})

    async def later(
        self,
        task: CardTask,
        delay_s: float,
        *,
        posted_nothing: bool,
        counted: bool = True,
        lost: bool = False,
    ) -> None:
        """Try again after `delay_s`.

        Args:
            task: the card.
            delay_s: seconds to wait; at least what the server asked for.
            posted_nothing: it is certain that nothing was posted.
            counted: whether the try counts (a rate limit does not).
            lost: the message is gone; post a new one.
        """
        await self._of_card(
            sql.LATER,
            task,
            {
                "delay_s": delay_s,
                "posted_nothing": posted_nothing,
                "counted": counted,
                "lost": lost,
            },
        )

    async def dead(self, task: CardTask, error: str) -> None:
        """Give a card up, with a dead-letter row."""
        await self._of_card(sql.DEAD, task, {"reason": error})
        await self.letter(task, error)

    async def letter(self, task: CardTask | MessageTask, error: str) -> None:
        """Write a dead letter: this could not be delivered where it belongs."""
        values = {
            "client_id": task.client_id,
            "kind": "card" if isinstance(task, CardTask) else "message",
            "subject_id": task.subject_id,
            "error": error,
        }
        await self._session.execute(sql.LETTER, values)

    async def rehome(self, task: CardTask) -> Room | None:
        """Move a card to another room of its client, at last to the console; None: nowhere left."""
        asked = task.model_dump(include={"client_id", "subject_kind", "subject_id"})
        taken = {row.room_id for row in await self._session.execute(sql.HAS_CARD, asked)}
        org = OrgRows(self._session)
        rooms = await org.reachable(task.client_id)
        chosen = next((room for room in rooms if room.id not in taken), None)
        if chosen is None:
            console = await org.console_room(task.client_id)
            elsewhere = {room.id for room in rooms} & taken - {task.room_id}
            if console.id in taken or elsewhere:
                return None
            chosen = console
        await self._of_card(sql.REHOMED, task, {"room_id": chosen.id})
        return chosen

    async def message_sent(
        self, task: MessageTask, message_ref: str | None, content_hash: str, *, audible: bool
    ) -> None:
        """Record what is shown now and whether it rang; without a `message_ref` it was left out."""
        shown = {"revision": task.wanted, "hash": content_hash, "ref": message_ref}
        await self._of_message(sql.SENT_MESSAGE, task, shown | {"audible": audible})

    async def message_adopted(self, task: MessageTask, message_ref: str) -> None:
        """Record a message that was posted after all."""
        await self._of_message(sql.ADOPTED_MESSAGE, task, {"ref": message_ref})

    async def message_later(
        self,
        task: MessageTask,
        delay_s: float,
        *,
        posted_nothing: bool,
        counted: bool = True,
        lost: bool = False,
    ) -> None:
        """Try again after `delay_s`; as for a card."""
        await self._of_message(
            sql.LATER_MESSAGE,
            task,
            {
                "delay_s": delay_s,
                "posted_nothing": posted_nothing,
                "counted": counted,
                "lost": lost,
            },
        )

    async def message_dead(self, task: MessageTask, error: str) -> None:
        """Give a message up, with a dead-letter row."""
        await self._of_message(sql.DEAD_MESSAGE, task, {"reason": error})
        await self.letter(task, error)

    async def message_given_up(self, task: MessageTask, reason: str) -> None:
        """Say no more here; nothing is missing that anybody waits for."""
        await self._of_message(sql.DEAD_MESSAGE, task, {"reason": reason})

    async def audible_so_far(self, incident_id: str, room_id: str) -> int:
        """How many messages beside the card rang in a room."""
        values = {"incident_id": incident_id, "room_id": room_id}
        return int((await self._session.execute(sql.AUDIBLE, values)).scalar_one())

    async def new_cards(self, chat_key: str, within_s: float) -> int:
        """How many incidents got a card in a chat lately."""
        values = {"chat_key": chat_key, "within_s": within_s}
        return int((await self._session.execute(sql.NEW_CARDS, values)).scalar_one())

    async def fold(self, task: CardTask) -> None:
        """Let a storm digest stand for a card; the digest is drawn again."""
        room = {"client_id": task.client_id, "room_id": task.room_id}
        await self._session.execute(sql.LOCK_ROOM, {"room_id": task.room_id})
        asked = await self._session.execute(sql.OPEN_STORM, room | {"quiet_s": STORM_QUIET_S})
        found: str | None = task.digest_id or asked.scalar_one_or_none()
        digest_id = found or secrets.token_urlsafe(16)
        if found is None:
            added = room | {"id": digest_id, "due_s": STORM_GATHER_S}
            await self._session.execute(sql.ADD_STORM, added)
        else:
            await self.wish_storm(digest_id)
        folded = {"revision": task.wanted, "digest_id": digest_id}
        await self._of_card(sql.FOLDED, task, folded)

    async def wish_storm(self, digest_id: str) -> None:
        """Ask for a digest to be drawn again soon."""
        await self._session.execute(sql.WISH_STORM, {"id": digest_id, "due_s": STORM_GATHER_S})

    async def in_digest(self, digest_id: str) -> list[str]:
        """The incidents a digest stands for."""
        rows = await self._session.execute(sql.IN_DIGEST, {"digest_id": digest_id})
        return [row.subject_id for row in rows]

    async def _of_card(self, sql_: TextClause, task: CardTask, more: Mapping[str, object]) -> None:
        held = {"id": task.card_id, "claim": task.claim}
        await self._session.execute(sql_, held | dict(more))

    async def _of_message(
        self, sql_: TextClause, task: MessageTask, more: Mapping[str, object]
    ) -> None:
        held = {"id": task.message_id, "claim": task.claim}
        await self._session.execute(sql_, held | dict(more))


def _claim(closed: Closed, limit: int) -> dict[str, int | Sequence[str]]:
    return {
        "paused": [platform.value for platform in closed.platforms],
        "no_posts": list(closed.posts),
        "no_edits": list(closed.edits),
        "limit": limit,
        "hold_s": CLAIM_S,
    }
