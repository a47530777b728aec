"""Exporters: programs that measure something else. Their own labels never say what fails."""

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from engine.labels import workload_of_pod


class Exporter(Enum):
    """What an exporter speaks of, told by the name of its scrape job or service."""

    CLUSTER_STATE = re.compile(r"(kube|openshift)[-_]?state[-_]?metrics|^ksm$")
    """Every object of a cluster; its pod, instance and service are its own."""
    HOST = re.compile(
        r"(node|windows|wmi)[-_]?exporter|^node$|^(integrations/)?(unix|windows|linux)$"
    )
    """The machine it runs on: its instance is the host, its pod is nothing."""
    KUBELET = re.compile(r"^(.*/)?kubelet$|cadvisor")
    """The containers of its node: their pod fails, the node is where."""
    PROBE = re.compile(r"blackbox|^probe\b|snmp|ipmi|icmp|^ping|synthetic")
    """What it reaches out to: `target`, or else the instance."""
    CLOUD = re.compile(
        r"cloudwatch|^yace|stackdriver|azure|(aws|gcp|hcloud|hetzner|digitalocean|cloudflare)"
        r"[-_]?exporter"
    )
    """Resources of a cloud; nothing of it has an address."""
    OTHER = re.compile(r"exporter")
    """One service it stands beside or points at."""


def exporter_of(labels: Mapping[str, str]) -> Exporter | None:
    """Which kind of exporter measured this; None when the thing spoke for itself."""
    return _named_after(labels.get("job", "")) or _named_after(labels.get("service", ""))


@lru_cache(4096)
def _named_after(name: str) -> Exporter | None:
    return next((kind for kind in Exporter if kind.value.search(name.lower())), None)


_OBJECTS = (
    "workload persistentvolumeclaim horizontalpodautoscaler hpa resourcequota poddisruptionbudget "
    "ingress configmap secret endpoint_slice scaledobject certificate name resource"
)
_NAMESPACED = frozenset(_OBJECTS.split())
"""Labels of objects that live in a namespace, so that the namespace beside them is theirs."""
_AROUND = frozenset({"namespace", "cluster", "environment"})
_SCRAPED = ("job", "instance", "pod", "container")
_HELPERS = re.compile(r"^kube-rbac-proxy|state-metrics")


def without_exporter(labels: Mapping[str, str], hosts: tuple[str, ...]) -> dict[str, str]:
    """Labels in one word each, with what names the exporter taken out.

    Args:
        labels: what `in_one_word` gave.
        hosts: label names that may hold a host; `instance` usually is one of them.
    """
    kind = exporter_of(labels)
    owned = _owned(labels, kind, hosts)
    return {name: value for name, value in labels.items() if name not in owned}


def _owned(
    labels: Mapping[str, str], kind: Exporter | None, hosts: tuple[str, ...]
) -> frozenset[str]:
    named = {n for n in ("job", "service", "workload") if _names_exporter(labels.get(n, ""))}
    own: set[str] = set()
    match kind:
        case Exporter.CLUSTER_STATE:
            own = {"job", "instance"} | named | _cluster_state_pod(labels)
        case Exporter.HOST:
            own = {*_SCRAPED, "service", "workload", "namespace"} - {"instance"}
        case Exporter.PROBE:
            own = {"job", "pod", "container"} | named | _probe(labels)
        case Exporter.CLOUD:
            own = {*_SCRAPED} | named | ({"namespace"} if "pod" in labels else set())
        case Exporter.KUBELET:
            inside = labels.keys() & {"pod", "workload", "persistentvolumeclaim"}
            own = {"job", "service", "instance", *hosts} if inside else {"namespace", "container"}
        case Exporter.OTHER:
            own = named if labels.keys() - named - _AROUND else set()
        case None:
            pass
    return frozenset(own)


def _names_exporter(name: str) -> bool:
    return _named_after(name) not in {None, Exporter.KUBELET}


def _cluster_state_pod(labels: Mapping[str, str]) -> set[str]:
    """Labels the scrape put on a metric that has none of its own: the exporter's whereabouts."""
    pod = labels.get("pod", "")
    own_pod = bool(pod) and _names_exporter(workload_of_pod(pod))
    own = {"pod"} if own_pod else set()
    if own_pod or _HELPERS.search(labels.get("container", "")):
        own.add("container")
    somewhere_else = own_pod or ("pod" not in labels and "node" in labels)
    if somewhere_else and not labels.keys() & _NAMESPACED:
        own.add("namespace")
    return own


def _probe(labels: Mapping[str, str]) -> set[str]:
    own = {"instance"} if "target" in labels else set()
    return own | ({"namespace"} if "pod" in labels else set())
