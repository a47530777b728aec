"""Turns put behind a conversation: calls with ids of our own, answers in their order."""

import json
from collections.abc import Sequence

from engine.investigation.tool import LONGEST_ARGUMENTS
from engine.model.base import canonical_json
from engine.model.llm import Block, ModelReply, ModelRequest, ToolAnswer, ToolCall, Turn

NO_MORE = "no more tools"
LONGEST_NAME = 64
_ID = "call_"


def numbered(request: ModelRequest, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Give calls ids by their number and make them fit to be sent again, whatever they are."""
    before = sum(len(turn.calls) for turn in request.turns)
    return tuple(
        ToolCall(id=f"{_ID}{n}", name=_name(call.name), arguments=_arguments(call.arguments))
        for n, call in enumerate(calls, start=before + 1)
    )


def number_of(call: ToolCall) -> int:
    """Which call of the conversation it is."""
    return int(call.id.removeprefix(_ID))


def behind(
    request: ModelRequest,
    reply: ModelReply,
    calls: Sequence[ToolCall],
    answers: Sequence[ToolAnswer],
    *,
    caching: bool,
) -> ModelRequest:
    """Put a reply and the answers to its calls behind a request; the mark moves with the end."""
    said = (Block(text=reply.text),) if reply.text.strip() else ()
    last = answers[-1].model_copy(update={"cache": caching})
    turns = (
        *map(_unmarked, request.turns),
        Turn(role="assistant", blocks=said, calls=tuple(calls)),
        Turn(role="user", answers=(*answers[:-1], last)),
    )
    return request.model_copy(update={"turns": turns})


def strayed(request: ModelRequest, reply: ModelReply) -> ModelRequest:
    """Answer calls that came when there were no more tools."""
    calls = numbered(request, reply.calls)
    answers = [ToolAnswer(call_id=call.id, text=NO_MORE, failed=True) for call in calls]
    return behind(request, reply, calls, answers, caching=False)


def with_words(request: ModelRequest, text: str) -> ModelRequest:
    """Say something more in the last turn."""
    last = request.turns[-1]
    longer = last.model_copy(update={"blocks": (*last.blocks, Block(text=text))})
    return request.model_copy(update={"turns": (*request.turns[:-1], longer)})


def _unmarked(turn: Turn) -> Turn:
    """Take the mark off earlier answers: a conversation has few marks to give."""
    if not turn.answers:
        return turn
    bare = tuple(answer.model_copy(update={"cache": False}) for answer in turn.answers)
    return turn.model_copy(update={"answers": bare})


def _name(name: str) -> str:
    """A tool's name as it may stand in a conversation, also one that was made up."""
    plain = (c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name[:LONGEST_NAME])
    return "".join(plain) or "_"


def _arguments(text: str) -> str:
    """Arguments as canonical JSON; what is none, or too much, is left out."""
    if len(text) > LONGEST_ARGUMENTS:
        return "{}"
    try:
        found = json.loads(text)
        said = canonical_json(found)
        said.encode()
    except (ValueError, RecursionError):
        return "{}"
    return said if isinstance(found, dict) else "{}"
