"""Are the neighbours' pods ready? Asked where kube-state-metrics is known to be scraped."""

from collections.abc import Iterator

from engine.model.pack import MetricDigest
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.ratio import Ratio, climb
from engine.verification.scope import Scope, ladder

EXPORTER = "kube-state-metrics"
_METRICS = "kube_"


def _running(inner: str) -> str:
    """Write readiness of pods that are meant to run: a finished job's pod is never ready again."""
    done = f'kube_pod_status_phase{{phase="Succeeded",{inner}}} == 1'
    ready = f'kube_pod_status_ready{{condition="true",{inner}}}'
    return f"({ready} unless on (namespace, pod) ({done}))"


RATIO = Ratio(
    name="ready pods",
    good=lambda inner: f"sum{_running(inner)}",
    every=lambda inner: f"count{_running(inner)}",
)


async def run(subject: Subject, reach: Reach) -> Seen:
    """Say how many pods of the incident's namespaces are ready."""
    return await climb(RATIO, [*_namespaces(subject)], reach.backend(), reach)


def installed(subject: Subject, reach: Reach) -> bool:
    """Whether anything in the evidence was measured by kube-state-metrics, in a known namespace."""
    if reach.metrics is None or not any(_namespaces(subject)):
        return False
    alerts = [member.alert for member in subject.incident.members]
    if any(EXPORTER in value for alert in alerts for value in alert.labels.values()):
        return True
    digests = [i.facts.query for i in subject.pack.items if isinstance(i.facts, MetricDigest)]
    return any(_METRICS in query for query in (*digests, subject.pack.anchor.expression or ""))


def _namespaces(subject: Subject) -> Iterator[Scope]:
    return (scope for scope in ladder(subject.incident) if set(scope.values) == {"namespace"})


CHECK = CheckKind(name="ready_pods", run=run, floor=installed)
