from dataclasses import dataclass, field

from bot.backends.breaker import Breaker, BreakerRule
from engine.model.evidence import Empty, Gap, GapCause, Outcome, Question
from tests.metrics_fakes import NOW, HandClock

GAP = Gap(cause=GapCause.UNREACHABLE)
NOTHING = Empty(evaluated_at=NOW)
QUESTION = Question(tool="metrics", queries={"up": "up"})


@dataclass
class Scripted:
    """Gives the outcomes it was handed, in order."""

    outcomes: list[Outcome]
    name: str = "metrics"
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> Outcome:
        self.asked.append(question)
        return self.outcomes.pop(0)


async def test_after_enough_gaps_in_a_row_a_backend_is_left_alone_until_it_cooled_down() -> None:
    clock, tool = HandClock(), Scripted([GAP, GAP, NOTHING, NOTHING])
    breaker = Breaker(tool, clock, BreakerRule(gaps=2, cool_down_s=30))
    assert [await breaker.ask(QUESTION) for _ in range(2)] == [GAP, GAP]
    refused = await breaker.ask(QUESTION)
    assert isinstance(refused, Gap)
    assert refused.cause is GapCause.BREAKER_OPEN
    assert len(tool.asked) == 2
    clock.elapsed_s += 31
    assert await breaker.ask(QUESTION) == NOTHING
    assert await breaker.ask(QUESTION) == NOTHING


async def test_a_gap_after_the_cool_down_opens_it_again_at_once() -> None:
    clock, tool = HandClock(), Scripted([GAP, GAP, GAP])
    breaker = Breaker(tool, clock, BreakerRule(gaps=2, cool_down_s=30))
    for _ in range(2):
        await breaker.ask(QUESTION)
    clock.elapsed_s += 31
    assert await breaker.ask(QUESTION) == GAP
    await breaker.ask(QUESTION)
    assert len(tool.asked) == 3


async def test_an_answer_between_gaps_starts_the_count_again() -> None:
    clock, tool = HandClock(), Scripted([GAP, NOTHING, GAP, NOTHING])
    breaker = Breaker(tool, clock, BreakerRule(gaps=2))
    assert [await breaker.ask(QUESTION) for _ in range(4)] == [GAP, NOTHING, GAP, NOTHING]
