"""Every kind of check, in the order the floor asks them."""

from collections.abc import Mapping

from engine.model.finding import PlannedCheckKind
from engine.verification.checks import (
    cause_series,
    common_denominator,
    host_neighbours,
    host_reachability,
    incidents_in_window,
    model_promql,
    peer_up_ratio,
    ready_pods,
    version_split,
    widened,
)
from engine.verification.kind import CheckKind

CHECKS: Mapping[str, CheckKind] = {
    kind.name: kind
    for kind in (
        peer_up_ratio.CHECK,
        ready_pods.CHECK,
        host_reachability.CHECK,
        host_neighbours.CHECK,
        incidents_in_window.CHECK,
        version_split.CHECK,
        common_denominator.CHECK,
        cause_series.CHECK,
        widened.CHECK,
        model_promql.CHECK,
    )
}

PLANNABLE: Mapping[PlannedCheckKind, CheckKind] = {
    PlannedCheckKind.PROMQL: model_promql.CHECK,
    PlannedCheckKind.INCIDENTS_IN_WINDOW: incidents_in_window.CHECK,
}
"""What a model may ask for. Closed: never SQL, never a write."""
