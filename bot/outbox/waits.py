"""How long a send is put off, by how it ended."""

from bot.chats.chat import Ambiguous, RateLimited, SendResult, TokenDead, Traits, Unreachable
from bot.outbox.pace import Pace
from engine.ports import Clock
from storage.outbox import CardTask, MessageTask

MOST_TRIES = 100
"""Tries without an answer before a card goes elsewhere: an hour and a half."""
LONGEST_S = 60.0
RESEND_S = 30.0
"""Wait before a post nobody knows the end of is repeated where it cannot be looked for."""
LONGEST_RESEND_S = 600.0
TOKEN_PAUSE_S = 60.0
AFTER_LIMIT_S = 0.2
"""On top of what a server asked for, so that its clock and ours agree."""
BLIND = Traits(finds=False, silences=False)


def backoff_s(attempts: int) -> float:
    """Wait after the nth try in a row without an answer."""
    return min(LONGEST_S, float(1 << min(attempts, 10)))


def unsure_s(attempts: int, *, edit: bool, finds: bool) -> float:
    """Wait after a send of which nobody knows how it ended: long where a repeat may double it."""
    if edit or finds:
        return backoff_s(attempts)
    return min(LONGEST_RESEND_S, RESEND_S * (1 << min(attempts - 1, 10)))


def waits_s(
    pace: Pace,
    clock: Clock,
    task: CardTask | MessageTask,
    result: SendResult,
    traits: Traits,
) -> float:
    """How long to wait after a send that came to nothing; the chat or platform waits with it."""
    now_s = clock.monotonic()
    match result:
        case RateLimited(wait_s=asked_s):
            pace.wait(task.chat_key, asked_s + AFTER_LIMIT_S, now_s)
            return asked_s + AFTER_LIMIT_S
        case TokenDead():
            pace.pause(task.platform, TOKEN_PAUSE_S, now_s)
            return TOKEN_PAUSE_S
        case Ambiguous():
            edit = task.message_ref is not None
            return unsure_s(task.attempts, edit=edit, finds=traits.finds)
        case Unreachable():
            return backoff_s(task.attempts)
        case _:
            return 0.0
