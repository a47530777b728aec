"""The command lists of a bot, by scope.

Source: core.telegram.org/bots/api#botcommandscope.
"""

import re

from bot.drill.doubles.arguments import nested
from bot.drill.doubles.telegram_room import Space
from bot.drill.doubles.telegram_words import Json, bad_request, units

COMMAND = re.compile(r"[a-z0-9_]{1,32}")
MAX_COMMANDS, MAX_DESCRIPTION = 100, 256
WIDE = {"default", "all_private_chats", "all_group_chats", "all_chat_administrators"}
OF_A_CHAT = {"chat", "chat_administrators", "chat_member"}


def scope_of(space: Space, given: Json) -> str:
    """Name a scope; one of a chat needs a chat the bot is in."""
    scope = nested(given.get("scope") or '{"type": "default"}')
    kind = str(scope.get("type"))
    if kind in WIDE:
        return kind
    if kind not in OF_A_CHAT:
        raise bad_request("can't parse BotCommandScope: unsupported type specified")
    chat = space.find(scope.get("chat_id"))
    return f"{kind}:{chat.id}"


def set_commands(space: Space, given: Json) -> bool:
    """The method setMyCommands."""
    scope = scope_of(space, given)
    commands = list(nested(given.get("commands") or "[]"))
    if len(commands) > MAX_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for each in commands:
        if not COMMAND.fullmatch(str(each["command"])):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= units(str(each["description"])) <= MAX_DESCRIPTION:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    space.commands[scope] = commands
    return True


def get_commands(space: Space, given: Json) -> list[Json]:
    """The method getMyCommands."""
    return space.commands.get(scope_of(space, given), [])


def delete_commands(space: Space, given: Json) -> bool:
    """The method deleteMyCommands."""
    space.commands.pop(scope_of(space, given), None)
    return True
