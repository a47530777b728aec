"""Hosts and pods are told from words by the ends that machines and controllers are given."""

import pytest

from engine.groundedness.machines import host, pod


@pytest.mark.parametrize(
    ("word", "is_pod"),
    [
        ("api-7d9f8b6c5d-x2v4q", True),
        ("api-7d9f8b6c5d-bcdfg", True),
        ("api-7d9f8b6c5d-abc123", True),
        ("api-7d9f8b6c5d-x1", False),
        ("api-7d9f8b6c5d-12", False),
        ("api-bcdfghj-zzzzz", True),
        ("api-abdfghj-zzzzz", False),
        ("api-12345-zzzzz", False),
        ("api-x2v4q", True),
        ("abc-a2345", True),
        ("api-abcd1", True),
        ("api-x2v4", False),
        ("api-bcdfg", False),
        ("api-bcdfgh", False),
        ("api-abcde", False),
        ("api-12345", False),
        ("api-x2v4qq", False),
        ("shop-a1-123", True),
        ("shop-1-123", True),
        ("shop-ab-123", False),
        ("shop-a1-12", False),
        ("shop-a1-1234", False),
        ("shop-a1-abc", False),
        ("a1-123", False),
        ("bcdfgh", False),
        ("-x2v4q", False),
        ("7d9f8b-x2v4q", False),
        ("api.v1-x2v4q", False),
        ("API-7d9f8b6c5d-x2v4q", False),
    ],
)
def test_a_pod_ends_in_what_a_controller_appends(word: str, *, is_pod: bool) -> None:
    assert (pod(word) is not None) is is_pod


@pytest.mark.parametrize(
    ("word", "is_host"),
    [
        ("db-9", True),
        ("db-9:5432", True),
        ("db-9:http", False),
        ("kafka-0", True),
        ("kafka-1234", False),
        ("web12", True),
        ("api-worker", True),
        ("step-3", False),
        ("phase-12", False),
        ("us-east-1", False),
        ("i-0abcd1234ef567890", True),
        ("i-0abcd12", False),
        ("a.example.com", True),
        ("1a.example.com", True),
        ("1.example.com", False),
        ("a.1.com", True),
        ("A.EXAMPLE.COM", False),
        ("A.Example.Com", True),
        (".example.com", False),
        ("a..example.com", False),
        ("example.invoice", False),
        ("node", False),
        ("", False),
    ],
)
def test_a_host_is_numbered_has_a_role_or_a_domain(word: str, *, is_host: bool) -> None:
    assert (host(word) is not None) is is_host
