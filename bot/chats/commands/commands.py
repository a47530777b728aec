"""Takes what is said to the bot to its command."""

from bot.chats.arrival import Arrival, Reply, Told
from bot.chats.commands.command import Install, Spoken
from bot.chats.commands.table import COMMANDS
from bot.chats.inbox import Inbox
from cards import talk
from storage.store import SqlStore


class Commands:
    """Answers commands; each in one transaction, each delivery once."""

    def __init__(self, store: SqlStore, install: Install) -> None:
        """Look things up in `store`."""
        self._store = store
        self._install = install

    async def say(self, arrival: Arrival, verb: str, rest: str) -> Reply | None:
        """Answer what was said; None where silence is the answer, or for a repeat."""
        async with self._store.begin() as tx:
            platform = arrival.identity.platform
            if await tx.arrivals.seen(platform, arrival.key):
                return None
            await tx.arrivals.keep(platform, arrival.key)
            command = COMMANDS.get(verb.lower())
            if command is None:
                return Told(line=talk.UNKNOWN)
            spoken = Spoken(
                tx=tx,
                arrival=arrival,
                actor=await Inbox.actor(tx, arrival),
                rest=rest,
                room=await tx.rooms.bound(platform, arrival.chat, arrival.topic),
                install=self._install,
                now=await tx.now(),
            )
            return await command.run(spoken)
