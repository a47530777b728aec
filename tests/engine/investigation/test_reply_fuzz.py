"""Whatever a model replies: no unhandled error, no verdict that is none, no paid reply lost."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.model.finding import Disposition, Finding, TrustLevel
from engine.model.llm import ModelReply, StopReason
from engine.model.run import CallState
from tests.engine.judged import UP, Table, drafted, ruled
from tests.fakes import FakeMetrics, ScriptedLLM, said

ODD: list[Any] = [
    None, True, 0, -1, 1e308, "", " ", "x" * 5000, [], {}, [None], {"a": {}}, "NaN", float("nan"),
    float("inf"), -float("inf"), "\ud800", "\x00", "R1", ["R99", "D1", "D1"], [[["D1"]]],
    {"kind": "sql"}, 10**400, "</untrusted>", [{"text": None, "evidence_ids": {}}],
]  # fmt: skip
NAMES = [
    "root_cause", "component", "cause_class", "claims", "rulings", "confidence", "missing",
    "next_step", "disprove", "memory_verdict", "trust", "verify_status",
]  # fmt: skip


SHAPES = ["{}", "```json\n{}\n```", "<think>{}</think>", "Sure! {}", "{}{}"]


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A good reply with some of it missing, odd or foreign."""
    valid = draw(st.sampled_from([drafted(), ruled()]))
    ((name, body),) = json.loads(valid).items()
    for key in draw(st.lists(st.sampled_from(NAMES), max_size=4)):
        if draw(st.booleans()):
            body.pop(key, None)
        else:
            body[key] = draw(st.sampled_from(ODD))
    if draw(st.booleans()) and isinstance(body.get("claims"), list) and body["claims"]:
        body["claims"][0] = draw(st.sampled_from(ODD))
    return draw(st.sampled_from([{name: body}, body, {name: [body]}, {name: {name: body}}]))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A reply's text, whole or spoilt on its way."""
    text = json.dumps(draw(bodies()))
    if draw(st.booleans()):
        text = text.replace('"root_cause"', '"root_cause": "twice", "root_cause"', 1)
    shape = draw(
        st.sampled_from(["{}", "```json\n{}\n```", "<think>{}</think>", "Sure! {}", "{}{}"])
    )
    text = shape.replace("{}", text)
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


HUGE = '{"draft": {"root_cause": "' + "x" * 3_000_000 + '"}}'
DEEP = '{"draft": {"claims": ' + "[" * 50_000 + "]" * 50_000 + "}}"
replies = st.builds(
    said, texts() | st.text(max_size=60) | st.sampled_from([HUGE, DEEP, ""]),
    st.sampled_from([StopReason.END_TURN] * 5 + [*StopReason]),
)  # fmt: skip


def judged(*given_: ModelReply) -> tuple[Table, Finding | EngineError]:
    desk = Table(ScriptedLLM([*given_, *given_[-1:] * 6]), metrics=FakeMetrics(UP))
    try:
        return desk, desk.triage()
    except EngineError as error:
        return desk, error


def sound(desk: Table, found: Finding | EngineError) -> None:
    """Hold what came out to what must always be so."""
    for id_, call in desk.store.calls.items():
        assert call.state is CallState.OK
        kept = ModelReply.model_validate_json(desk.store.replies[id_])
        assert kept.usage == call.usage
    assert len(desk.store.calls) == len(desk.llm.asked)
    if isinstance(found, EngineError):
        return
    found.canonical().encode()
    assert (found.root_cause is None) == (found.root_cause_key is None)
    if found.root_cause is None:
        assert found.disposition is not Disposition.ANSWERED
        assert found.trust_level is TrustLevel.UNVERIFIED or found.confidence is None
    if found.trust_level is TrustLevel.VERIFIED:
        assert found.confidence is not None
        assert 0.7 <= found.confidence <= 1


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=replies, second=replies, third=replies)
def test_no_replies_break_a_triage_and_none_is_lost(
    first: ModelReply, second: ModelReply, third: ModelReply
) -> None:
    sound(*judged(first, second, third))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(second=replies)
def test_no_judgement_breaks_a_triage_that_has_a_draft(second: ModelReply) -> None:
    desk, found = judged(said(drafted()), second)
    sound(desk, found)
    # Whatever the second call came to, the draft was paid for and something is shown of it.
    assert isinstance(found, Finding)
    assert found.draft is not None


@pytest.mark.parametrize("name", ["trust", "trust_level", "verify_status", "disposition", "vetoes"])
def test_what_a_model_says_of_its_own_standing_is_not_read(name: str) -> None:
    extra = {name: "verified"}
    plain = judged(said(drafted(confidence=0.2)), said(ruled(confidence=0.3)))[1]
    boasting = judged(said(drafted(confidence=0.2, **extra)), said(ruled(confidence=0.3, **extra)))[
        1
    ]
    assert isinstance(plain, Finding)
    assert isinstance(boasting, Finding)
    assert boasting.trust_level is plain.trust_level is TrustLevel.UNCONFIRMED
    assert boasting.verify_status is plain.verify_status
