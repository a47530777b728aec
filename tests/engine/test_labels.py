"""The names that stay when Kubernetes replaces what they name."""

import pytest

from engine.labels import cut_port, workload_of_pod


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        ("cart-7d9f8b6c5-xkp2q", "cart"),
        ("checkout-api-5bd8c6cc4d-h2x7k", "checkout-api"),
        ("web-7f6a9e1b2c-a1b2c", "web"),
        ("node-exporter-x7k2p", "node-exporter"),
        ("fluentd-bxqzk", "fluentd"),
        ("backup-28399990-xkp2q", "backup"),
        ("migrate-xkp2q", "migrate"),
        ("postgres-0", "postgres"),
        ("kafka-broker-12", "kafka-broker"),
        ("ingress-proxy-https", "ingress-proxy-https"),
        ("db-mssql", "db-mssql"),
        ("kube-apiserver-ip-10-0-0-1.ec2.internal", "kube-apiserver-ip-10-0-0-1.ec2.internal"),
        ("redis", "redis"),
        ("payment-service", "payment-service"),
        ("storefront", "storefront"),
        ("", ""),
        ("-0", "-0"),
    ],
)
def test_a_pod_is_named_after_its_workload(pod: str, workload: str) -> None:
    assert workload_of_pod(pod) == workload


@pytest.mark.parametrize(
    ("address", "host"),
    [
        *(("a:80", "a"), ("a", "a"), (":80", ":80"), ("a:b", "a:b"), ("::1", "::1"), ("", "")),
        *(("[::1]:9", "::1"), ("http://a:80/x", "a"), ("http://[", "http://[")),
    ],
)
def test_a_port_is_cut_off(address: str, host: str) -> None:
    assert cut_port(address) == host
