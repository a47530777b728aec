"""Label names: which mean the same, and which say nothing about what fails."""

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

_KINDS = {
    "cluster": "cluster k8s_cluster k8s_cluster_name kubernetes_cluster cluster_name",
    "environment": "environment env deployment_environment deployment_environment_name stage",
    "namespace": "namespace k8s_namespace k8s_namespace_name kubernetes_namespace kube_namespace",
    "service": "service service_name app app_name app_kubernetes_io_name k8s_app application "
    "application_name app_kubernetes_io_instance",
    "workload": "workload deployment statefulset daemonset cronjob rollout deploymentconfig "
    "k8s_deployment_name k8s_statefulset_name k8s_daemonset_name k8s_cronjob_name replicaset "
    "k8s_replicaset_name job_name k8s_job_name",
    "pod": "pod pod_name k8s_pod_name kubernetes_pod_name",
    "container": "container container_name k8s_container_name",
}
_MEANS = {name: (kind, n) for kind, names in _KINDS.items() for n, name in enumerate(names.split())}
"""What a label name stands for, and its place among its like: the first wins."""

_THE_RULE = (
    "alertname rulename alertstate severity priority level criticality team owner owners squad "
    "contact receiver slack_channel notify pager runbook runbook_url dashboard dashboard_url "
    "summary description message rule_group rule_uid grafana_folder datasource_uid datasource "
    "ref_id orgid alert_rule_uid"
)
_WHO_MEASURED = (
    "prometheus prometheus_replica prometheus_group replica receive receive_replica monitor "
    "endpoint metrics_path scrape_job"
)
_HOW_IT_FAILS = (
    "reason phase status state code status_code response_code le quantile image image_id "
    "image_spec version revision git_version commit tag"
)
_GONE_WITH_A_RESTART = (
    "uid pod_uid id container_id pod_ip host_ip internal_ip pid trace_id span_id request_id "
    "session session_id pod_template_hash controller_revision_hash pod_template_generation "
    "value current_value threshold timestamp"
)
_SAYS_NOTHING = frozenset(
    f"{_THE_RULE} {_WHO_MEASURED} {_HOW_IT_FAILS} {_GONE_WITH_A_RESTART}".split()
)
_MEASURED = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?\s?%?", re.IGNORECASE)
"""A measured value that somebody put into a label: another one at every evaluation."""
_HIDDEN = ("__", "caveat_")
_EXPORTED = "exported_"
_NOT_WORD = re.compile(r"[^a-z0-9]+")


def without_exported(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels in lower case with empty ones left out and clashes decided.

    Where Prometheus had to rename a label of the measured thing to `exported_…`, the plain name
    holds what was scraped, which is never what fails.
    """
    plain = {_spelled(name): value for name, value in labels.items() if value}
    own = {
        name.removeprefix(_EXPORTED): value
        for name, value in plain.items()
        if name.startswith(_EXPORTED)
    }
    return {n: v for n, v in plain.items() if not n.startswith(_EXPORTED)} | own


@lru_cache(4096)
def _spelled(name: str) -> str:
    return name if name.startswith("__") else _NOT_WORD.sub("_", name.lower()).rstrip("_")


def in_one_word(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that may say what fails, each kind of thing under one name."""
    told = {
        name: value
        for name, value in labels.items()
        if name not in _SAYS_NOTHING
        and not name.startswith(_HIDDEN)
        and not _MEASURED.fullmatch(value)
    }
    best = sorted(told, key=lambda name: (_MEANS.get(name, (name, 0)), name))
    found: dict[str, str] = {}
    for name in best:
        found.setdefault(_MEANS.get(name, (name, 0))[0], _shortened(name, told[name]))
    return found


def _shortened(name: str, value: str) -> str:
    if name in {"replicaset", "k8s_replicaset_name"}:
        return _REPLICA_SET.sub("", value)
    if name in {"job_name", "k8s_job_name"}:
        return _RUN.sub("", value)
    return value


_KUBE = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of names Kubernetes makes up: no vowels, nothing that looks like another."""
_REPLICA_SET = re.compile(rf"-(?:[{_KUBE}]{{6,10}}|(?=[a-z]*\d)[a-z0-9]{{8,10}})$")
_RUN = re.compile(r"-\d{6,}$")
_POD = re.compile(rf"-(?:[{_KUBE}]{{5}}|(?=[a-z]*\d)[a-z0-9]{{5}})$")
_ORDINAL = re.compile(r"-\d{1,4}$")
_WORDS = ("-https", "-mssql", "-grpcs")
"""Endings that only look as if Kubernetes had made them up."""


@lru_cache(4096)
def workload_of_pod(pod: str) -> str:
    """The name that stays when a pod is replaced: deployment, stateful set, daemon set or job."""
    if pod.endswith(_WORDS):
        return pod
    short = _POD.sub("", pod)
    if short == pod:
        return _ORDINAL.sub("", pod) or pod
    return _RUN.sub("", _REPLICA_SET.sub("", short)) or pod


def cut_port(address: str) -> str:
    """The host of an address: `web-1:9100`, `[::1]:9100`, `https://web-1/health`."""
    if "://" in address:
        return _host_of_url(address) or address
    if address.startswith("["):
        return address[1:].partition("]")[0] or address
    host, colon, port = address.rpartition(":")
    return host if colon and host and ":" not in host and port.isdigit() else address


def _host_of_url(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
