"""`bind CODE`: ties the room it is said in to a client or a team."""

from bot.chats.arrival import Reply, Told
from bot.chats.commands.command import Command, Spoken
from cards import talk
from engine.model.desk import Membership


async def bind(spoken: Spoken) -> Reply:
    """Use the code up; the shell that made it is the authority, and the room's own as well."""
    arrival = spoken.arrival
    if arrival.private:
        return Told(line=talk.NO_ROOM)
    if arrival.anonymous:
        return Told(line=talk.ANONYMOUS)
    if spoken.actor.membership is not Membership.FULL or not arrival.administers:
        return Told(line=talk.NOT_ADMINISTRATOR)
    if not spoken.rest.strip():
        return Told(line=talk.CODE_MISSING)
    bound = await spoken.tx.rooms.bind(
        spoken.rest,
        arrival.identity.platform,
        arrival.chat,
        arrival.topic,
        by=spoken.actor.signed,
    )
    if bound is None:
        return Told(line=talk.CODE_UNKNOWN)
    facts = {"room": bound.room_id, "of": bound.named}
    await spoken.tx.audit.append(bound.client_id, spoken.actor.signed, "room bound", facts)
    return Told(line=talk.bound(bound.named))


COMMAND = Command(verb="bind", run=bind)
