"""What a source says fires now against what is held of it: a missed resolve is told by absence."""

from collections.abc import Sequence
from datetime import datetime

from engine.model.alert import Alert, AlertStatus

GRACE_POLLS = 2
"""Complete polls an alert must be missing from before it counts as resolved."""
RESTART_S = 300.0
"""A source that just started holds nothing until its senders repeat themselves: Prometheus sends
again after its resend delay, a minute unless told otherwise, and only at an evaluation."""


def reconciled(
    firing: Sequence[Alert],
    unseen: Sequence[Alert],
    now: datetime,
    *,
    complete: bool,
    reachable_s: float,
    grace_s: float,
) -> list[Alert]:
    """What a poll amounts to: everything that fires, and a resolve for what is gone.

    Args:
        firing: what the source says fires now.
        unseen: what is held of this source as firing and was not seen for the grace
            (`grace_s`).
        now: the moment of asking.
        complete: the answer was whole: no time-out, no filter, nothing cut off.
        reachable_s: how long the source has answered every poll.
        grace_s: how long an alert must be missing.
    """
    seen = {alert.fingerprint for alert in firing}
    if not complete or reachable_s < grace_s:
        return list(firing)
    gone = [ended(alert, now) for alert in unseen if alert.fingerprint not in seen]
    return [*firing, *gone]


def grace_s(every_s: float, up_s: float | None) -> float:
    """How long an alert must be unseen before its absence means anything.

    Args:
        every_s: how often the source is asked.
        up_s: how long the source has run; None when it does not tell.
    """
    polls_s = GRACE_POLLS * every_s
    return polls_s if up_s is not None and up_s >= RESTART_S else max(polls_s, RESTART_S)


def ended(alert: Alert, at: datetime) -> Alert:
    """The alert as its source's silence reports it: resolved."""
    return alert.model_copy(update={"status": AlertStatus.RESOLVED, "ends_at": at})
