"""`link CODE`: ties the account that sends a code to the code's person."""

from bot.chats.arrival import Reply, Told
from bot.chats.commands.command import Command, Spoken
from cards import talk
from engine.model.desk import Membership


async def link(spoken: Spoken) -> Reply:
    """Use the code up, whoever's it is; who sends it holds the account."""
    if spoken.arrival.anonymous or spoken.actor.membership is Membership.BOT:
        return Told(line=talk.NO_ACCOUNT)
    if not spoken.rest.strip():
        return Told(line=talk.CODE_MISSING)
    person = await spoken.tx.people.redeem(spoken.rest, spoken.arrival.identity)
    return Told(line=talk.linked(person.name) if person is not None else talk.CODE_UNKNOWN)


COMMAND = Command(verb="link", run=link)
