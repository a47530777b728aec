"""What a kind of check is: one file that asks one question and says the answer in one way."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from pydantic import AwareDatetime

from engine.fence import CUT, LABEL_CHARACTERS, strip_invisible
from engine.host_watch import HostWatch
from engine.model.base import Frozen
from engine.model.evidence import Gap, Invalid, InvalidReason, QueryOutcome, outcome_of
from engine.model.incident import Incident
from engine.model.pack import Pack
from engine.model.policy import CorrelationRule
from engine.ports import Clock, EvidenceTool, QueryArbiter, Store
from engine.promql.server import ServerInfo

METRICS = "metrics"
HOSTS = "zabbix"


class Subject(Frozen):
    """What a check is about."""

    incident: Incident
    pack: Pack
    query: str = ""
    """The expression, for a check that takes one."""


@dataclass(frozen=True)
class Reach:
    """All that checks can touch; the client is bound inside."""

    store: Store
    clock: Clock
    metrics: EvidenceTool | None = None
    arbiter: QueryArbiter | None = None
    server: ServerInfo | None = None
    extra_matchers: Mapping[str, str] = field(default_factory=dict)
    """Labels every query of this client is held to."""
    hosts: HostWatch | None = None
    correlation: CorrelationRule = field(default_factory=CorrelationRule)
    """Which labels name a host."""

    def backend(self) -> EvidenceTool:
        """Give the metrics backend; a check that needs it runs only where there is one."""
        if self.metrics is None:
            raise LookupError("no metrics backend is configured")
        return self.metrics

    def host_watch(self) -> HostWatch:
        """Give the monitoring of hosts; a check that needs it runs only where there is one."""
        if self.hosts is None:
            raise LookupError("no host monitoring is configured")
        return self.hosts


class Seen(Frozen):
    """How a check ended, in the words that are persisted and read."""

    asked: str
    outcome: QueryOutcome
    text: str
    scope: Mapping[str, str] = {}
    scoped: bool = False
    invalid_reason: InvalidReason | None = None
    detail: str = ""
    evaluated_at: AwareDatetime | None = None
    figures: Mapping[str, float] = {}


Run = Callable[[Subject, Reach], Awaitable[Seen]]


@dataclass(frozen=True)
class CheckKind:
    """A kind of check; all of them stand in one table."""

    name: str
    run: Run
    floor: Callable[[Subject, Reach], bool] | None = None
    """Whether it belongs to the promised minimum here; None when it never does."""
    backend: str | None = METRICS
    """Whom it asks; None when our own records answer."""
    promised: bool = True
    """Whether the floor counts on it: a part of the floor that is asked where it fits does not."""


def unanswered(outcome: Invalid | Gap, *, asked: str, name: str) -> Seen:
    """Say that a check came back without an answer, and why."""
    if isinstance(outcome, Invalid):
        text = f"{name}: the query is invalid ({outcome.reason}) and shows nothing"
    else:
        text = f"{name}: no answer ({outcome.cause})"
    return Seen(
        asked=asked,
        outcome=outcome_of(outcome),
        text=text,
        invalid_reason=outcome.reason if isinstance(outcome, Invalid) else None,
        detail=plain(outcome.detail),
    )


def plain(text: str, longest: int = LABEL_CHARACTERS) -> str:
    """Bring text from outside onto one visible line, so that it can pose as no other line."""
    line = " ".join(strip_invisible(text).split())
    return line if len(line) <= longest else line[: longest - 1] + CUT
