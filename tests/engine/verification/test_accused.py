"""By which names what is blamed is found in the evidence."""

import pytest

from engine.model.finding import CauseKey, Claim, ClaimRuling, Ruling
from engine.model.pack import CauseClass, Item
from engine.verification.accused import Accused, alike
from engine.verification.independence import independent, restates
from tests.engine.judged import ALERT, DEPLOY, EXPRESSION, OWN, POOL, change, metric, pack
from tests.engine.verification.test_vetoes import NOTED, SAID


def accused(
    *claims: Claim,
    cause_class: CauseClass = CauseClass.DATABASE,
    component: str = "checkout-api",
    items: tuple[Item, ...] = (ALERT, OWN, POOL, DEPLOY),
) -> Accused:
    return Accused(
        cause=CauseKey(component=component, cause_class=cause_class),
        rulings=tuple(
            ClaimRuling(claim=one, ruling=Ruling.SUPPORTED, evidence_ids=("R1",)) for one in claims
        ),
        pack=pack(*items),
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("auth", "auth-api", True),
        ("auth-api", "auth", True),
        ("db1", "db1-main", False),
        ("db1", "db1", True),
        ("auth", "billing", False),
    ],
)
def test_a_name_is_another_ones_longer_form_from_four_letters_on(
    one: str, other: str, *, same: bool
) -> None:
    assert alike(one, other) is same


def test_names_are_compared_without_case_and_only_one_of_them_need_fit() -> None:
    blamed = accused(component=" Checkout-API ")
    assert blamed.about("billing", "checkout-api-canary")
    assert not blamed.about("billing")
    assert not blamed.about()
    assert blamed.is_called("checkout-api")
    assert not blamed.is_called("checkout-api-canary")


def test_a_cause_rests_on_what_its_key_claims_cite_or_on_all_where_none_is_key() -> None:
    side = Claim(text="x", evidence_ids=("M1",))
    key = Claim(text="y", evidence_ids=("D1",), key=True)
    assert accused(side, key).cited == {"D1", "R1"}
    assert accused(side).cited == {"M1", "R1"}
    assert [item.id for item in accused(side, key).cited_items] == ["D1"]


@pytest.mark.parametrize(
    ("label", "own"),
    [
        *(
            (name, True)
            for name in (
                "service", "app", "workload", "deployment", "statefulset", "daemonset", "component",
            )
        ),
        ("team", False),
    ],
)  # fmt: skip
def test_a_change_is_of_what_its_labels_call_a_service(label: str, *, own: bool) -> None:
    moved = change("D1", "rollout", -60)
    labelled = moved.facts.model_copy(update={"labels": {label: "checkout-api"}})
    assert accused().changed(labelled) is own  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cause_class", "cites", "component", "done"),
    [
        (CauseClass.DEPLOY, "M1", "checkout-api", True),
        (CauseClass.CONFIG_CHANGE, "M1", "checkout-api", True),
        (CauseClass.DATABASE, "M1", "checkout-api", False),
        (CauseClass.DATABASE, "D1", "checkout-api", True),
        (CauseClass.DATABASE, "D1", "billing", False),
    ],
)
def test_a_cause_is_a_change_by_its_class_or_by_a_cited_change_of_the_component(
    cause_class: CauseClass, cites: str, component: str, *, done: bool
) -> None:
    claim = Claim(text="x", evidence_ids=(cites,))
    assert accused(claim, cause_class=cause_class, component=component).is_change is done


@pytest.mark.parametrize(
    ("item", "tells_more"),
    [
        (metric("M1", "errors", 9), True),
        (metric("M1", "errors", 9, own=True), False),
        (ALERT, False),
        (DEPLOY, True),
        (SAID, False),
        (NOTED, True),
    ],
)
def test_a_piece_of_the_pack_tells_more_than_the_alert(item: Item, *, tells_more: bool) -> None:
    assert independent(item) is tells_more


@pytest.mark.parametrize("expression", ["up == 0", EXPRESSION, "absent(up)", "broken ((("])
def test_every_expression_restates_itself(expression: str) -> None:
    assert restates(expression, expression) is True
    assert restates("process_open_fds", expression) is False
