"""What kind of statement an alert is, on rules that people really run."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.classify import classify
from engine.expression import metrics_of
from engine.model.alert import Alert, AlertClass, AlertStatus, Severity

SYMPTOM, CAUSE, AHEAD = AlertClass.SYMPTOM, AlertClass.CAUSE, AlertClass.PREDICTIVE
GAP, BEAT = AlertClass.MONITORING_GAP, AlertClass.HEARTBEAT


def alert(rule: str, **labels: str) -> Alert:
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=Severity.WARNING,
        labels={"alertname": rule, **labels},
        starts_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


CORPUS = {
    "KubePodCrashLooping": SYMPTOM,
    "KubeDeploymentReplicasMismatch": SYMPTOM,
    "KubePodNotReady": SYMPTOM,
    "etcdHighNumberOfLeaderChanges": SYMPTOM,
    "KubernetesCronjobTooLong": SYMPTOM,
    "EbpfExporterNoEnabledConfigs": SYMPTOM,
    "RedisMissingMaster": SYMPTOM,
    "PostgresqlDeadLocks": SYMPTOM,
    "CockroachUnavailableRanges": SYMPTOM,
    "FreeswitchDown": SYMPTOM,
    "EnvoyHighDownstreamHttp4xxErrorRate": SYMPTOM,
    "MySQLReplicationLag": SYMPTOM,
    "BlackboxSslCertificateExpired": SYMPTOM,
    "LicenseExpired": SYMPTOM,
    "RabbitmqDeadLetterQueueFillingUp": SYMPTOM,
    "OpentelemetryCollectorExporterFailedSpans": SYMPTOM,
    "CoreDNSErrorsHigh": SYMPTOM,
    "KubeNodeNotReady": CAUSE,
    "KubeNodeUnreachable": CAUSE,
    "KubernetesNodeNotReady": CAUSE,
    "PostgreSQLDown": CAUSE,
    "MySQLDown": CAUSE,
    "RedisDown": CAUSE,
    "MongodbDown": CAUSE,
    "ClickhouseNodeDown": CAUSE,
    "SnmpInterfaceDown": CAUSE,
    "NodeRAIDDegraded": CAUSE,
    "HostSoftwareRaidDiskFailure": CAUSE,
    "etcdMembersDown": CAUSE,
    "NodeFilesystemSpaceFillingUp": AHEAD,
    "HostDiskMayFillIn24Hours": AHEAD,
    "KubeClientCertificateExpiration": AHEAD,
    "CertManagerCertExpirySoon": AHEAD,
    "EnvoySslCertificateExpiringSoon": AHEAD,
    "CephPoolGrowthWarning": AHEAD,
    "etcdExcessiveDatabaseGrowth": AHEAD,
    "KubeAPIDown": GAP,
    "KubeletDown": GAP,
    "KubeletInstanceUnreachable": GAP,
    "CertManagerAbsent": GAP,
    "PrometheusAllTargetsMissing": GAP,
    "HadoopResourceManagerDown": GAP,
    "ArgoAppMissing": GAP,
    "GlusterExporterDown": GAP,
    "ThanosStoreIsDown": GAP,
}


@pytest.fixture(scope="module")
def rules(shared: Path) -> dict[str, str]:
    lines = [
        line
        for name in ("rules_mixins.jsonl", "rules_awesome.jsonl")
        for line in (shared / "data/promql" / name).read_text().splitlines()
    ]
    return {r["name"]: r["expr"] for r in map(json.loads, lines) if r["kind"] == "alert"}


@pytest.mark.corpus
@pytest.mark.parametrize(("rule", "expected"), CORPUS.items())
def test_a_published_rule_is_known_for_what_it_is(
    rules: dict[str, str], rule: str, expected: AlertClass
) -> None:
    if rule not in rules:
        pytest.skip(f"{rule} is not in this corpus")
    assert classify(alert(rule), rules[rule]) is expected


@pytest.mark.corpus
def test_most_published_rules_are_symptoms(rules: dict[str, str]) -> None:
    found = Counter(classify(alert(name), expression) for name, expression in rules.items())
    assert found[SYMPTOM] > 0.9 * len(rules)
    assert BEAT not in found


@pytest.mark.parametrize(
    ("rule", "expression", "expected"),
    [
        ("Watchdog", "vector(1)", BEAT),
        ("Watchdog", None, BEAT),
        ("DeadMansSwitch", None, BEAT),
        ("PrometheusAlertmanagerE2eDeadManSwitch", None, BEAT),
        ("Pulse", " vector( 1 ) ", BEAT),
        ("WatchdogMissing", "absent(ALERTS)", GAP),
        ("InfoInhibitor", 'ALERTS{severity="info"} == 1 unless on (namespace) ALERTS', SYMPTOM),
        ("TargetDown", "100 * (count(up == 0) BY (job) / count(up) BY (job)) > 10", GAP),
        ("TargetDown", None, GAP),
        ("InstanceDown", "up == 0", GAP),
        ("Anything", 'up{job="api"} == 0', GAP),
        ("Anything", 'up{job="api"} != 1', GAP),
        ("Anything", 'sum(up{job="api"}) < 3', SYMPTOM),
        ("Anything", "absent_over_time(jobs_done_total[1h])", GAP),
        ("Anything", "rate(errors_total[5m]) > 1 or absent(errors_total)", SYMPTOM),
        ("NodeDown", 'up{job="node"} == 0', CAUSE),
        ("HostDown", None, CAUSE),
        ("CoreDNSDown", 'absent(up{job="kube-dns"} == 1)', CAUSE),
        ("KubeDNSDown", None, CAUSE),
        ("PostgresqlDown", None, CAUSE),
        ("NodeNetworkInterfaceFlapping", None, CAUSE),
        ("Anything", "pg_up == 0", CAUSE),
        ("Anything", 'mysql_up{instance=~".*"} != 1', CAUSE),
        ("Anything", 'kube_node_status_condition{condition="Ready",status="true"} == 0', CAUSE),
        ("Anything", 'kube_pod_status_ready{condition="true"} == 0', SYMPTOM),
        ("Anything", "predict_linear(disk_free[6h], 86400) < 0", AHEAD),
        ("CertificateExpiry", "cert_not_after - time() < 86400 * 7", AHEAD),
        ("DomainExpiringSoon", None, AHEAD),
        ("PushgatewayDown", None, SYMPTOM),
        ("CheckoutDown", None, SYMPTOM),
        ("HighLatency", None, SYMPTOM),
        ("", None, SYMPTOM),
    ],
)
def test_a_rule_is_told_by_name_and_expression(
    rule: str, expression: str | None, expected: AlertClass
) -> None:
    assert classify(alert(rule), expression) is expected


@pytest.mark.parametrize("name", ["DatasourceError", "DatasourceNoData"])
def test_what_a_failing_data_source_says_was_measured_by_nobody(name: str) -> None:
    fired = alert(name, rulename="PostgresqlDown", summary="API is down")
    assert classify(fired, "pg_up == 0") is GAP


def test_the_authors_word_comes_first() -> None:
    assert classify(alert("NodeDown", caveat_class="symptom"), "up == 0") is SYMPTOM
    assert classify(alert("Checkout", caveat_class=" Cause "), None) is CAUSE
    assert classify(alert("NodeDown", caveat_class="nonsense"), None) is CAUSE


@pytest.mark.parametrize(
    ("expression", "metrics"),
    [
        ("up == 0", {"up"}),
        (
            'sum by (job) (rate(a_total{b="c"}[5m])) / on (job) group_left () d > 1e3',
            {"a_total", "d"},
        ),
        ('{__name__="x", y="up"} offset 5m', {"x"}),
        ("a:b:c > bool 0 and Inf # up", {"a:b:c"}),
        ("vector(1)", set()),
        ("", set()),
    ],
)
def test_the_metrics_of_an_expression_are_read(expression: str, metrics: set[str]) -> None:
    assert metrics_of(expression) == metrics


@pytest.mark.timeout(20)
def test_neither_name_nor_expression_can_stall_it() -> None:
    for endless in ("raid", "cert", "node", "a(", "absent(", '"', "unless", "{", "a" * 50):
        classify(alert(endless * 20_000), endless * 20_000)
