"""What an investigation asked beyond the pack, numbered, and which of its bounds ended it."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen
from engine.model.evidence import QueryOutcome


class ToolName(StrEnum):
    """Every tool there is. Closed, and read-only one and all."""

    METRICS_NOW = "metrics_now"
    METRICS_OVER_TIME = "metrics_over_time"
    LOGS = "logs"
    CHANGES = "changes"
    INCIDENTS = "incidents"
    KUBERNETES_EVENTS = "kubernetes_events"
    COMPLIANCE_FACTS = "compliance_facts"


class Bound(StrEnum):
    """What ended an investigation before its model did."""

    DEADLINE = "deadline"
    TOKENS = "tokens"
    LOOPS = "loops"
    BUDGET = "budget"
    """Of the client and day."""
    STOPPED = "stopped"
    """Somebody asked for it."""


class LedgerEntry(Frozen):
    """One question of the model's and its answer; claims cite it by its id."""

    id: str = Field(pattern=r"^T\d+$")
    call: int = Field(ge=1)
    """Which call of the conversation it answers, counted from 1."""
    tool: ToolName
    arguments: str
    """Canonical JSON, as the model gave them."""
    asked: str
    """The question as it was put: an expression, or words."""
    start_at: AwareDatetime
    end_at: AwareDatetime
    """The time asked about; one instant where both are the same."""
    outcome: QueryOutcome
    text: str
    """The digest, byte for byte what the model read."""
    at: AwareDatetime
    """When it was answered."""
    backend: str | None = None
    """The backend asked; None for our own records and for what was never sent."""
