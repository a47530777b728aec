"""What fills the words of a caveat, and what counts as having looked at the thing itself."""

import pytest

from engine.caveats import Weak, caveats, metadata_only
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckSource, Disposition
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import Item, Section, SectionName, SectionStatus, TextFacts
from tests.engine.judged import ONSET, pack
from tests.engine.test_stamps import a_round, check


def test_the_unavailable_checks_are_counted_among_those_of_the_floor() -> None:
    floor = [
        check(outcome, CheckSource.FLOOR)
        for outcome in (
            QueryOutcome.FAILED,
            QueryOutcome.DEGRADED,
            QueryOutcome.INVALID,
            QueryOutcome.EMPTY,
            QueryOutcome.FETCHED,
        )
    ]
    lost = a_round(*floor, check(QueryOutcome.FAILED), reasons=("floor_failed:x", "no_backend"))
    (found,) = caveats(pack(), lost, disposition=Disposition.ANSWERED)
    assert dict(found.facts) == {
        "reasons": "floor_failed:x,no_backend", "missed": 3, "floor": 5,
    }  # fmt: skip


def test_invalid_queries_are_counted() -> None:
    two = a_round(
        check(QueryOutcome.INVALID),
        check(QueryOutcome.INVALID, CheckSource.OPERATOR),
        check(QueryOutcome.INVALID, CheckSource.FLOOR),
        check(QueryOutcome.FAILED),
    )
    (found,) = caveats(pack(), two, disposition=Disposition.ANSWERED)
    assert dict(found.facts) == {"count": 2}


def test_what_weakens_a_finding_has_its_facts() -> None:
    (found,) = caveats(
        pack(),
        None,
        disposition=Disposition.ANSWERED,
        weak=frozenset({Weak.BOUND_HIT}),
        facts={Weak.BOUND_HIT: {"bound": "loops"}},
    )
    assert dict(found.facts) == {"bound": "loops"}


REMEMBERED = {
    SectionName.ALERTS, SectionName.HISTORY, SectionName.RUNBOOK, SectionName.PRIORS,
}  # fmt: skip


@pytest.mark.parametrize("name", list(SectionName))
def test_alerts_and_memory_do_not_look_at_the_thing_itself(name: SectionName) -> None:
    item = Item(id="X1", text="it broke", facts=TextFacts())
    section = Section(name=name, status=SectionStatus.OK, items=(item,))
    alone = pack().model_copy(update={"sections": (section,)})
    assert metadata_only(alone, None) is (name in REMEMBERED)


@pytest.mark.parametrize("tool", list(ToolName))
@pytest.mark.parametrize("outcome", [QueryOutcome.FETCHED, QueryOutcome.EMPTY])
def test_a_tool_looked_when_it_was_answered_and_told_of_this_incident(
    tool: ToolName, outcome: QueryOutcome
) -> None:
    entry = LedgerEntry(
        id="T1", call=1, tool=tool, arguments="{}", asked="x", start_at=ONSET, end_at=ONSET,
        outcome=outcome, at=ONSET, text="it broke",
    )  # fmt: skip
    nothing = pack().model_copy(update={"sections": ()})
    looked = outcome is QueryOutcome.FETCHED and tool is not ToolName.INCIDENTS
    assert metadata_only(nothing, None, [entry]) is not looked
