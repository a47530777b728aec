import pytest

from engine.model.pack import Signal
from engine.pack.families import MOST_PROBES, error_matcher, probes, requests_metric
from engine.pack.scope import Scope
from engine.promql.check import Verdict, check
from tests.metrics_fakes import SCOPE, alert

GRPC_FAILS = 'grpc_code=~"Internal|Unavailable|Unknown|DeadlineExceeded|DataLoss"'
SHOP = Scope.of({"namespace": "shop", "service": "checkout-api"})


@pytest.mark.parametrize(
    ("used", "ceiling"),
    [
        ("db_pool_in_use", "db_pool_max"),
        ("process_open_fds", "process_max_fds"),
        ("hikaricp_connections_active", "hikaricp_connections_max"),
        ("jvm_memory_used_bytes", "jvm_memory_max_bytes"),
        ("container_memory_working_set_bytes", "container_spec_memory_limit_bytes"),
        ("go_sql_stats_connections_in_use", "go_sql_stats_connections_max_open"),
        ("node_filesystem_avail_bytes", "node_filesystem_size_bytes"),
        ("node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"),
    ],
)
def test_what_is_used_is_held_against_its_ceiling(used: str, ceiling: str) -> None:
    (probe,) = probes([used, ceiling, "db_pool_wait_seconds_bucket"][:2], SHOP, "5m")
    assert probe.signal is Signal.SATURATION
    assert ceiling in f"{probe.query} {probe.limit}"
    assert used in probe.query


@pytest.mark.parametrize(
    ("metric", "signal"),
    [
        ("http_requests_total", Signal.TRAFFIC),
        ("http_request_duration_seconds_bucket", Signal.LATENCY),
        ("payment_errors_total", Signal.ERRORS),
        ("kube_pod_container_status_restarts_total", Signal.RESTARTS),
        ("process_resident_memory_bytes", Signal.MEMORY),
        ("container_cpu_usage_seconds_total", Signal.CPU),
        ("kafka_consumergroup_lag", Signal.QUEUE),
        ("up", Signal.UP),
        ("feature_enabled", Signal.OTHER),
    ],
)
def test_a_metric_is_asked_for_by_what_it_tells(metric: str, signal: Signal) -> None:
    (probe,) = probes([metric], SHOP, "5m")
    assert (probe.signal, metric in probe.query) == (signal, True)


@pytest.mark.parametrize(
    "metric", ["ALERTS", "scrape_duration_seconds", "go_gc_duration_seconds", "app_build_info"]
)
def test_series_about_measuring_are_no_evidence(metric: str) -> None:
    assert probes([metric], SHOP, "5m") == ()


def test_queries_are_bounded_and_ours_parse() -> None:
    found = probes([f"queue_{n}_pending" for n in range(99)] + [f"{n}x" for n in "abc"], SHOP, "5m")
    assert len(found) <= MOST_PROBES
    assert all(check(probe.query).verdict is Verdict.VALID for probe in found)


def test_one_query_answers_for_the_failing_one_and_its_peers() -> None:
    (probe,) = probes(["up"], SHOP, "5m")
    assert probe.query == 'min by (service) (up{namespace="shop"})'
    assert SHOP.is_own({"service": "checkout-api"})
    assert not SHOP.is_own({"service": "cart-api"})


def test_the_peers_of_a_pod_are_the_other_pods_of_its_workload() -> None:
    pod = alert(pod="checkout-api-6c9f7d8b5d-x2x4z", service="")
    scope = Scope.of_alert(pod, {"namespace": "shop", "workload": "checkout-api"})
    assert scope.member == "pod"
    assert scope.peers("up") == 'up{namespace="shop",pod=~"checkout-api-.+"}'


def test_without_a_namespace_or_a_job_nobody_is_a_peer() -> None:
    scope = Scope.of({"env": "prod", "service": "checkout-api"})
    assert scope.peers("up") == 'up{env="prod",service="checkout-api"}'


def test_a_scope_is_looked_up_by_the_labels_the_alert_really_carries() -> None:
    assert Scope.of_alert(alert(), SCOPE).labels == {
        "env": "prod", "namespace": "shop", "service": "checkout-api",
    }  # fmt: skip
    host = Scope.of_alert(alert(instance="web-1:9100"), {"host": "web-1"})
    assert host.labels == {"instance": "web-1:9100"}


@pytest.mark.parametrize(
    ("labels", "matcher"),
    [
        ([{"code": "200"}, {"code": "500"}], 'code=~"5.."'),
        ([{"status": "200"}], 'status=~"5.."'),
        ([{"grpc_code": "OK"}], GRPC_FAILS),
        ([{}], None),
    ],
)  # fmt: skip
def test_failures_are_told_by_the_status_label_there_is(
    labels: list[dict[str, str]], matcher: str | None
) -> None:
    assert error_matcher(labels) == matcher


def test_the_request_counter_is_found_among_its_like() -> None:
    known = ["http_request_duration_seconds_count", "http_requests_total", "process_requests_x"]
    assert requests_metric(known) == "http_requests_total"
    assert requests_metric(["http_server_requests_seconds_count"]) is not None
    assert requests_metric(["up"]) is None
