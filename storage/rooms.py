"""Chats and what they are tied to: by the configuration, or by a one-time code."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Update, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.org import Client, Platform, Room
from storage.cards import CHANNEL
from storage.org import OrgRows, room_of
from storage.tables import RoomRow, TeamClientRow, TeamRow

CODE_TTL_S = 900.0
"""How long a code may be used."""
_LAST = 1_000
"""Rooms tied from a chat come after those of the configuration."""
_ADD_CODE = text("""
    insert into link_codes (code_hash, client_id, team_id, expires_at)
    values (:hash, :client, :team, clock_timestamp() + make_interval(secs => :ttl))
""")
_USE_CODE = text("""
    update link_codes set used_at = clock_timestamp()
    where code_hash = :hash and used_at is null and expires_at > clock_timestamp()
        and person_id is null
    returning client_id, team_id
""")
_POST_AGAIN = text("""
    update cards set
        message_ref = null, sent_hash = null, posting_since = null, attempts = 0,
        wanted = case when live then wanted + 1 else wanted end,
        due_at = case when live then clock_timestamp() else due_at end
    from (
        select cards.id, coalesce(incidents.state = 'open', false) as live
        from cards left join incidents on incidents.id = cards.subject_id
            and cards.subject_kind = 'incident'
        where cards.room_id = any(:rooms)
    ) as moved where cards.id = moved.id
""")
_BELOW = text("""
    update messages set message_ref = null, sent_hash = null, posting_since = null
    where card_id in (select id from cards where room_id = any(:rooms))
""")


class Bound(NamedTuple):
    """A chat that is tied to clients."""

    room_id: str
    named: str
    """The client or team, as people call it."""
    client_id: str | None
    """The one client it is tied to; None for a team, or for several."""
    clients: tuple[Client, ...]


def code_hash(code: str) -> str:
    """How a code is kept: SHA-256 of its letters, however they were typed."""
    letters = "".join(c for c in code.upper() if c.isalnum())
    return hashlib.sha256(letters.encode()).hexdigest()


class RoomRows:
    """Rooms as people speak in them."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session
        self._org = OrgRows(session)

    async def bound(self, platform: Platform, chat: str, topic: int | None) -> Bound | None:
        """What a chat may speak of; a topic that is tied to nothing speaks for its chat."""
        asked = select(RoomRow).where(
            RoomRow.active,
            RoomRow.platform == platform.value,
            func.coalesce(RoomRow.chat_id, RoomRow.chat) == chat,
        )
        rows = list((await self._session.execute(asked.order_by(RoomRow.id))).scalars())
        own = [row for row in rows if row.topic == (topic or 0)]
        found = own or [row for row in rows if row.topic == 0]
        return await self._bound(found) if found else None

    async def clients_of(self, room_id: str) -> tuple[Client, ...]:
        """Clients a room speaks of."""
        row = await self._session.get(RoomRow, room_id)
        if row is None:
            return ()
        place = (Platform(row.platform), row.chat_id or row.chat, row.topic)
        bound = await self.bound(*place)
        return () if bound is None else bound.clients

    async def _bound(self, rows: Sequence[RoomRow]) -> Bound:
        ids = {row.client_id for row in rows if row.client_id is not None}
        teams = sorted({row.team_id for row in rows if row.team_id is not None})
        of_teams = select(TeamClientRow.client_id).where(TeamClientRow.team_id.in_(teams))
        ids |= set((await self._session.execute(of_teams)).scalars()) if teams else set()
        return Bound(
            room_id=rows[0].id,
            named=", ".join(teams or sorted(ids)),
            client_id=next(iter(ids)) if len(ids) == 1 and not teams else None,
            clients=tuple([await self._org.client(client_id) for client_id in sorted(ids)]),
        )

    async def keep_room_code(
        self, code: str, *, client_id: str | None, team_id: str | None
    ) -> None:
        """Keep a fresh code that ties the chat it is sent in; it can be used once.

        Raises:
            LookupError: there is no such client or team.
        """
        if client_id is not None:
            await self._org.client(client_id)
        elif await self._session.get(TeamRow, team_id) is None:
            raise LookupError(f"no team named {team_id!r}")
        values = {"hash": code_hash(code), "client": client_id, "team": team_id, "ttl": CODE_TTL_S}
        await self._session.execute(_ADD_CODE, values)

    async def bind(
        self, code: str, platform: Platform, chat: str, topic: int | None, *, by: str
    ) -> Bound | None:
        """Tie a chat to the code's client or team, and use the code up; None: it is no good."""
        used = (await self._session.execute(_USE_CODE, {"hash": code_hash(code)})).one_or_none()
        if used is None:
            return None
        owner = used.client_id or f"team-{used.team_id}"
        room_id = f"{owner}:{platform.value}:{chat}:{topic or 0}"
        values = {
            "client_id": used.client_id,
            "team_id": used.team_id,
            "platform": platform.value,
            "chat": chat,
            "topic": topic or 0,
            "active": True,
            "broken": None,
            "bound_by": by,
        }
        statement = insert(RoomRow).values(id=room_id, rank=_LAST, **values)
        await self._session.execute(
            statement.on_conflict_do_update(index_elements=[RoomRow.id], set_=values)
        )
        row = await self._session.get(RoomRow, room_id, populate_existing=True)
        assert row is not None, "it was just written"
        return await self._bound([row])

    async def unbind(self, room_id: str) -> bool:
        """Let a chat that was tied by a code go; False when it was not."""
        gone = update(RoomRow).where(
            RoomRow.id == room_id, RoomRow.bound_by.is_not(None), RoomRow.active
        )
        done = await self._session.execute(gone.values(active=False))
        return bool(done.rowcount)  # type: ignore[attr-defined]

    async def every(self) -> list[tuple[Room, str, str | None]]:
        """Every chat in use, whose it is, and why nothing can be posted there."""
        rows = await self._session.execute(
            select(RoomRow).where(RoomRow.active).order_by(RoomRow.id)
        )
        return [
            (room_of(row), row.client_id or f"team {row.team_id}", row.broken)
            for row in rows.scalars()
        ]

    async def follow(self, platform: Platform, old: str, new: str) -> list[str]:
        """Take a chat's rooms to its new id, with their cards; gives the ids of the rooms.

        Message ids do not carry over: cards of open incidents are posted anew, silently, as they
        were posted before; the others when there is something to say about them.
        """
        moved = list(await self._org.move_chat(platform, old, new))
        if moved:
            await self._session.execute(_POST_AGAIN, {"rooms": moved})
            await self._session.execute(_BELOW, {"rooms": moved})
            await self._session.execute(text(f"select pg_notify('{CHANNEL}', '')"))
        return moved

    async def lose(self, platform: Platform, chat: str, why: str) -> list[tuple[str, str | None]]:
        """Note that nothing can be posted in a chat; gives its rooms and their clients."""
        gone = self._in(platform, chat).where(RoomRow.broken.is_(None)).values(broken=why)
        rows = await self._session.execute(gone.returning(RoomRow.id, RoomRow.client_id))
        return [(row.id, row.client_id) for row in rows]

    async def mend(self, platform: Platform, chat: str) -> list[str]:
        """Note that a chat can be posted in again; gives the rooms that were lost."""
        back = self._in(platform, chat).where(RoomRow.broken.is_not(None)).values(broken=None)
        return list((await self._session.execute(back.returning(RoomRow.id))).scalars())

    @staticmethod
    def _in(platform: Platform, chat: str) -> Update:
        """Every room of a chat."""
        return update(RoomRow).where(
            RoomRow.platform == platform.value,
            func.coalesce(RoomRow.chat_id, RoomRow.chat) == chat,
        )
