"""From draft to finding: what a model said, what the checks said, and what code stamped on it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime, Field
from typing_extensions import override

from engine.model.base import Frozen
from engine.model.correction import OperatorRuling, Steering
from engine.model.evidence import InvalidReason, QueryOutcome
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import CauseClass


class CauseKey(Frozen):
    """A cause as something comparable; prose is never compared."""

    component: str
    cause_class: CauseClass

    @override
    def __str__(self) -> str:
        """Say it as `component/class`: what two findings are compared by."""
        return f"{self.component}/{self.cause_class}"


class Claim(Frozen):
    """One checkable statement."""

    text: str
    evidence_ids: tuple[str, ...] = ()
    key: bool = False
    """Carries the root cause."""


class PlannedCheckKind(StrEnum):
    """What a model may ask to be checked. Closed: never SQL, never a write."""

    PROMQL = "promql"
    INCIDENTS_IN_WINDOW = "incidents_in_window"


MODEL_QUERY: Final = "model_promql"
"""The kind of check a planned query becomes."""


class PlannedCheck(Frozen):
    """A check the model thinks could disprove its own draft."""

    kind: PlannedCheckKind
    query: str = ""
    why: str = ""


class MemoryVerdict(StrEnum):
    """What the judgement means for a recalled prior."""

    CONFIRMS = "confirms"
    REFUTES = "refutes"
    SILENT = "silent"


class Draft(Frozen):
    """Call 1's output; never shown, never overwritten."""

    root_cause: str | None
    """None when the model abstains."""
    root_cause_key: CauseKey | None
    claims: tuple[Claim, ...] = ()
    self_confidence: float | None = Field(None, ge=0, le=1)
    missing: str = ""
    """What would have been needed, when it abstains."""
    next_step: str = ""
    """What a person should look at or do first."""
    plan: tuple[PlannedCheck, ...] = ()
    memory_verdict: MemoryVerdict | None = None
    """Asked of this call only when no second one follows."""

    @property
    def abstains(self) -> bool:
        """Whether the model declined to name a cause."""
        return self.root_cause is None


class Ruling(StrEnum):
    """What call 2 said of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NEITHER = "neither"


class ClaimRuling(Frozen):
    """A claim of the final finding and how it stood against the contrast evidence."""

    claim: Claim
    ruling: Ruling
    evidence_ids: tuple[str, ...] = ()


class Judgement(Frozen):
    """Call 2's output: the draft weighed against evidence chosen to disprove it."""

    root_cause: str | None
    root_cause_key: CauseKey | None
    rulings: tuple[ClaimRuling, ...] = ()
    judged_confidence: float | None = Field(None, ge=0, le=1)
    memory_verdict: MemoryVerdict = MemoryVerdict.SILENT
    missing: str = ""
    next_step: str = ""
    operator_ruling: OperatorRuling = OperatorRuling.ABSENT
    """What it said of a governing correction."""
    operator_evidence_ids: tuple[str, ...] = ()

    @property
    def abstains(self) -> bool:
        """Whether the model declined to name a cause."""
        return self.root_cause is None


class CheckSource(StrEnum):
    """Who asked for a check."""

    FLOOR = "floor"
    OPERATOR = "operator"
    MODEL = "model"


class CheckResult(Frozen):
    """One contrast check as it was asked and as the model saw its result."""

    id: str = Field(pattern=r"^R\d+$")
    source: CheckSource
    kind: str
    asked: str
    """The question in words or the expression that was tried."""
    original: str = ""
    """The expression before its syntax was repaired; empty when it was not."""
    outcome: QueryOutcome
    text: str
    """Rendered result, byte for byte what the model read."""
    scope: Mapping[str, str] = {}
    """The labels it was narrowed to; empty means all targets."""
    scoped: bool = False
    """Narrower than "all targets"."""
    invalid_reason: InvalidReason | None = None
    detail: str = ""
    evaluated_at: AwareDatetime | None = None
    figures: Mapping[str, float] = {}
    backend: str | None = None
    """The backend asked; None for checks on our own records."""


class RoundOutcome(StrEnum):
    """How the round ended."""

    SUPPORTED = "supported"
    REVISED = "revised"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"


class Round(Frozen):
    """The one capped batch of contrast evidence between the two calls."""

    results: tuple[CheckResult, ...] = ()
    outcome: RoundOutcome
    degraded_reasons: tuple[str, ...] = ()
    """Codes: `floor_failed:<kind>`, `no_floor_backend`, `judgement_lost`."""
    floor_fetched: bool = False

    @property
    def degraded(self) -> bool:
        """Whether the promised minimum was missed."""
        return bool(self.degraded_reasons)

    @property
    def blind(self) -> bool:
        """Whether it was missed because a backend did not answer."""
        return any(reason.startswith("floor_failed") for reason in self.degraded_reasons)


class VerifyStatus(StrEnum):
    """Why the trust level is what it is."""

    VERIFIED = "verified"
    INCONCLUSIVE = "inconclusive"
    REFUTED = "refuted"
    TIMED_OUT = "timed_out"
    ERRORED = "errored"
    NOT_RUN = "not_run"
    NO_ANALYSIS = "no_analysis"


class TrustLevel(StrEnum):
    """How far a reader may lean on a finding; stamped by the engine only."""

    VERIFIED = "verified"
    UNCONFIRMED = "unconfirmed"
    UNVERIFIED = "unverified"


class Disposition(StrEnum):
    """What became of a triage."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    NEEDS_REVIEW = "needs_review"
    NOT_JUDGED = "not_judged"


class Veto(StrEnum):
    """A pure check that caps trust at unconfirmed."""

    BEGAN_AFTER_ONSET = "began_after_onset"
    NO_DEVIATION = "no_deviation"
    AS_STRONG_WITHOUT_CAUSE = "as_strong_without_cause"
    STOOD_BEFORE_CAUSE = "stood_before_cause"
    ONLY_OWN_EXPRESSION = "only_own_expression"
    ONLY_WRITABLE_TEXT = "only_writable_text"
    FLOOR_UNSCOPED = "floor_unscoped"
    NOTHING_COULD_REFUTE = "nothing_could_refute"


class ConfidenceStepName(StrEnum):
    """What changed a confidence, in the order the steps are applied."""

    JUDGED = "judged"
    CALIBRATED = "calibrated"
    QUERY_FAILED = "query_failed"
    METADATA_ONLY = "metadata_only"
    CORRECTION_UNTESTED = "correction_untested"
    REPLACED = "replaced"
    UNGROUNDED = "ungrounded"


class ConfidenceStep(Frozen):
    """One step and the value after it."""

    name: ConfidenceStepName
    value: float


class CaveatCode(StrEnum):
    """What lowers this finding against the install's normal. Their words are in cards/caveats."""

    CHECKS_UNAVAILABLE = "checks_unavailable"
    QUERY_INVALID = "query_invalid"
    UNGROUNDED = "ungrounded"
    PACK_DEGRADED = "pack_degraded"
    METADATA_ONLY = "metadata_only"
    CORRECTION_UNTESTED = "correction_untested"
    BOUND_HIT = "bound_hit"
    VETO = "veto"
    NO_MODEL = "no_model"
    NOT_INVESTIGATED = "not_investigated"
    INJECTION_SUSPECTED = "injection_suspected"
    ABSTAINED = "abstained"


class Caveat(Frozen):
    """One coded warning; `facts` fill its words."""

    code: CaveatCode
    facts: Mapping[str, str | int] = {}


class TriagePath(StrEnum):
    """How an answer was reached."""

    FULL = "full"
    SINGLE_CALL = "single_call"
    """Verification is switched off."""
    SHORT_CIRCUIT = "short_circuit"


class Prior(Frozen):
    """Where a cause was known from: an earlier case a person confirmed."""

    stub_id: str
    distance: float
    """Cosine distance of the symptoms."""
    confirmed_by: str
    confirmed_at: AwareDatetime | None = None


class Finding(Frozen):
    """The persisted, shown answer. One immutable row; a re-judgment is a new one."""

    triage_id: str
    incident_id: str
    client_id: str
    pack_hash: str
    created_at: AwareDatetime
    path: TriagePath
    model: str
    disposition: Disposition
    trust_level: TrustLevel
    verify_status: VerifyStatus
    root_cause: str | None
    root_cause_key: CauseKey | None
    replaced: bool = False
    """The judgement named another cause than the draft."""
    claims: tuple[ClaimRuling, ...] = ()
    unsupported_claims: tuple[str, ...] = ()
    missing: str = ""
    next_step: str = ""
    confidence: float | None = None
    """Calibrated and capped; the only number shown."""
    confidence_steps: tuple[ConfidenceStep, ...] = ()
    self_confidence: float | None = None
    """Telemetry only."""
    groundedness: float | None = None
    """Share of cited indicators found in the evidence; None means not scored."""
    valid_citations: int = 0
    vetoes: tuple[Veto, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    memory_verdict: MemoryVerdict | None = None
    """None when a degraded round withheld it or verification did not ask."""
    draft: Draft | None = None
    round: Round | None = None
    ledger: tuple[LedgerEntry, ...] = ()
    """What was looked up beyond the pack; the whole answers are kept beside the run."""
    vanished: tuple[ToolName, ...] = ()
    """Tools the client's run before could ask and this one could not."""
    prior: Prior | None = None
    """The earlier case it was adopted from."""
    steering: Steering | None = None
    """The correction that governed, and how the judgement stands to it."""
    rejudge_of: str | None = None
