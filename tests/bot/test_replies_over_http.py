"""Odd replies over the wire, through the real client library, to the end of a triage."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.backends.anthropic import AnthropicModel, connect
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import Message, Reply, calls, in_order, only_thinks, text
from bot.drill.doubles.faults import Answer
from bot.drill.doubles.serve import serve
from engine.errors import EngineError
from engine.model.finding import Finding
from engine.model.run import CallState
from tests.engine.judged import UP, Table, drafted, incident, pack, ruled
from tests.fakes import FakeMetrics

GOOD = [text(drafted()), text(ruled())]


def wire(**changes: Any) -> Answer:
    """A message with something of it otherwise."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": drafted()}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 9},
    }  # fmt: skip
    return Answer(200, json.dumps({**body, **changes}))


ODD: dict[str, Reply] = {
    "thinking only": only_thinks(),
    "no content": Message(()),
    "refusal": text("I will not.", "refusal"),
    "cut off": text(drafted()[:200], "max_tokens"),
    "context full": text(drafted()[:200], "model_context_window_exceeded"),
    "paused": text("", "pause_turn"),
    "a tool nobody offered": calls(("rm", {"path": "/"})),
    "tool use without a tool": text("", "tool_use"),
    "fenced": text(f"```json\n{drafted()}\n```"),
    "megabytes": text('{"draft": "' + "x" * 2_000_000 + '"}'),
    "deep": text("[" * 20_000),
    "no stop reason": wire(stop_reason=None),
    "an unheard-of stop reason": wire(stop_reason="tired"),
    "content is null": wire(content=None),
    "content is text": wire(content="hello"),
    "an unheard-of block": wire(content=[{"type": "hologram", "x": 1}]),
    "text is null": wire(content=[{"type": "text", "text": None}]),
    "no usage": wire(usage=None),
    "odd usage": wire(usage={"input_tokens": -5, "output_tokens": None}),
    "not a number": Answer(200, '{"id": NaN, "content": [], "usage": {"input_tokens": Infinity}}'),
    "half a character": wire(content=[{"type": "text", "text": "\ud800" + drafted()}]),
    "a list": Answer(200, "[]"),
    "a page": Answer(200, "<html>sign in</html>", media_type="text/html"),
    "nothing": Answer(200, ""),
}


@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize("odd", ODD)
async def test_a_triage_ends_in_a_finding_or_in_an_error_that_says_what_to_do(
    odd: str, call: int
) -> None:
    replies = [*GOOD[: call - 1], ODD[odd], ODD[odd]]
    double = MessagesDouble(lambda: datetime.now(UTC), in_order(*replies))
    async with serve(double.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        desk = Table(AnthropicModel(client), metrics=FakeMetrics(UP))  # type: ignore[arg-type]
        try:
            found: Finding | EngineError = await desk.judged(pack(), incident())
        except EngineError as error:
            found = error
        await client.close()
    if call == 2:
        assert isinstance(found, Finding)
        assert found.draft is not None
    assert len(double.asked) == len(desk.store.calls)
    for id_, row in desk.store.calls.items():
        assert row.state in {CallState.OK, CallState.FAILED}
        assert row.settled_at is not None
        assert bool(desk.store.replies[id_]) or row.error


UNREAD = {
    "no stop reason": "the pool is full",
    "a list": "[]",
    "a page": "sign in",
    "not a number": "NaN",
}


@pytest.mark.parametrize("odd", UNREAD)
async def test_a_reply_that_cannot_be_read_is_kept_in_its_words(odd: str) -> None:
    double = MessagesDouble(lambda: datetime.now(UTC), in_order(ODD[odd]))
    async with serve(double.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        desk = Table(AnthropicModel(client), metrics=FakeMetrics(UP))  # type: ignore[arg-type]
        with pytest.raises(EngineError):
            await desk.judged(pack(), incident())
        await client.close()
    [(id_, call)] = desk.store.calls.items()
    assert call.state is CallState.FAILED
    assert UNREAD[odd] in desk.store.replies[id_]
