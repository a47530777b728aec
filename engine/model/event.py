"""Steps of a triage as they happen: one stream feeds audit, live view, metrics and replay."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen


class SessionEvent(StrEnum):
    """What happened. Facts beside it are counts, codes and seconds, never a model's prose."""

    SKIPPED = "skipped"
    """No model was asked: `reason`."""
    PACK = "pack"
    """A pack was frozen: `sections` that are degraded, `hash`, `bytes`."""
    SHORTENED = "shortened"
    """The request was too long, a shorter pack was frozen: `hash`, `bytes`, `sections` cut."""
    FAILED = "failed"
    """A delivery ended without a finding: `class`."""
    STAGE = "stage"
    """A stage ended: `stage`, `seconds`."""
    CALL = "call"
    """A model call was settled: `call`, `model`, `result`, tokens, `cost_usd`; of one that failed
    `error_kind` and `echo`."""
    FALLBACK = "fallback"
    """The model name was refused and the other one asked: `from`, `to`."""
    CACHE_MISS = "cache_miss"
    """A call read nothing from the prompt cache: `model`, `cause`, `off` when marks end."""
    UNREADABLE = "unreadable"
    """A reply could not be used: `call`, `why`."""
    LOOK = "look"
    """Tools are about to be asked: `tools`."""
    TOOL = "tool"
    """A tool call was answered: `tool`, `outcome`; from the ledger it is `repeated`."""
    LOOP = "loop"
    """The model stopped asking, or was stopped: `loops`, `tokens`, `seconds`, `bound`, `stage`."""
    DRAFT = "draft"
    """`abstains`, `self_confidence`, `planned`, `dropped`."""
    REPAIR = "repair"
    """The repair call ended: `result`, `attempted`, `repaired`, `invalid`."""
    QUERY = "query"
    """A check ended: `source`, `check`, `outcome`."""
    ROUND = "round"
    """`outcome`, `floor_fetched`, `reasons`."""
    VERIFY_RETRY = "verify_retry"
    VERIFY = "verify"
    """`status`."""
    GROUNDED = "grounded"
    """A verdict was looked up in the evidence: `score`, `demoted`, `would_have_acted`, `kinds`."""
    OPERATOR_RULING = "operator_ruling"
    """A person's correction governed: `ruling`, `backed`."""
    RECHECK = "recheck"
    """A finding was kept; why it is not looked at a second time: `skipped`."""
    STEP = "step"
    """A hard limit lowered the confidence: `step`, `value` after it."""
    VETO = "veto"
    REVIEW = "review"
    """A person has to look: `reason`."""
    STAMP = "stamp"
    """`trust_level`, `disposition`, `confidence`, `path`, `unsupported`, `unsupported_key`,
    `cause_sources`, `abstention`, `memory`, `shortcircuit`."""


EventFacts = Mapping[str, str | int | float | bool | None]


class Step(Frozen):
    """One step as it was kept."""

    id: int
    """Grows with time, over all sessions."""
    triage_id: str
    kind: SessionEvent
    facts: EventFacts
    at: AwareDatetime
