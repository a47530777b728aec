from bot.backends.scoped import Scoped
from engine.model.evidence import Empty, Invalid, InvalidReason, Question
from tests.metrics_fakes import Metrics


async def test_every_selector_of_every_query_carries_the_clients_matchers() -> None:
    tool = Metrics({})
    scoped = Scoped(tool, {"cluster": "eu-1"})
    query = 'sum(rate(a_total{code="500"}[5m])) / sum(rate(a_total[5m]))'
    outcome = await scoped.ask(Question(tool="metrics", queries={"value": query}))
    assert isinstance(outcome, Empty)
    (asked,) = tool.asked
    assert asked.count('cluster="eu-1"') == 2


async def test_what_cannot_be_narrowed_is_never_sent() -> None:
    tool = Metrics({})
    scoped = Scoped(tool, {"cluster": "eu-1"})
    outcome = await scoped.ask(Question(tool="metrics", queries={"value": "sum(rate(x[5m]"}))
    assert isinstance(outcome, Invalid)
    assert outcome.reason is InvalidReason.SCOPE
    assert tool.asked == []
