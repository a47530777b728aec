"""Our own work in a triage: processor time beyond the waits for model, metrics and database."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.backends.anthropic import body_of
from bot.drill.doubles.anthropic_replies import Message
from bot.drill.doubles.prompt_cache import count_prompt, count_tokens
from bot.drill.rehearsal_model import answer
from bot.drill.scenarios import deploy_regression
from bot.evaluation.ground import Ground, ground_of
from engine.model.evidence import Outcome, Question
from engine.model.llm import Capabilities, ModelReply, ModelRequest, StopReason
from engine.model.run import Usage
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.ports import EvidenceTool
from engine.redact import Redactor
from tests.bench.figures import Section, at
from tests.fakes import MemoryStore

TIMES = 20
LOOKED = [
    f'{name}{{service="checkout"}}'
    for name in (
        "up",
        "db_pool_in_use",
        "db_pool_max",
        "process_resident_memory_bytes",
        "app_build_info",
    )
]
"""What it asks its tools, where it is offered any."""


@dataclass
class Remembered:
    """A model, and a metrics backend, that answer at once what they answered the first time."""

    metrics: EvidenceTool
    name: str = "metrics"
    capabilities: Capabilities = field(default_factory=Capabilities)
    said: list[ModelReply] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    turn: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    async def ask(self, question: Question) -> Outcome:
        key = json.dumps([*sorted(question.queries.items()), question.window is None])
        if key not in self.outcomes:
            self.outcomes[key] = await self.metrics.ask(question)
        return self.outcomes[key]

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        if self.turn == len(self.said):
            self.said.append(self._first(request))
        self.turn += 1
        return self.said[self.turn - 1]

    def _first(self, request: ModelRequest) -> ModelReply:
        """What the rehearsal model says; five questions first where tools are offered."""
        body = body_of(request, self.capabilities, {})
        self.tokens_in += count_prompt(body)
        offered = [tool.name for tool in getattr(request, "tools", ())]
        if self.turn == 0 and "metrics_now" in offered:
            asked = [
                {"id": f"c{n}", "name": "metrics_now", "arguments": json.dumps({"query": query})}
                for n, query in enumerate(LOOKED)
            ]
            return self._reply("", StopReason.TOOL_USE, calls=asked)
        reply = answer(body)
        assert isinstance(reply, Message)
        text = str(reply.content[0]["text"])
        self.tokens_out += count_tokens(reply.content[0])
        return self._reply(text, StopReason.END_TURN)

    def _reply(self, text: str, stop: StopReason, **more: Any) -> ModelReply:
        said = {"text": text, "stop_reason": stop, "usage": Usage(input_tokens=1), "model": "m"}
        return ModelReply.model_validate({**said, **more})


async def measure() -> list[Section]:
    section = Section("Triage")
    async with ground_of(deploy_regression.SCENARIO) as ground:
        known = Remembered(ground.metrics)
        packs, judged = [], []
        for _ in range(TIMES + 1):
            known.turn = 0
            packs.append(await _cpu(lambda: _pack(ground, known)))
            judged.append(await _cpu(lambda: _judge(ground, known)))
    calls, looked = len(known.said), sum(bool(getattr(r, "calls", ())) for r in known.said)
    tools = len(LOOKED) if looked else 0
    run = f"median of {TIMES}; replies, metrics and rows come from memory"
    section.add("processor time, pack", _ms(packs), run)
    section.add(
        "processor time, triage",
        _ms(judged),
        f"{calls} model calls, {tools} tool calls, the round, the stamps; {run}",
        "150 ms",
    )
    section.add("tokens in, all calls", f"{known.tokens_in:,}", "estimated, nothing cached")
    section.add("tokens out, all calls", f"{known.tokens_out:,}", "estimated")
    return [section]


async def _cpu(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    await work()
    return time.process_time() - begun


def _ms(values: list[float]) -> str:
    """The median in milliseconds; the first run only fills the memory."""
    return f"{at(0.5, values[1:]) * 1000:,.0f} ms"


async def _pack(ground: Ground, known: Remembered) -> None:
    ports = Ports(
        clock=ground.clock, redact=Redactor(["sk-0123456789"]).text, metrics=known,
        rules=None, changes=None,
    )  # fmt: skip
    await build(Subject(incident=ground.incident), ports)


async def _judge(ground: Ground, known: Remembered) -> None:
    store: Any = MemoryStore()
    asked: Any = known
    await Ground(ground.incident, ground.pack, asked, ground.clock).judged(known, store)
