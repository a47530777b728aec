"""Every command there is."""

from collections.abc import Mapping

from bot.chats.commands import bind, engage, help_, link, settings, status
from bot.chats.commands.command import Command

COMMANDS: Mapping[str, Command] = {
    one.verb: one
    for one in (
        help_.COMMAND,
        engage.COMMAND,
        link.COMMAND,
        bind.COMMAND,
        settings.COMMAND,
        status.COMMAND,
    )
}
