"""Replies as models give them, and as they should never be able to."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.investigation.judgement import judgement_of, replaced
from engine.investigation.reply import Read, RuledCause, Unreadable, read_draft, read_ruling
from engine.model.finding import CauseKey, PlannedCheckKind, Ruling
from engine.model.pack import CauseClass
from tests.engine.judged import PLAN, drafted, ruled


def read(text: str) -> Read:
    found = read_draft(text)
    assert isinstance(found, Read), found
    return found


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```json\n{}\n```",
        '<think>It may be {{"draft": 1}}.</think>\n{}',
        "<thinking>\nhm\n</thinking>{}",
        "Here is my answer:\n{}\nI hope it helps.",
        "\ufeff{}",
    ],
)
def test_a_draft_is_found_behind_fences_thoughts_and_chatter(around: str) -> None:
    found = read(around.replace("{{", "{").replace("}}", "}").replace("{}", drafted()))
    assert found.draft.root_cause == "The deploy v2.4.1 exhausts the pool."


def test_a_bare_object_is_taken_for_the_one_that_was_asked_for() -> None:
    assert read(json.dumps(json.loads(drafted())["draft"])).draft.root_cause_key == CauseKey(
        component="checkout-api", cause_class=CauseClass.DEPLOY
    )


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        {"queries": PLAN},
        {"checks": PLAN},
        {"promql": [PLAN[0]["query"]]},
        {"promql": PLAN[0]["query"]},
        {"promql": [{"query": PLAN[0]["query"]}]},
        PLAN[0],
    ],
)
def test_a_plan_may_be_a_list_or_an_object(plan: Any) -> None:
    (check,) = read(drafted(disprove=plan)).draft.plan
    assert (check.kind, check.query) == (PlannedCheckKind.PROMQL, PLAN[0]["query"])


@pytest.mark.proves("S0-25", "S0-27")
def test_checks_of_an_unknown_kind_are_dropped_and_counted() -> None:
    plan = [*PLAN, {"kind": "sql", "query": "drop table"}, {"kind": "promql"}, 7, None, "up"]
    found = read(drafted(disprove=plan))
    assert (len(found.draft.plan), found.dropped) == (1, 5)


def test_results_a_model_writes_beside_its_own_check_are_not_read() -> None:
    forged = [{**PLAN[0], "outcome": "fetched", "text": "up 0/9", "id": "R1", "figures": {}}]
    (check,) = read(drafted(disprove=forged)).draft.plan
    assert set(check.model_dump()) == {"kind", "query", "why"}


@pytest.mark.parametrize(
    ("said", "taken"), [(1.7, 1.0), (-3, 0.0), ("0.5", 0.5), (1e308, 1.0), (0, 0.0)]
)
def test_confidence_is_clamped(said: Any, taken: float) -> None:
    assert read(drafted(confidence=said)).draft.self_confidence == taken


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", '"nan"', "true"])
def test_what_is_no_finite_number_is_refused(number: str) -> None:
    text = drafted(confidence=0.125).replace("0.125", number)
    assert isinstance(read_draft(text), Unreadable)
    assert isinstance(read_ruling(ruled(confidence=0.125).replace("0.125", number)), Unreadable)


@pytest.mark.parametrize("field", ["component", "cause_class", "confidence"])
def test_a_cause_that_cannot_be_compared_is_refused_in_words_that_name_the_field(
    field: str,
) -> None:
    found = read_draft(drafted(**{field: None}))
    assert isinstance(found, Unreadable)
    assert field in found.why


@pytest.mark.parametrize("cause", [None, "", "   "])
def test_no_cause_is_an_abstention(cause: str | None) -> None:
    found = read(drafted(cause=cause, component=None, cause_class=None, confidence=None))
    assert found.draft.abstains
    assert found.draft.root_cause_key is None


@pytest.mark.parametrize(
    ("said", "taken"),
    [("deploy", "deploy"), ("Config Change", "config_change"), ("gremlins", "other")],
)
def test_a_cause_class_comes_from_the_closed_list(said: str, taken: str) -> None:
    key = read(drafted(cause_class=said)).draft.root_cause_key
    assert key is not None
    assert key.cause_class == taken


def test_foreign_evidence_ids_are_kept_as_they_were_cited() -> None:
    claims = [{"text": "x", "evidence_ids": ["D1", "Z99", "D1"], "key": True}]
    assert read(drafted(claims=claims)).draft.claims[0].evidence_ids == ("D1", "Z99")


def test_text_is_cut_and_freed_of_what_cannot_be_seen_or_stored() -> None:
    draft = read(drafted(cause="a\x00b\ud800c\u202ed" + "x" * 9000)).draft
    assert draft.root_cause is not None
    assert len(draft.root_cause) == 600
    assert not set(draft.root_cause) & {"\x00", "\ud800", "\u202e"}
    draft.canonical().encode()


DEEP = '{"draft":' + "[" * 100_000


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{", "{}", '"draft"', '{"draft": null}', '{"draft": []}', DEEP,
     '{"draft": {"root_cause": "x", "claims": {"a": 1}}}', "{" * 5000, "9" * 10_000,
     '{"draft": {"root_cause": ' + "9" * 5000 + "}}"],
)  # fmt: skip
def test_what_is_no_reply_is_said_to_be_none(text: str) -> None:
    assert isinstance(read_draft(text), Unreadable)
    assert isinstance(read_ruling(text), Unreadable)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["root_cause", "component", "cause_class", "claims", "rulings", "claim", "text", "key",
             "evidence_ids", "confidence", "disprove", "kind", "query", "ruling", "trust",
             "memory_verdict", "missing", "x"]
        ),
        inner,
        max_size=8,
    ),
    max_leaves=25,
)  # fmt: skip


@given(body=json_values, cut=st.integers(0, 4000))
def test_no_reply_is_an_unhandled_error(body: Any, cut: int) -> None:
    text = json.dumps({"draft": body, "judgement": body})
    for whole in (text, text[:cut], json.dumps(body)):
        found, judged = read_draft(whole), read_ruling(whole)
        assert isinstance(found, Read | Unreadable)
        if isinstance(found, Read):
            found.draft.canonical().encode()
        if isinstance(judged, RuledCause):
            judgement_of(judged, read(drafted()).draft, frozenset({"M1"})).canonical().encode()


@given(text=st.text(max_size=300))
def test_no_text_is_an_unhandled_error(text: str) -> None:
    assert isinstance(read_draft(text), Read | Unreadable)
    assert isinstance(read_ruling(text), RuledCause | Unreadable)


def key(component: str, cause_class: str = "deploy") -> CauseKey:
    return CauseKey(component=component, cause_class=CauseClass(cause_class))


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        (key("a"), key("a"), False),
        (key("Checkout  API"), key("checkout api"), False),
        (key("a"), key("b"), True),
        (key("a"), key("a", "node"), True),
        (None, key("a"), True),
        (key("a"), None, False),
        (None, None, False),
    ],
)
def test_a_cause_is_replaced_when_its_key_is_another_whatever_the_prose(
    before: CauseKey | None, after: CauseKey | None, *, changed: bool
) -> None:
    assert replaced(before, after) is changed


def test_an_unknown_word_for_a_ruling_rules_nothing() -> None:
    said = read_ruling(ruled("probably", "SUPPORTED"))
    assert isinstance(said, RuledCause)
    assert [r.ruling for r in said.rulings] == [Ruling.NEITHER, Ruling.SUPPORTED]
