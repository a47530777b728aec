"""Whose alert it is and which alerts are one thing failing again.

A family is one rule on one failing scope. How the sender groups its notifications is its own
choice and no identity: two workloads of one namespace in one notification are two failures.
"""

from collections.abc import Mapping

from engine.exporters import Exporter, exporter_of, without_exporter
from engine.labels import cut_port, in_one_word, without_exported, workload_of_pod
from engine.model.alert import Alert
from engine.model.base import Frozen, canonical_json
from engine.model.policy import CorrelationRule


class Family(Frozen):
    """Alerts of one rule on one failing scope; unit of recurrence, memory and corrections."""

    key: str
    """Canonical JSON of client, rule and scope: no value of a label can imitate another's."""
    rule: str
    scope: Mapping[str, str]


def family(client_id: str, alert: Alert, rule: CorrelationRule) -> Family:
    """Say which family an alert belongs to; an alert without a rule name is its own."""
    scope = failing_scope(alert, rule)
    identity: list[object] = [client_id, alert.rule, scope]
    if not alert.rule:
        identity.append(alert.fingerprint)
    return Family(key=canonical_json(identity), rule=alert.rule, scope=scope)


def failing_scope(alert: Alert, rule: CorrelationRule) -> dict[str, str]:
    """What fails, in labels that outlive a restart: namespace, workload, service, host, device.

    Labels nobody knows are kept: too fine a scope costs a second card, too coarse a one hides it.
    """
    if rule.labels:
        return {name: alert.labels[name] for name in rule.labels if alert.labels.get(name)}
    words = _in_one_word(alert)
    told = without_exporter(words, rule.host_labels)
    pod = told.pop("pod", None)
    host = _first(told, rule.host_labels)
    is_probe = exporter_of(words) is Exporter.PROBE
    scope = {n: v for n, v in told.items() if n not in {*rule.host_labels, "instance", "job"}}
    if pod:
        scope.setdefault("workload", workload_of_pod(pod))
    elif is_probe and "instance" in told:
        scope["target"] = told["instance"]
    elif host:
        scope["host"] = cut_port(host)
    return _named(scope, told)


def _named(scope: dict[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """Let a scrape job stand for a service nothing else names; a container has a workload."""
    if "workload" in scope:
        scope.pop("container", None)
    elif "service" not in scope and "job" in told:
        scope["service"] = told["job"]
    return scope


def _in_one_word(alert: Alert) -> dict[str, str]:
    return in_one_word(without_exported(alert.labels))


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)


def host_of(alert: Alert, rule: CorrelationRule) -> str | None:
    """The machine an alert is about or runs on; None when no label names one.

    A pod's own address is no machine, so it comes last where there is a better name.
    """
    words = _in_one_word(alert)
    kind = exporter_of(words)
    spoken_for = kind in {Exporter.CLUSTER_STATE, Exporter.CLOUD}
    names = [name for name in rule.host_labels if not (spoken_for and name == "instance")]
    if "pod" in words and kind is not Exporter.HOST:
        names.sort(key=lambda name: name == "instance")
    if kind is Exporter.PROBE and "target" in words:
        names = ["target"]
    host = _first(words, tuple(names))
    return cut_port(host) if host else None


def service_of(alert: Alert) -> str | None:
    """The shortest name a person would say: service, workload, job, host, or else the rule."""
    rule = CorrelationRule()
    told = without_exporter(_in_one_word(alert), rule.host_labels)
    named = told.get("service") or told.get("workload")
    if not named and "pod" in told:
        named = workload_of_pod(told["pod"])
    return named or told.get("job") or host_of(alert, rule) or alert.rule or None


def environment_of(alert: Alert) -> str | None:
    """The environment an alert says it comes from, in lower case."""
    said = _in_one_word(alert).get("environment")
    return said.lower() if said else None
