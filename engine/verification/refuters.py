"""Which kinds of check could speak against which class of cause."""

from collections.abc import Mapping

from engine.model.finding import MODEL_QUERY
from engine.model.pack import CauseClass

_WIDE = frozenset(
    {
        CauseClass.NODE,
        CauseClass.NETWORK,
        CauseClass.DNS,
        CauseClass.CLOUD_PROVIDER,
        CauseClass.MONITORING,
    }
)
"""Causes that take their neighbours down with them."""

_REFUTES: Mapping[str, frozenset[CauseClass]] = {
    "peer_up_ratio": _WIDE,
    "ready_pods": _WIDE | {CauseClass.RESOURCE_EXHAUSTION},
    "host_reachability": frozenset({CauseClass.NODE, CauseClass.NETWORK, CauseClass.MONITORING}),
    "host_neighbours": _WIDE,
    "version_split": frozenset(
        {CauseClass.DEPLOY, CauseClass.CONFIG_CHANGE, CauseClass.CODE_FAULT}
    ),
    "common_denominator": frozenset(
        {CauseClass.NODE, CauseClass.NETWORK, CauseClass.CLOUD_PROVIDER, CauseClass.DATABASE}
    ),
    "incidents_in_window": frozenset(),
    "cause_series": frozenset(),
    "widened": frozenset(),
    MODEL_QUERY: frozenset(CauseClass) - {CauseClass.OTHER},
}
"""A query of the model's own asks what its author thought of, so it may speak to any class that
says something: what is only called "other" can be contradicted by nothing. Other incidents name
what else burns; that nothing else does proves nothing about this. A person's checks test the cause
the person named."""


def could_refute(kind: str, cause_class: CauseClass) -> bool:
    """Whether a fetched, scoped check of this kind could have contradicted such a cause."""
    return cause_class in _REFUTES.get(kind, frozenset())
