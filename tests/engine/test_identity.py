"""Which alerts are one thing failing again, and which are two."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.identity import environment_of, failing_scope, family, host_of, service_of
from engine.model.alert import Alert, AlertStatus, Severity
from engine.model.policy import CorrelationRule

RULE = CorrelationRule()
KSM = {
    "job": "kube-state-metrics",
    "instance": "10.244.0.5:8443",
    "service": "kube-state-metrics",
    "endpoint": "https-main",
    "prometheus": "monitoring/k8s",
}
KSM_POD = {"pod": "kube-state-metrics-5bd8c6cc4d-h2x7k", "container": "kube-rbac-proxy-main"}
NODE = {
    "job": "node-exporter",
    "namespace": "monitoring",
    "pod": "node-exporter-x7k2p",
    "container": "node-exporter",
    "service": "node-exporter",
}


def alert(rule: str = "TheRule", source: str = "alertmanager", **labels: str) -> Alert:
    named = {"alertname": rule} if rule else {}
    return Alert(
        source=source,
        status=AlertStatus.FIRING,
        severity=Severity.WARNING,
        labels=named | labels,
        starts_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def key(given: Alert, client: str = "acme") -> str:
    return family(client, given, RULE).key


SAME = [
    (
        "a pod is replaced",
        KSM | {"namespace": "shop", "pod": "cart-7d9f8b6c5-xkp2q", "container": "cart"},
        KSM | {"namespace": "shop", "pod": "cart-6b5c4d7f9-h4j2w", "container": "cart"},
    ),
    (
        "the exporter is replaced",
        KSM | {"namespace": "shop", "deployment": "cart", "uid": "1"} | KSM_POD,
        KSM
        | {"namespace": "shop", "deployment": "cart", "uid": "2", "instance": "10.244.7.9:8443"}
        | {"pod": "kube-state-metrics-7f9c8d6b4-zz2vq", "container": "kube-rbac-proxy-main"},
    ),
    (
        "the node's exporter listens elsewhere",
        NODE | {"instance": "web-1:9100", "device": "sda1"},
        NODE | {"instance": "web-1:9200", "device": "sda1", "pod": "node-exporter-b4c7d"},
    ),
    (
        "the node's exporter moves to another namespace",
        NODE | {"instance": "10.0.0.7:9100"},
        NODE | {"instance": "10.0.0.7:9100", "namespace": "observability"},
    ),
    (
        "the severity rises",
        {"service": "a", "severity": "warning"},
        {"service": "a", "severity": "page"},
    ),
    (
        "another replica of Prometheus sends",
        {"service": "a", "replica": "0"},
        {"service": "a", "replica": "1"},
    ),
    (
        "a pod moves to another node",
        {
            "namespace": "shop",
            "pod": "cart-7d9f8b6c5-xkp2q",
            "node": "n1",
            "instance": "10.1.0.4:80",
        },
        {
            "namespace": "shop",
            "pod": "cart-7d9f8b6c5-bb2cd",
            "node": "n2",
            "instance": "10.1.9.4:80",
        },
    ),
    (
        "the kubelet of another node measures it",
        {"job": "kubelet", "namespace": "shop", "pod": "cart-7d9f8b6c5-xkp2q", "node": "n1"},
        {"job": "kubelet", "namespace": "shop", "pod": "cart-7d9f8b6c5-bb2cd", "node": "n2"},
    ),
    (
        "the probing exporter moves",
        {"job": "blackbox", "target": "https://shop.example", "instance": "10.0.0.1:9115"},
        {"job": "blackbox", "target": "https://shop.example", "instance": "10.0.0.2:9115"},
    ),
    (
        "the cloud exporter moves",
        {"job": "yace", "dbinstance_identifier": "orders", "instance": "10.0.0.1:5000"},
        {"job": "yace", "dbinstance_identifier": "orders", "instance": "10.0.0.2:5000"},
    ),
    (
        "a label clashed with the scrape's",
        {
            "job": "kube-state-metrics",
            "exported_namespace": "shop",
            "exported_pod": "cart-7d9f8b6c5-xkp2q",
        }
        | {"namespace": "monitoring", "pod": "kube-state-metrics-5bd8c6cc4d-h2x7k"},
        {"namespace": "shop", "pod": "cart-7d9f8b6c5-xkp2q"},
    ),
    ("a stateful set's other pod", {"pod": "postgres-0"}, {"pod": "postgres-1"}),
    ("a cron job's next run", {"job_name": "backup-28399990"}, {"job_name": "backup-28400000"}),
    ("a value was put into a label", {"a": "b", "used": "91.5%"}, {"a": "b", "used": "93.25%"}),
    ("names are written another way", {"service.name": "a"}, {"service_name": "a"}),
]

OTHER = [
    (
        "another workload of one namespace",
        KSM | {"namespace": "shop", "pod": "cart-7d9f8b6c5-xkp2q"},
        KSM | {"namespace": "shop", "pod": "checkout-7d9f8b6c5-xkp2q"},
    ),
    (
        "another deployment, told by the exporter's own pod",
        KSM | {"namespace": "shop", "deployment": "cart"} | KSM_POD,
        KSM | {"namespace": "shop", "deployment": "checkout"} | KSM_POD,
    ),
    (
        "the same workload of another namespace",
        KSM | {"namespace": "shop", "deployment": "cart"} | KSM_POD,
        KSM | {"namespace": "stage", "deployment": "cart"} | KSM_POD,
    ),
    ("another node", NODE | {"instance": "web-1:9100"}, NODE | {"instance": "web-2:9100"}),
    (
        "another node that cluster state speaks of",
        KSM | {"node": "n1", "namespace": "monitoring"} | KSM_POD,
        KSM | {"node": "n2", "namespace": "monitoring"} | KSM_POD,
    ),
    ("another disk", {"instance": "a", "mountpoint": "/"}, {"instance": "a", "mountpoint": "/var"}),
    ("another cluster", {"service": "a", "cluster": "eu"}, {"service": "a", "cluster": "us"}),
    ("another environment", {"service": "a", "env": "prod"}, {"service": "a", "env": "stage"}),
    (
        "another address behind one probe",
        {"job": "blackbox", "instance": "https://shop.example/a"},
        {"job": "blackbox", "instance": "https://shop.example/b"},
    ),
    ("another topic", {"job": "kafka", "topic": "orders"}, {"job": "kafka", "topic": "mails"}),
    (
        "another database",
        {"instance": "db:9187", "datname": "a"},
        {"instance": "db:9187", "datname": "b"},
    ),
    ("a label nobody knows", {"customer": "a"}, {"customer": "b"}),
    ("another volume", KSM | {"persistentvolumeclaim": "a"}, KSM | {"persistentvolumeclaim": "b"}),
    ("values that run together", {"a": "1,b=2"}, {"a": "1", "b": "2"}),
    ("values with quotes", {"a": '1","b":"2'}, {"a": "1", "b": "2"}),
]


@pytest.mark.parametrize(("why", "one", "two"), SAME, ids=[case[0] for case in SAME])
def test_it_is_the_same_family_when(why: str, one: dict[str, str], two: dict[str, str]) -> None:
    assert key(alert(**one)) == key(alert(**two))


@pytest.mark.parametrize(("why", "one", "two"), OTHER, ids=[case[0] for case in OTHER])
def test_it_is_another_family_with(why: str, one: dict[str, str], two: dict[str, str]) -> None:
    assert key(alert(**one)) != key(alert(**two))


def test_a_family_is_of_one_client_and_one_rule_and_any_source() -> None:
    one = alert(service="a")
    assert key(one) != key(one, client="globex")
    assert key(one) != key(alert("OtherRule", service="a"))
    assert key(one) == key(alert(source="prometheus", service="a"))


def test_the_scope_is_told_in_the_words_cards_use() -> None:
    pod = KSM | {"namespace": "shop", "pod": "cart-7d9f8b6c5-xkp2q", "container": "cart"}
    assert failing_scope(alert(**pod, env="prod"), RULE) == {
        "environment": "prod",
        "namespace": "shop",
        "workload": "cart",
    }
    disk = NODE | {"instance": "web-1:9100", "mountpoint": "/var"}
    assert failing_scope(alert(**disk), RULE) == {"host": "web-1", "mountpoint": "/var"}
    assert failing_scope(alert(**KSM, **KSM_POD, node="n1", namespace="monitoring"), RULE) == {
        "host": "n1"
    }


@pytest.mark.parametrize("labels", [{}, {"severity": "page", "prometheus": "x"}])
def test_without_a_scope_the_rule_is_the_family(labels: dict[str, str]) -> None:
    found = family("acme", alert("TheRule", **labels), RULE)
    assert json.loads(found.key) == ["acme", "TheRule", {}]


def test_without_a_rule_the_alert_is_its_own_family() -> None:
    one, two = alert("", summary="CPU"), alert("", summary="disk")
    assert one.fingerprint in key(one)
    assert key(one) != key(two)


def test_the_rule_behind_a_failing_data_source_is_the_rule() -> None:
    one = alert("DatasourceError", rulename="api_5xx", datasource_uid="p")
    assert family("acme", one, RULE).rule == "api_5xx"
    assert key(one) != key(alert("DatasourceError", rulename="disk", datasource_uid="p"))


def test_configured_labels_replace_the_derivation() -> None:
    rule = CorrelationRule(labels=("region", "customer"))
    one = alert(region="eu", service="a", pod="x-1")
    assert failing_scope(one, rule) == {"region": "eu"}
    assert family("acme", one, rule).key == family("acme", alert(region="eu"), rule).key


names = st.text(min_size=1, max_size=8)


@given(labels=st.dictionaries(names, st.text(max_size=12), min_size=1, max_size=6))
def test_any_labels_have_a_family_that_is_never_empty(labels: dict[str, str]) -> None:
    given_ = alert().model_copy(update={"labels": labels})
    found = family("acme", given_, RULE)
    client, rule, scope, *own = json.loads(found.key)
    assert client == "acme"
    assert rule or own == [given_.fingerprint]
    assert scope == found.scope
    assert service_of(given_) != ""
    assert host_of(given_, RULE) != ""


@pytest.mark.parametrize(
    ("labels", "host"),
    [
        ({"instance": "web-1:9100"}, "web-1"),
        ({"instance": "web-1"}, "web-1"),
        ({"instance": "10.0.0.1:9100"}, "10.0.0.1"),
        ({"instance": "[2001:db8::1]:9100"}, "2001:db8::1"),
        ({"instance": "2001:db8::1"}, "2001:db8::1"),
        ({"instance": "https://shop.example:8443/health", "job": "blackbox"}, "shop.example"),
        ({"instance": "a:1", "host": "b"}, "a"),
        ({"host": "b", "hostname": "c"}, "b"),
        ({"hostname": "c", "node": "d"}, "c"),
        ({"node": "d", "kubernetes_node": "e"}, "d"),
        ({"kubernetes_node": "e"}, "e"),
        ({"service": "a"}, None),
        (KSM | {"deployment": "cart"}, None),
        (KSM | {"node": "n1"}, "n1"),
        ({"job": "yace", "instance": "10.0.0.1:5000"}, None),
        ({"pod": "cart-7d9f8b6c5-xkp2q", "instance": "10.1.0.4:80", "node": "n1"}, "n1"),
        ({"pod": "cart-7d9f8b6c5-xkp2q", "instance": "10.1.0.4:80"}, "10.1.0.4"),
        (NODE | {"instance": "10.0.0.7:9100", "node": "n7"}, "10.0.0.7"),
    ],
)
def test_the_host_is_the_machine_and_never_the_exporters(
    labels: dict[str, str], host: str | None
) -> None:
    assert host_of(alert(**labels), RULE) == host


def test_the_labels_that_name_a_host_are_configured() -> None:
    rule = CorrelationRule(host_labels=("server",))
    assert host_of(alert(server="a:1", instance="b"), rule) == "a"


@pytest.mark.parametrize(
    ("labels", "service"),
    [
        ({"service": "checkout", "app": "x"}, "checkout"),
        ({"app": "checkout", "deployment": "x"}, "checkout"),
        (KSM | {"deployment": "cart"}, "cart"),
        (KSM | {"pod": "cart-7d9f8b6c5-xkp2q"}, "cart"),
        ({"job": "api-server"}, "api-server"),
        (NODE | {"instance": "web-1:9100"}, "web-1"),
        ({"job": "postgres-exporter", "instance": "db-1:9187"}, "db-1"),
        ({}, "TheRule"),
    ],
)
def test_a_service_is_the_name_a_person_would_say(labels: dict[str, str], service: str) -> None:
    assert service_of(alert(**labels)) == service


@pytest.mark.parametrize(
    ("labels", "environment"),
    [({"env": "Prod"}, "prod"), ({"deployment.environment": "stage"}, "stage"), ({"a": "b"}, None)],
)
def test_an_environment_is_what_the_labels_say(
    labels: dict[str, str], environment: str | None
) -> None:
    assert environment_of(alert(**labels)) == environment
