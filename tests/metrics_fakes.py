"""A shop to look at without a server: its clock, its metrics, its incident."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from engine.model.alert import Alert, AlertClass, AlertStatus, Severity
from engine.model.change import Change
from engine.model.evidence import Answered, Empty, Outcome, Question, Series
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)

NOW = datetime(2026, 3, 1, 3, 5, tzinfo=UTC)
FIRED = NOW - timedelta(minutes=2)
SCOPE = {"environment": "prod", "namespace": "shop", "service": "checkout-api"}
LABELS = {
    "alertname": "CheckoutHighErrorRate", "env": "prod", "namespace": "shop",
    "service": "checkout-api", "severity": "critical",
}  # fmt: skip
STEPS = 240


@dataclass
class HandClock:
    """Stands still; its seconds pass twenty times faster when somebody waits."""

    at: datetime = NOW
    elapsed_s: float = 0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.elapsed_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 20)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds / 20)


@dataclass
class Metrics:
    """Answers a query by the first known text it holds; keeps what it was asked."""

    answers: Mapping[str, Outcome | tuple[Series, ...]]
    name: str = "metrics"
    hangs_on: str | None = None
    asked: list[str] = field(default_factory=list)

    async def ask(self, question: Question) -> Outcome:
        (name, query), *_ = question.queries.items()
        self.asked.append(query)
        if self.hangs_on is not None and self.hangs_on in query:
            await asyncio.Event().wait()
        at = question.window.end_at if question.window else question.at or NOW
        known = next((answer for text, answer in self.answers.items() if text in query), ())
        if not isinstance(known, tuple):
            return known
        return Answered(evaluated_at=at, results={name: known}) if known else Empty(evaluated_at=at)


@dataclass
class Log:
    """Changes as told."""

    told: list[Change]

    async def between(self, start_at: datetime, end_at: datetime) -> list[Change]:
        inside = [change for change in self.told if start_at <= change.at <= end_at]
        return sorted(inside, key=lambda change: change.at, reverse=True)

    async def sources(self) -> int:
        return len({change.source for change in self.told})


def line(
    before: float, after: float | None = None, *, since: datetime = FIRED, **labels: str
) -> Series:
    """Give a series that was `before` up to `since` and is `after` from then on."""
    later = before if after is None else after
    times = [(NOW - timedelta(seconds=15 * n)).timestamp() for n in reversed(range(STEPS))]
    points = tuple((at, later if at >= since.timestamp() else before) for at in times)
    return Series(labels=labels, points=points)


def names(*metrics: str) -> tuple[Series, ...]:
    """Give the answer to "which metrics are there"."""
    return tuple(Series(labels={"__name__": m}, points=((NOW.timestamp(), 1),)) for m in metrics)


def alert(starts_at: datetime = FIRED, **labels: str) -> Alert:
    """Give the shop's alert, with other labels where told."""
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=Severity.CRITICAL,
        labels=LABELS | labels,
        annotations={"summary": "checkout-api 5xx ratio is 23.1%"},
        starts_at=starts_at,
    )


def incident(
    *alerts: Alert,
    alert_class: AlertClass = AlertClass.SYMPTOM,
    scope: Mapping[str, str] = SCOPE,
    state: MemberState = MemberState.FIRING,
    reason: JoinReason = JoinReason.OPENED,
    shared: Mapping[str, str] | None = None,
) -> Incident:
    """Give an incident that holds the alerts, each rule in a group of its own."""
    given = alerts or (alert(),)
    rules = sorted({a.rule for a in given})
    groups = tuple(
        AlertGroup(id=rule, client_id="default", family_key=rule, rule=rule, scope=scope,
                   alert_class=alert_class)
        for rule in rules
    )  # fmt: skip
    members = tuple(
        Member(alert=a, group_id=a.rule, state=state, joined_at=NOW, last_seen_at=NOW,
               reason=reason, shared=shared or {})
        for a in given
    )  # fmt: skip
    return Incident(
        id="i1", client_id="default", number=1, state=IncidentState.OPEN,
        severity=Severity.CRITICAL, alert_class=alert_class, opened_at=NOW, activity_at=NOW,
        settle_at=NOW, window_until=NOW, groups=groups, members=members,
    )  # fmt: skip
