"""`status`: what is on, what is connected, and what cannot be seen. It always answers."""

from bot.chats.arrival import Reply, Shown
from bot.chats.commands.command import Command, Connected, Spoken
from cards import talk
from engine.budget import day_start
from engine.model.org import Client

_NOTHING = Connected(present=(), absent=())


async def status(spoken: Spoken) -> Reply:
    """Say it of every client the room is bound to."""
    lines = [await _of(spoken, client) for client in spoken.clients]
    return Shown(card=talk.status(lines, model=spoken.install.model))


async def _of(spoken: Spoken, client: Client) -> talk.Standing:
    connected = spoken.install.connected.get(client.id, _NOTHING)
    spent = await spoken.tx.calls.spent(client.id, day_start(spoken.now))
    incidents = await spoken.tx.incidents.open_for_client(client.id)
    return talk.Standing(
        client=client,
        present=connected.present,
        absent=connected.absent,
        open_incidents=len(incidents),
        usd_today=spent.usd,
        usd_per_day=connected.budget.usd_per_day,
    )


COMMAND = Command(verb="status", run=status)
