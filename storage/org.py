"""Clients, flags, rooms and sources as they are now."""

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.org import Client, Flags, Platform, Room, RoomSound, RoomTriage
from storage.tables import ClientRow, RoomRow, TeamClientRow, TeamRow

FLAG_NAMES = ("ai_triage", "ai_triage_manual", "remediation", "oncall_enabled")


def flags_of(row: ClientRow) -> Flags:
    """Resolve a client's flags: a declared flag, else the legacy alias, else its default."""
    known = Flags() if row.l1_agent is None else Flags.from_legacy(row.l1_agent)
    own = {name: getattr(row, name) for name in FLAG_NAMES}
    return known.model_copy(update={k: v for k, v in own.items() if v is not None})


def room_of(row: RoomRow) -> Room:
    """Read a room."""
    return Room(
        id=row.id,
        platform=Platform(row.platform),
        chat=row.chat_id or row.chat,
        topic=row.topic or None,
        match=row.match,
        sound=RoomSound(row.sound),
        triage=RoomTriage(row.triage),
    )


class OrgRows:
    """Who the alerts belong to."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def client(self, client_id: str) -> Client:
        """One client with its flags, read afresh.

        Raises:
            LookupError: there is no such client.
        """
        row = await self._session.get(ClientRow, client_id, populate_existing=True)
        if row is None:
            raise LookupError(f"no client named {client_id!r}")
        return Client(id=row.id, flags=flags_of(row))

    async def clients(self) -> Sequence[Client]:
        """Every client, by name."""
        rows = (await self._session.execute(select(ClientRow).order_by(ClientRow.id))).scalars()
        return [Client(id=row.id, flags=flags_of(row)) for row in rows]

    async def rooms(self, client_id: str) -> Sequence[Room]:
        """Rooms the client's cards may go to, its own before its teams', in matching order."""
        teams = select(TeamClientRow.team_id).where(TeamClientRow.client_id == client_id)
        found = (
            select(RoomRow)
            .where(RoomRow.active)
            .where((RoomRow.client_id == client_id) | RoomRow.team_id.in_(teams))
            .order_by(RoomRow.client_id.is_(None), RoomRow.rank, RoomRow.id)
        )
        return [room_of(row) for row in (await self._session.execute(found)).scalars()]

    async def reachable(self, client_id: str) -> Sequence[Room]:
        """The client's rooms of which no send said that nothing can be posted there."""
        broken = select(RoomRow.id).where(RoomRow.broken.is_not(None))
        gone = set((await self._session.execute(broken)).scalars())
        return [room for room in await self.rooms(client_id) if room.id not in gone]

    async def console_room(self, client_id: str) -> Room:
        """The client's last resort: our own console or log; nothing is routed there by labels."""
        room = Room(id=f"{client_id}:console:log:0", platform=Platform.CONSOLE, chat="log")
        values = {"id": room.id, "client_id": client_id, "platform": "console", "chat": room.chat}
        statement = insert(RoomRow).values(**values, active=False)
        await self._session.execute(statement.on_conflict_do_nothing())
        return room

    async def room(self, room_id: str) -> Room | None:
        """One room."""
        row = await self._session.get(RoomRow, room_id)
        return None if row is None else room_of(row)

    async def declare_client(self, client_id: str, declared: dict[str, bool]) -> None:
        """Make a client what the configuration says.

        Flags it leaves out keep what was set elsewhere; one that an earlier configuration set
        goes back to its default.
        """
        before = await self._session.get(ClientRow, client_id)
        dropped = {} if before is None else dict.fromkeys(before.declared)
        values: dict[str, bool | None] = {**dropped, **declared}
        names = sorted(declared)
        statement = insert(ClientRow).values(id=client_id, declared=names, **values)
        await self._session.execute(
            statement.on_conflict_do_update(
                index_elements=[ClientRow.id], set_={"declared": names, **values}
            )
        )

    async def declared(self, client_id: str) -> tuple[str, ...]:
        """Flags the configuration file holds."""
        row = await self._session.get(ClientRow, client_id)
        return () if row is None else tuple(row.declared)

    async def legacy(self, client_id: str) -> bool | None:
        """The old single flag, where it was ever set."""
        row = await self._session.get(ClientRow, client_id)
        return None if row is None else row.l1_agent

    async def set_flag(self, client_id: str, flag: str, value: bool) -> None:
        """Set one flag that the configuration leaves open.

        Raises:
            ValueError: the flag is unknown or declared in the configuration file.
        """
        if flag not in FLAG_NAMES:
            raise ValueError(f"no flag named {flag!r}; there are {', '.join(FLAG_NAMES)}")
        row = await self._session.get(ClientRow, client_id)
        if row is None:
            raise ValueError(f"no client named {client_id!r}")
        if flag in row.declared:
            raise ValueError(f"{flag} is set in caveat.yaml; change it there")
        await self._session.execute(
            update(ClientRow).where(ClientRow.id == client_id).values({flag: value})
        )

    async def declare_team(self, team_id: str, client_ids: Iterable[str]) -> None:
        """Make a team look after exactly these clients."""
        await self._session.execute(insert(TeamRow).values(id=team_id).on_conflict_do_nothing())
        await self._session.execute(delete(TeamClientRow).where(TeamClientRow.team_id == team_id))
        for client_id in client_ids:
            self._session.add(TeamClientRow(team_id=team_id, client_id=client_id))
        await self._session.flush()

    async def declare_rooms(self, client_id: str, rooms: Iterable[Room]) -> None:
        """Make a client's rooms what the configuration says, in its order."""
        listed = list(rooms)
        await self._session.execute(
            update(RoomRow)
            .where(RoomRow.client_id == client_id, RoomRow.bound_by.is_(None))
            .where(RoomRow.id.not_in([r.id for r in listed]))
            .values(active=False)
        )
        for rank, room in enumerate(listed):
            values = {
                "client_id": client_id,
                "platform": room.platform.value,
                "chat": room.chat,
                "topic": room.topic or 0,
                "rank": rank,
                "match": dict(room.match),
                "sound": room.sound.value,
                "triage": room.triage.value,
                "active": True,
                "broken": None,
                "bound_by": None,
            }
            statement = insert(RoomRow).values(id=room.id, **values)
            await self._session.execute(
                statement.on_conflict_do_update(index_elements=[RoomRow.id], set_=values)
            )

    async def resolve_room(self, room_id: str, chat_id: str) -> None:
        """Remember the platform's own id of a room's chat; clears that it was broken."""
        await self._session.execute(
            update(RoomRow).where(RoomRow.id == room_id).values(chat_id=chat_id, broken=None)
        )

    async def move_chat(self, platform: Platform, old: str, new: str) -> Sequence[str]:
        """Give every room of a chat the chat's new id; says which rooms these are."""
        moved = (
            update(RoomRow)
            .where(RoomRow.platform == platform.value)
            .where(func.coalesce(RoomRow.chat_id, RoomRow.chat) == old)
            .values(chat_id=new)
            .returning(RoomRow.id)
        )
        return list((await self._session.execute(moved)).scalars())

    async def break_room(self, room_id: str, why: str) -> None:
        """Remember that nothing can be posted in a room, and why."""
        await self._session.execute(update(RoomRow).where(RoomRow.id == room_id).values(broken=why))
