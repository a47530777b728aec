"""What the vetoes weigh, right where one more or one less would turn it."""

import pytest

from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckSource, Veto
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import CauseClass, Item
from tests.engine.judged import ALERT, DEPLOY, ONSET, OWN, POOL, change, metric
from tests.engine.verification.test_vetoes import POOLED, SAID, asked, hits, result


def own(id_: str, last: float, **labels: str) -> Item:
    return metric(id_, "errors", 9, own=True, last=last, **labels)


def test_one_of_two_cited_series_that_moved_in_time_is_enough() -> None:
    early, late = metric("M3", "queue", 9, changed_s=-30), metric("M4", "cpu", 9, changed_s=90)
    found = hits(
        ALERT, OWN, early, late, cause_class=CauseClass.RESOURCE_EXHAUSTION, cites=("M3", "M4")
    )
    assert Veto.BEGAN_AFTER_ONSET not in found


@pytest.mark.parametrize(
    ("expression", "hit"), [("tcp_retransmits > 1", False), ("errors > 1", True), (None, True)]
)
def test_the_alerts_own_expression_says_what_was_looked_at(
    expression: str | None, *, hit: bool
) -> None:
    found = hits(cause_class=CauseClass.NETWORK, expression=expression)
    assert (Veto.NO_DEVIATION in found) is hit


WELL = {"good": 12.0, "every": 12.0}
DROPS = asked("tcp_drops{a='b'}")


@pytest.mark.parametrize(
    ("floor", "hit"),
    [
        ([result(figures=WELL)], True),
        ([result(figures={"good": 11.0, "every": 12.0}), result("R2", figures=WELL)], True),
        ([result(figures=WELL, scoped=False)], False),
        ([result(figures=WELL, source=CheckSource.MODEL)], False),
        ([result(figures={"good": 12.0})], False),
        ([result(figures={"every": 12.0})], False),
        ([result(figures={})], False),
    ],
)
def test_only_a_scoped_floor_with_both_its_figures_says_that_peers_are_well(
    floor: list[object], *, hit: bool
) -> None:
    found = hits(cause_class=CauseClass.NETWORK, results=(*floor, DROPS))  # type: ignore[arg-type]
    assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(
    ("component", "hit"), [("checkout-api", False), ("rack-7", False), ("payments", True)]
)
def test_what_the_alerts_are_about_needs_no_series_of_its_own(component: str, *, hit: bool) -> None:
    moved = change("D1", component, -240)
    found = hits(ALERT, moved, component=component, cites=("D1",), host="rack-7")
    assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(("component", "hit"), [("auth", False), ("aut", True)])
def test_a_check_shows_a_name_that_is_long_enough_to_be_one(component: str, *, hit: bool) -> None:
    found = hits(
        ALERT, OWN, POOLED,
        component=component, cause_class=CauseClass.DATABASE, cites=("R3",),
        results=(result(), asked('pg_up{database="auth"}')),
    )  # fmt: skip
    assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(
    ("here", "there", "hit"),
    [
        ((0.5,), (0.5,), True),
        ((0.0,), (0.0,), False),
        ((9.0,), (1.0, 9.0), True),
        ((9.0,), (7.2,), True),
        ((9.0,), (1.0, 2.0), False),
        ((1.0, 9.0), (2.0,), False),
    ],
)
@pytest.mark.parametrize("label", ["node", "service"])
def test_the_worst_is_compared_with_the_worst(
    label: str, here: tuple[float, ...], there: tuple[float, ...], *, hit: bool
) -> None:
    if label == "service" and len(here) > 1:
        return
    blamed = [own(f"M{n}", last, **{label: "blamed-1"}) for n, last in enumerate(here, start=3)]
    others = [own(f"M{n}", v, **{label: f"other-{n}"}) for n, v in enumerate(there, start=6)]
    found = hits(
        ALERT, *blamed, *others, POOL,
        component="blamed-1", cause_class=CauseClass.NODE, cites=("M2",),
    )  # fmt: skip
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


def test_figures_of_different_labels_are_not_set_side_by_side() -> None:
    split = result("R4", kind="version_split", figures={"node=blamed-1": 9.0, "zone=other-2": 9.0})
    found = hits(
        ALERT, OWN, POOL,
        component="blamed-1", cause_class=CauseClass.NODE, cites=("M2",),
        results=(result(), asked(), split),
    )  # fmt: skip
    assert Veto.AS_STRONG_WITHOUT_CAUSE not in found


@pytest.mark.parametrize(
    ("image", "hit"), [("shop/checkout-api:v2.4.0", True), ("shop/checkout-api", False)]
)
def test_an_image_is_blamed_by_all_its_parts(image: str, *, hit: bool) -> None:
    moved = change("D1", "checkout-api", -240, what="shop/checkout-api:v1→shop/checkout-api:v2.4.1")
    new = own("M5", 9.0, image="shop/checkout-api:v2.4.1")
    found = hits(ALERT, new, own("M6", 9.0, image=image), POOL, moved)
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


@pytest.mark.parametrize(
    ("items", "hit"),
    [
        ((metric("M1", "errors", 14, own=True, changed_s=-240), POOL), False),
        ((OWN, metric("M2", "pool", 8, changed_s=-300)), False),
        (
            (
                metric("M1", "errors", 14, own=True, changed_s=-300),
                metric("M3", "errors", 14, own=True, changed_s=0),
                POOL,
            ),
            True,
        ),
        ((metric("M1", "errors", 0.4, own=True), metric("M3", "errors", 14, own=True)), False),
        (
            (
                metric("M1", "errors", 14, own=True, changed_s=-100),
                change("D2", "checkout-api", -60),
            ),
            False,
        ),
    ],
)
def test_what_stood_before_the_first_change_is_told_to_the_second(
    items: tuple[Item, ...], *, hit: bool
) -> None:
    found = hits(ALERT, *items, DEPLOY, cites=("D1", "D2", "M2"))
    assert (Veto.STOOD_BEFORE_CAUSE in found) is hit


def test_a_cause_that_is_no_change_can_not_have_come_too_late() -> None:
    found = hits(ALERT, OWN, POOL, cause_class=CauseClass.RESOURCE_EXHAUSTION, cites=("M2",))
    assert Veto.STOOD_BEFORE_CAUSE not in found


@pytest.mark.parametrize(("component", "hit"), [("mail", True), ("mai", False)])
def test_a_name_shorter_than_four_letters_is_found_in_no_text(component: str, *, hit: bool) -> None:
    found = hits(ALERT, OWN, POOLED, SAID, component=component, cites=("M2",))
    assert (Veto.ONLY_WRITABLE_TEXT in found) is hit


def entry(tool: ToolName, outcome: QueryOutcome = QueryOutcome.FETCHED) -> LedgerEntry:
    return LedgerEntry(
        id="T1", call=1, tool=tool, arguments="{}", asked="x", start_at=ONSET, end_at=ONSET,
        outcome=outcome, at=ONSET, text="it broke",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "cites", "hit"),
    [
        (ToolName.LOGS, ("T1",), True),
        (ToolName.LOGS, ("T1", "D1"), False),
        (ToolName.LOGS, ("A1",), False),
        (ToolName.METRICS_NOW, ("T1",), False),
        (ToolName.METRICS_OVER_TIME, ("T1",), False),
        (ToolName.CHANGES, ("T1",), False),
        (ToolName.KUBERNETES_EVENTS, ("T1",), False),
    ],
)
def test_what_logs_say_is_written_by_anyone(
    tool: ToolName, cites: tuple[str, ...], *, hit: bool
) -> None:
    found = hits(cites=cites, ledger=(entry(tool),))
    assert (Veto.ONLY_WRITABLE_TEXT in found) is hit
    assert (Veto.ONLY_OWN_EXPRESSION in found) is (tool is ToolName.LOGS and "D1" not in cites)


def test_a_tool_that_gave_no_answer_bears_nothing() -> None:
    silent = entry(ToolName.METRICS_NOW, QueryOutcome.EMPTY)
    assert Veto.ONLY_OWN_EXPRESSION in hits(cites=("T1",), ledger=(silent,))
