"""`settings [CLIENT] [FLAG on|off]`: shows a client's flags, and switches those left open."""

from collections.abc import Mapping

from bot.chats.arrival import Reply, Shown, Told
from bot.chats.commands.command import Command, Spoken
from cards import talk
from engine.model.org import Client

SWITCH: Mapping[str, bool] = {"on": True, "off": False}


async def settings(spoken: Spoken) -> Reply:
    """Show or switch; only who holds `admin` in the client may."""
    words = spoken.rest.split()
    known = {client.id: client for client in await spoken.tx.org.clients()}
    named = words.pop(0) if words and words[0] in known else None
    own = [named] if named else [client.id for client in spoken.clients]
    may = [client_id for client_id in own if spoken.administers(client_id)]
    if not may:
        ask = await spoken.tx.people.holders(talk.SETTINGS_ROLE, own[0] if own else "*")
        return Told(line=talk.not_administrator(ask))
    if not words:
        return Shown(card=talk.settings([await _open(spoken, known[one]) for one in may]))
    if len(may) > 1:
        return Told(line=talk.which_client(may))
    return await _switch(spoken, may[0], words)


async def _open(spoken: Spoken, client: Client) -> talk.Flagged:
    return talk.Flagged(
        client=client,
        locked=await spoken.tx.org.declared(client.id),
        legacy=await spoken.tx.org.legacy(client.id),
    )


async def _switch(spoken: Spoken, client_id: str, words: list[str]) -> Reply:
    flag, _, value = " ".join(words).lower().partition(" ")
    if value not in SWITCH:
        return Told(line=talk.SETTINGS_USAGE)
    try:
        await spoken.tx.org.set_flag(client_id, flag, SWITCH[value])
    except ValueError as error:
        return Told(line=talk.refused(str(error)))
    facts = {"flag": flag, "value": value}
    await spoken.tx.audit.append(client_id, spoken.actor.signed, "flag set", facts)
    return Told(line=talk.switched(client_id, flag, value))


COMMAND = Command(verb="settings", run=settings)
