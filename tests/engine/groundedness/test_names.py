"""Names that only their surroundings tell: labels, known values, pairs, events."""

import pytest

from engine.groundedness.kinds import Indicator
from engine.groundedness.names import by_event, by_known, by_label, by_pair

UUID = "b527d2de-04c0-4b36-962b-90b9e45724cd"


def told(found: Indicator | None) -> tuple[str, str] | None:
    return (found.kind.value, found.text) if found else None


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("--namespace", "shop", "ns"),
        ("NAMESPACE", "shop", "ns"),
        ("svc", "shop", "svc"),
        ("node", "n1", "host"),
        ("user", "bob", "account"),
        ("pod", "a", "pod"),
        ("team", "a", None),
        ("ns", "prod", None),
        ("pod", "Shop", None),
        ("pod", "123", None),
    ],
)
def test_a_label_says_what_its_value_is(key: str, value: str, kind: str | None) -> None:
    assert told(by_label(key, value)) == (kind and (kind, value))


@pytest.mark.parametrize(
    ("name", "before", "after", "kind"),
    [
        ("shop", "", "", "svc"),
        ("shop", "namespace", "", "ns"),
        ("shop", "", "ns", "ns"),
        ("shop", "the", "namespaces", "ns"),
        ("web", "", "", None),
        ("web", "service", "", "svc"),
        ("web", "", "app", "svc"),
        ("web", "deployment", "", "svc"),
        ("web", "workload", "", "svc"),
        ("prod", "", "namespace", "ns"),
    ],
)
def test_a_known_value_that_is_a_plain_word_needs_its_label(
    name: str, before: str, after: str, kind: str | None
) -> None:
    assert told(by_known(name, before, after)) == (kind and (kind, name))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("namespace=shop", ("ns", "shop")),
        ("--namespace=shop", ("ns", "shop")),
        ("namespace=prod", ("kv", "namespace=prod")),
        ("--replicas=3", None),
        ("-l=app", ("kv", "-l=app")),
        ("ready=1", ("kv", "ready=1")),
        ("a.b/c-d=x", ("kv", "a.b/c-d=x")),
        ("pod=~a", ("pod", "a")),
        ("x=10.0.0.7", ("ip", "10.0.0.7")),
        ("--x=10.0.0.7", ("ip", "10.0.0.7")),
        ("url=http://a.b", ("url", "http://a.b")),
        ("x=db-9", ("host", "db-9")),
        ("x=/etc/hosts", ("path", "/etc/hosts")),
        ("x=a@b.com", ("account", "a@b.com")),
        ("x=shop:v1.2.3", ("image", "shop:v1.2.3")),
        ("x=3f2a1bc", ("hex", "3f2a1bc")),
        ("x=api-7d9f8b6c5d-x2v4q", ("pod", "api-7d9f8b6c5d-x2v4q")),
        (f"x={UUID}", ("uuid", UUID)),
        ("x=v1.2.3", ("kv", "x=v1.2.3")),
        ("a!=1", None),
        ("=1", None),
        ("a=", None),
        ("1a=2", None),
    ],
)
def test_a_pair_is_its_value_where_that_speaks_for_itself(
    word: str, expected: tuple[str, str] | None
) -> None:
    assert told(by_pair(word)) == expected


@pytest.mark.parametrize(
    ("word", "before", "named"),
    [
        ("Pending", "", True),
        ("pending", "", False),
        ("Killing", "event", True),
        ("Killing", "reason", True),
        ("Killing", "the", False),
        ("killing", "event", False),
        ("Kill1", "event", False),
    ],
)
def test_an_event_is_a_word_with_a_capital_after_the_word_event(
    word: str, before: str, *, named: bool
) -> None:
    assert (by_event(word, before) is not None) is named
