"""Which places belong together, as tables."""

from collections.abc import Mapping

import pytest

from engine.correlate import Crowd, Place, Spot, agree, place_of
from engine.identity import family
from engine.model.alert import AlertClass
from engine.model.incident import JoinReason
from engine.model.policy import CorrelationRule
from tests.engine.conftest import alert, at

RULE = CorrelationRule()


def place(rule: str = "Slow", **labels: str) -> Place:
    one = alert(rule, **labels)
    return place_of(one, family("c", one, RULE).scope, RULE)


def spot(where: Place, incident: str = "i1", second: float = 0, group: str = "") -> Spot:
    key = group or f"{incident}/{second}/{sorted(where.marks)}"
    return Spot(incident, key, key, where, at(second), at(second), AlertClass.SYMPTOM)


def crowd(*spots: Spot) -> Crowd:
    made = Crowd()
    for one in spots:
        made.add(one)
    return made


def anyone(_: Spot) -> bool:
    return True


CART = {"namespace": "shop", "deployment": "cart"}


@pytest.mark.proves("S3-106")
@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (CART, CART, {"namespace": "shop", "workload": "cart"}),
        (CART, {"namespace": "shop", "deployment": "search"}, None),
        (CART, {"namespace": "shop"}, {"namespace": "shop"}),
        (CART, {"namespace": "pay", "deployment": "cart"}, None),
        (CART, {"deployment": "cart"}, {"workload": "cart"}),
        ({**CART, "cluster": "eu"}, {**CART, "cluster": "us"}, None),
        ({**CART, "cluster": "eu"}, CART, {"namespace": "shop", "workload": "cart"}),
        ({"service": "api", "host": "a"}, {"service": "api", "host": "b"}, {"service": "api"}),
        ({"host": "a"}, {"host": "b"}, None),
        ({"instance": "a:9100", "device": "sda"}, {"instance": "a:9100"}, {"host": "a"}),
        ({"instance": "a:9100", "mountpoint": "/"}, {"host": "a", "mountpoint": "/x"}, None),
        ({"service": "api", "queue": "x"}, {"service": "api", "queue": "y"}, {"service": "api"}),
        ({"team": "shop"}, {"team": "shop"}, None),
    ],
)
def test_a_scope_that_agrees_and_shares_something_joins(
    one: Mapping[str, str], other: Mapping[str, str], shared: Mapping[str, str] | None
) -> None:
    join = crowd(spot(place("A", **one))).by_scope(place("B", **other), anyone)
    assert (join.shared if join else None) == shared
    assert join is None or join.reason is JoinReason.SHARED_SCOPE


def test_a_namespace_alone_does_not_swallow_a_second_workload() -> None:
    """The namespace's own alert agrees with both, but the incident speaks of another workload."""
    held = crowd(spot(place(namespace="shop")), spot(place("B", **CART)))
    assert held.by_scope(place(namespace="shop", deployment="search"), anyone) is None
    assert held.by_scope(place("C", **CART), anyone) is not None


def test_a_cause_reaches_every_incident_on_its_host() -> None:
    held = crowd(
        spot(place(**CART, pod="cart-1", node="n1"), "i1"),
        spot(place(namespace="pay", deployment="pay", node="n1"), "i2"),
        spot(place(namespace="pay", deployment="other", node="n2"), "i3"),
    )
    join = held.linked(place("KubeNodeNotReady", node="n1"), anyone)
    assert join is not None
    assert set(join.incident_ids) == {"i1", "i2"}
    assert (join.reason, join.shared) == (JoinReason.LATE_CAUSE, {"host": "n1"})


def test_two_nodes_of_one_name_in_two_clusters_are_two_nodes() -> None:
    held = crowd(spot(place(**CART, node="n1", cluster="eu")))
    assert held.linked(place("KubeNodeNotReady", node="n1", cluster="us"), anyone) is None


@pytest.mark.parametrize(
    ("label", "kind"),
    [("node", "host"), ("image", "image"), ("zone", "zone"), ("datname", "database")],
)
@pytest.mark.parametrize(
    ("seconds", "joins"), [((0, 60), True), ((0, 0), True), ((-30, 60), False), ((0,), False)]
)
def test_three_things_with_one_denominator_in_two_minutes_join(
    label: str, kind: str, seconds: tuple[float, ...], joins: bool
) -> None:
    held = crowd(
        *(
            spot(place(namespace=f"n{n}", service=f"s{n}", **{label: "x"}), f"i{n}", second)
            for n, second in enumerate(seconds)
        )
    )
    third = place(namespace="n9", service="s9", **{label: "x"})
    join = held.by_denominator(third, "third", at(120) if joins else at(121), RULE, anyone)
    assert (join is not None) is (joins and min(seconds) >= 0)
    if join is not None:
        assert set(join.incident_ids) == {"i0", "i1"}
        assert (join.reason, join.shared) == (JoinReason.COMMON_DENOMINATOR, {kind: "x"})


def test_three_pods_of_one_family_are_one_thing_and_no_common_denominator() -> None:
    held = crowd(*(spot(place(**CART, node="n"), "i1", n, group="cart") for n in range(3)))
    assert held.by_denominator(place(**CART, node="n"), "cart", at(3), RULE, anyone) is None


@pytest.mark.parametrize(
    ("alerts", "services", "age_s", "storms"),
    [(19, 5, 299, True), (18, 5, 0, False), (19, 3, 0, False), (19, 5, 300, False)],
)
def test_twenty_alerts_over_five_services_in_five_minutes_are_a_storm(
    alerts: int, services: int, age_s: float, storms: bool
) -> None:
    held = crowd(
        *(
            spot(place(namespace=f"n{n}", service=f"s{n % services}"), f"i{n}", -age_s)
            for n in range(alerts)
        )
    )
    join = held.by_storm(place(namespace="m", service="s0"), at(0), RULE, anyone)
    assert (join is not None) is storms


def test_a_merge_moves_what_stood_in_the_other() -> None:
    held = crowd(spot(place(**CART), "i1"), spot(place(namespace="b", service="b"), "i2"))
    held.moved({"i2"}, "i1")
    join = held.by_scope(place("B", namespace="b", service="b"), anyone)
    assert join is not None
    assert join.incident_ids == ("i1",)


def test_agreement_is_symmetric() -> None:
    places = [
        place(**labels)
        for labels in (
            CART,
            {"namespace": "shop"},
            {"host": "a"},
            {"service": "cart"},
            {**CART, "node": "a"},
        )
    ]
    assert all(agree(a, b) == agree(b, a) for a in places for b in places)
