import pytest

from cards.render.links import listed


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://grafana.example/d/1", True),
        ("http://prometheus.example:9090/graph", True),
        ("https://evil.example/", False),
        ("https://grafana.example@evil.example/", False),
        ("javascript:alert(1)", False),
    ],
)
def test_only_listed_hosts_are_linked_however_they_were_listed(url: str, linked: bool) -> None:
    allowed = listed("Grafana.example", "http://prometheus.example:9090/prom")
    assert allowed(url) is linked
