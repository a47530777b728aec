"""`help`: what can be said here, and what this room may ask about."""

from bot.chats.arrival import Reply, Shown
from bot.chats.commands.command import Command, Spoken
from cards import talk


async def help_(spoken: Spoken) -> Reply:
    """Say it for the room it is asked in."""
    return Shown(card=talk.helped([client.id for client in spoken.askable]))


COMMAND = Command(verb="help", run=help_)
