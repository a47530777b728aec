"""A request longer than its model takes: once more with less, and then no more."""

import pytest

from cards.caveats import lines
from cards.line import say
from engine.errors import PackTooLongError
from engine.model.event import SessionEvent
from tests.engine.judged import ALERT, DEPLOY, OWN, POOL, UP, Table, drafted, metric, pack, ruled
from tests.fakes import FakeMetrics, ScriptedLLM

LONG = PackTooLongError("prompt is too long: 214522 tokens > 200000 maximum", kind="too_long")


def test_a_pack_too_long_for_the_model_is_sent_once_more_in_a_shorter_revision() -> None:
    many = [metric(f"M{n}", f"series {n} " + "x" * 80, 3) for n in range(3, 30)]
    table = Table(ScriptedLLM([LONG, drafted(), ruled()]), metrics=FakeMetrics(UP))
    finding = table.triage(pack(ALERT, OWN, POOL, *many, DEPLOY))
    [short] = table.store.packs
    first, second, _ = (request.canonical() for request in table.llm.asked)
    assert (short.revision, finding.pack_hash) == (2, short.hash)
    assert table.store.runs["t1"].pack_hash == short.hash
    assert len(second) < len(first)
    assert "M29" in first
    assert "M29" not in second
    assert [dict(f)["sections"] for f in table.of(SessionEvent.SHORTENED)] == ["metrics"]
    assert say("too long for the model: part of metrics was left out") in lines(finding)


def test_a_shorter_pack_that_is_too_long_as_well_is_the_end_of_it() -> None:
    table = Table(ScriptedLLM([LONG, LONG]), metrics=FakeMetrics(UP))
    with pytest.raises(PackTooLongError):
        table.triage()
    assert len(table.llm.asked) == 2


def test_a_run_taken_over_with_its_shorter_pack_shortens_nothing_more() -> None:
    table = Table(ScriptedLLM([LONG]), metrics=FakeMetrics(UP))
    with pytest.raises(PackTooLongError):
        table.triage(pack().model_copy(update={"revision": 2}))
    assert table.store.packs == []
