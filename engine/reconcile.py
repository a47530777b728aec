"""What a source says fires now against what is held of it: a missed resolve is told by absence."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from engine.model.alert import Alert, AlertStatus

GRACE_POLLS = 2
"""Complete polls an alert must be missing from before it counts as resolved."""


def reconciled(
    firing: Sequence[Alert],
    unseen: Sequence[Alert],
    now: datetime,
    *,
    complete: bool,
    reachable_s: float,
    every_s: float,
) -> list[Alert]:
    """What a poll amounts to: everything that fires, and a resolve for what is gone.

    Args:
        firing: what the source says fires now.
        unseen: what is held of this source as firing and was not seen for the grace
            (`grace_s`) of polls.
        now: the moment of asking.
        complete: the answer was whole: no time-out, no filter, nothing cut off.
        reachable_s: how long the source has answered every poll.
        every_s: how often it is asked.
    """
    seen = {alert.fingerprint for alert in firing}
    if not complete or reachable_s < grace_s(every_s):
        return list(firing)
    gone = [ended(alert, now) for alert in unseen if alert.fingerprint not in seen]
    return [*firing, *gone]


def grace_s(every_s: float) -> float:
    """How long an alert must be unseen before its absence means anything."""
    return GRACE_POLLS * every_s


def unseen_since(now: datetime, every_s: float) -> datetime:
    """The moment an alert must have been seen after to count as present."""
    return now - timedelta(seconds=grace_s(every_s))


def ended(alert: Alert, at: datetime) -> Alert:
    """The alert as its source's silence reports it: resolved."""
    return alert.model_copy(update={"status": AlertStatus.RESOLVED, "ends_at": at})
