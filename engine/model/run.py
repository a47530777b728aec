"""One triage run's life, its model calls, and the whole case as a card needs it."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.ledger import ToolName
from engine.model.org import Client
from engine.model.pack import Pack
from engine.model.review import FamilyRecord, Said


class RunState(StrEnum):
    """Where a triage run stands."""

    QUEUED = "queued"
    LOOKING = "looking"
    """The pack is being put together."""
    INVESTIGATING = "investigating"
    CHECKING = "checking"
    """The draft is being attacked."""
    DONE = "done"
    SKIPPED = "skipped"
    WAITING = "waiting"
    """A transient failure; another delivery comes."""
    FAILED = "failed"


class RunTrigger(StrEnum):
    """What asked for the run."""

    AUTO = "auto"
    MANUAL = "manual"
    ENGAGE = "engage"
    REJUDGE = "rejudge"


class SkipReason(StrEnum):
    """Why no model was asked."""

    FLAG_OFF = "flag_off"
    MANUAL = "manual"
    SEVERITY = "severity"
    STORM = "storm"
    BREAKER_OPEN = "breaker_open"
    BUDGET = "budget"
    NO_MODEL = "no_model"
    FIRST_CONTACT = "first_contact"
    CHRONIC_QUIET = "chronic_quiet"
    CLASS = "class"
    """A predictive or monitoring-gap alert: there is no cause to look for yet."""


class FailureClass(StrEnum):
    """How a failed run or call is dealt with."""

    TERMINAL = "terminal"
    TRANSIENT = "transient"
    OPERATOR_ACTION_REQUIRED = "operator_action_required"
    OPERATIONAL = "operational"
    BAD_MODEL_ALIAS_FALLBACK = "bad_model_alias_fallback"
    POISON_PAYLOAD = "poison_payload"


class Run(Frozen):
    """One triage: from due job to persisted finding."""

    triage_id: str
    incident_id: str
    client_id: str
    trigger: RunTrigger
    state: RunState
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None
    skip_reason: SkipReason | None = None
    failure: FailureClass | None = None
    failure_text: str = ""
    failure_kind: str = ""
    """What kind of refusal or outage it was, as errors name it."""
    delivery: int = 0
    next_try_at: AwareDatetime | None = None
    progress: tuple[str, ...] = ()
    """What is already known, one fact a line, for the investigating card."""
    rehearsal_model: bool = False
    """The model that answered was the rehearsal one."""
    pack_hash: str = ""
    """The pack the run rests on, once it is frozen; a worker that takes it over reads the same."""
    tools: tuple[ToolName, ...] = ()
    """Tools its model was offered."""
    looking: tuple[ToolName, ...] = ()
    """Tools it asked so far, for the investigating card; the newest last."""
    fence: str = ""
    """Random delimiter of untrusted text, drawn once; empty until a model is asked."""


class CallKind(StrEnum):
    """Which call of a triage."""

    LOOP = "loop"
    """It asked for tools; the first that does not is the conclusion."""
    CONFIRM = "confirm"
    """Whether a remembered cause is this one."""
    CONCLUDE = "conclude"
    REPAIR = "repair"
    VERIFY = "verify"


class CallState(StrEnum):
    """What is known of a model call."""

    SENT = "sent"
    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """We died while it was in flight."""


class Usage(Frozen):
    """Tokens of one call, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def total(self) -> int:
        """Every token, in and out."""
        cached = self.cache_creation_input_tokens + self.cache_read_input_tokens
        return self.input_tokens + self.output_tokens + cached

    @property
    def effective_input(self) -> float:
        """Input tokens as they are priced: writes cost 1.25, reads 0.10 of a fresh token."""
        return (
            self.input_tokens
            + 1.25 * self.cache_creation_input_tokens
            + 0.10 * self.cache_read_input_tokens
        )


class ModelCall(Frozen):
    """One request to a model: a row before it is sent, settled after."""

    id: str
    client_id: str
    triage_id: str
    kind: CallKind
    model: str
    state: CallState
    sent_at: AwareDatetime
    settled_at: AwareDatetime | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    held_usd: float = 0
    """Counts against the budget while nobody knows what it cost."""
    held_tokens: int = 0
    error: str = ""


class Receipt(Frozen):
    """What a finding cost."""

    calls: int
    usage: Usage
    cost_usd: float | None
    """None when the price of one of its calls is not known."""
    seconds: float
    models: tuple[str, ...] = ()
    """That answered."""
    unknown_models: tuple[str, ...] = ()
    """Names the provider did not know, before another model answered."""


class CaseFile(Frozen):
    """Everything a card is drawn from; read from the database at the moment of drawing."""

    client: Client
    incident: Incident
    pack: Pack | None = None
    run: Run | None = None
    finding: Finding | None = None
    """The newest finding of this incident."""
    last_finding: Finding | None = None
    """The newest finding of the same family before this incident."""
    receipt: Receipt | None = None
    family_record: FamilyRecord | None = None
    """How verdicts on this family came out; None before the first."""
    merged_number: int | None = None
    """Number of the incident this one went into."""
    taken_by: str | None = None
    taken_account: str | None = None
    """The account of whoever took it, `platform:account`."""
    said: Said | None = None
    """The verdict that stands on the finding."""
    muted_until: AwareDatetime | None = None
    muted_by: str = ""
    extra: Mapping[str, str] = {}
