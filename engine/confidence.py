"""From what a model said of itself to the one number that is shown. Each step is kept."""

import math
from collections.abc import Callable, Iterable, Iterator

from engine.model.base import Frozen
from engine.model.finding import ConfidenceStep, ConfidenceStepName

METADATA_ONLY_CAP = 0.6
CORRECTION_UNTESTED_CAP = 0.6
REPLACED_CAP = 0.7

Calibration = Callable[[float], float]
"""A map fitted on labelled outcomes."""


def uncalibrated(value: float) -> float:
    """The map before there are labels enough to fit one."""
    return value


class Said(Frozen):
    """The two numbers of the model, and what is known about how it came by them."""

    self_confidence: float | None
    judged_confidence: float | None
    """None when call 2 was lost or never made."""
    query_failed: bool = False
    """Any check failed, timed out or was invalid, or the round was degraded."""
    metadata_only: bool = False
    correction_untested: bool = False
    replaced: bool = False
    groundedness: float | None = None
    ungrounded: bool = False


class Weighed(Frozen):
    """The shown confidence and every step that changed it."""

    value: float | None
    steps: tuple[ConfidenceStep, ...] = ()


_FREE = frozenset({ConfidenceStepName.JUDGED, ConfidenceStepName.CALIBRATED})


def caps(steps: Iterable[ConfidenceStep]) -> tuple[ConfidenceStep, ...]:
    """Give the steps that are hard limits and lowered the value."""
    return tuple(step for step in steps if step.name not in _FREE)


def weigh(said: Said, calibrate: Calibration = uncalibrated) -> Weighed:
    """Apply the steps in their fixed order; caps come last, so that no fitted map lifts them."""
    first = said.self_confidence if said.judged_confidence is None else said.judged_confidence
    if first is None:
        return Weighed(value=None)
    value = clamped(first)
    steps = [ConfidenceStep(name=ConfidenceStepName.JUDGED, value=value)]
    fitted = clamped(calibrate(value))
    if fitted != value:
        value = fitted
        steps.append(ConfidenceStep(name=ConfidenceStepName.CALIBRATED, value=value))
    for name, cap in _caps(said):
        if value > cap:
            value = cap
            steps.append(ConfidenceStep(name=name, value=value))
    return Weighed(value=value, steps=tuple(steps))


def _caps(said: Said) -> Iterator[tuple[ConfidenceStepName, float]]:
    if said.query_failed:
        # A draft that named no cause had no confidence in one.
        yield ConfidenceStepName.QUERY_FAILED, clamped(said.self_confidence or 0)
    if said.metadata_only:
        yield ConfidenceStepName.METADATA_ONLY, METADATA_ONLY_CAP
    if said.correction_untested:
        yield ConfidenceStepName.CORRECTION_UNTESTED, CORRECTION_UNTESTED_CAP
    if said.replaced:
        yield ConfidenceStepName.REPLACED, REPLACED_CAP
    if said.ungrounded and said.groundedness is not None:
        yield ConfidenceStepName.UNGROUNDED, clamped(said.groundedness)


def clamped(value: float) -> float:
    """Bring a number into 0…1; what is no number is no confidence."""
    return 0.0 if math.isnan(value) else min(1.0, max(0.0, value))
