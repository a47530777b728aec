"""The one capped batch of checks between draft and judgement: floor first, in one short time."""

import asyncio
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.base import Frozen
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, CheckSource, PlannedCheck, PlannedCheckKind
from engine.model.policy import VerificationRule
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.table import CHECKS, PLANNABLE

NO_FLOOR_BACKEND = "no_floor_backend"
FLOOR_FAILED = "floor_failed"
JUDGEMENT_LOST = "judgement_lost"
_BROKEN = frozenset({QueryOutcome.FAILED, QueryOutcome.DEGRADED, QueryOutcome.INVALID})


class Batch(Frozen):
    """What the checks brought, and whether the promised minimum was kept."""

    results: tuple[CheckResult, ...] = ()
    degraded_reasons: tuple[str, ...] = ()
    floor_fetched: bool = False
    left_out: int = 0
    """Checks the model asked for that did not run: over the cap, twice the same, not offered."""

    @property
    def query_failed(self) -> bool:
        """Whether any check gave no usable answer."""
        return any(result.outcome in _BROKEN for result in self.results)


@dataclass(frozen=True)
class Check:
    """One check to be made."""

    id: str
    source: CheckSource
    kind: CheckKind
    query: str = ""
    original: str = ""
    """The query before its syntax was repaired."""


async def run_batch(
    subject: Subject,
    plan: Sequence[PlannedCheck],
    reach: Reach,
    rule: VerificationRule,
    *,
    repairs: Mapping[str, str] | None = None,
    steered: Sequence[tuple[CheckKind, str]] = (),
) -> Batch:
    """Run the floor, a person's checks and the model's; the floor depends on nothing they said.

    Args:
        subject: the incident.
        plan: what the model asked for.
        reach: whom to ask.
        rule: how many of the model's checks, and how long they all may take.
        repairs: corrected texts of queries in the plan.
        steered: checks of a governing correction; the cap on the model's does not count them.
    """
    chosen = choose(plan, reach, rule.max_queries)
    parts: list[tuple[CheckSource, CheckKind, str]] = [
        (CheckSource.FLOOR, kind, "")
        for kind in CHECKS.values()
        if kind.floor is not None and kind.floor(subject, reach)
    ]
    parts += [(CheckSource.OPERATOR, *one) for one in steered if reach.metrics is not None]
    parts += [(CheckSource.MODEL, PLANNABLE[one.kind], one.query) for one in chosen]
    checks = [_check(n, *part, repairs or {}) for n, part in enumerate(parts, start=1)]
    results = await _Runner(subject, reach, rule).run(checks)
    return Batch(
        results=tuple(results),
        degraded_reasons=_degraded(checks, results),
        floor_fetched=any(_counts(check, r) for check, r in zip(checks, results, strict=True)),
        left_out=len(plan) - len(chosen),
    )


def _check(
    number: int, source: CheckSource, kind: CheckKind, query: str, repairs: Mapping[str, str]
) -> Check:
    """Number a check; of a repaired query both texts are kept."""
    if source is CheckSource.MODEL and query in repairs:
        return Check(f"R{number}", source, kind, repairs[query], original=query)
    return Check(f"R{number}", source, kind, query)


def choose(plan: Sequence[PlannedCheck], reach: Reach, most: int) -> list[PlannedCheck]:
    """Take the first checks of a plan that can be made here, each once."""
    able = [p for p in plan if p.kind is not PlannedCheckKind.PROMQL or reach.metrics is not None]
    once = {(p.kind, " ".join(p.query.split())): p for p in reversed(able)}
    return [p for p in able if p in once.values()][:most]


def _degraded(checks: Sequence[Check], results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Say how the promised minimum was missed. A check of the model's own never misses it."""
    floor = [(c, r) for c, r in zip(checks, results, strict=True) if _of_floor(c)]
    failed = [f"{FLOOR_FAILED}:{c.kind.name}" for c, r in floor if r.outcome in _BROKEN]
    backed = any(check.kind.backend is not None for check, _ in floor)
    return tuple(failed if backed else [NO_FLOOR_BACKEND, *failed])


def _counts(check: Check, result: CheckResult) -> bool:
    """Whether a check is one of those that make the floor fetched."""
    told = _of_floor(check) and check.kind.backend is not None
    return told and result.scoped and result.outcome is QueryOutcome.FETCHED


def _of_floor(check: Check) -> bool:
    """Whether a check belongs to the promised minimum."""
    return check.source is CheckSource.FLOOR and check.kind.promised


@dataclass
class _Runner:
    """A few lanes through one queue, under one deadline."""

    subject: Subject
    reach: Reach
    rule: VerificationRule
    seen: dict[str, CheckResult] = field(default_factory=dict)

    async def run(self, checks: Sequence[Check]) -> list[CheckResult]:
        """Make every check, in order of start, and give the results in the order asked."""
        waiting = deque(checks)
        until_s = self.reach.clock.monotonic() + self.rule.query_timeout_seconds
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(self.rule.parallel, len(checks))):
                lanes.create_task(self._lane(waiting, until_s))
        return [self.seen[check.id] for check in checks]

    async def _lane(self, waiting: deque[Check], until_s: float) -> None:
        while waiting:
            left_s = until_s - self.reach.clock.monotonic()
            slice_s = left_s / math.ceil(len(waiting) / self.rule.parallel)
            check = waiting.popleft()
            given_s = min(left_s, max(self.rule.min_query_s, slice_s))
            self.seen[check.id] = _result(check, await self._make(check, given_s))

    async def _make(self, check: Check, given_s: float) -> Seen:
        """Make one check in the time it is given; too little time is a time-out, not a send."""
        if given_s < min(self.rule.min_query_s, self.rule.query_timeout_seconds):
            return _late(check, given_s)
        subject = self.subject.model_copy(update={"query": check.query})
        try:
            async with self.reach.clock.timeout(given_s):
                return await check.kind.run(subject, self.reach)
        except TimeoutError:
            return _late(check, given_s)


def _late(check: Check, given_s: float) -> Seen:
    name = check.query or check.kind.name
    text = f"{check.kind.name}: no answer in {max(0.0, given_s):.1f} s"
    return Seen(asked=name, outcome=QueryOutcome.DEGRADED, text=text, detail="timed_out")


def _result(check: Check, seen: Seen) -> CheckResult:
    return CheckResult(
        id=check.id,
        source=check.source,
        kind=check.kind.name,
        asked=seen.asked,
        original=check.original,
        outcome=seen.outcome,
        text=seen.text,
        scope=seen.scope,
        scoped=seen.scoped,
        invalid_reason=seen.invalid_reason,
        detail=seen.detail,
        evaluated_at=seen.evaluated_at,
        figures=seen.figures,
        backend=check.kind.backend,
    )
