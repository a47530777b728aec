"""Replies as they come, brought into the engine's values. Nothing a model says is trusted here."""

import json
import math
import re
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from engine.confidence import clamped
from engine.model.base import Frozen
from engine.model.correction import OperatorRuling
from engine.model.finding import (
    CauseKey,
    Claim,
    Draft,
    MemoryVerdict,
    PlannedCheck,
    PlannedCheckKind,
    Ruling,
)
from engine.model.pack import CauseClass
from engine.promql.caps import MAX_CHARACTERS

LONGEST_REPLY = 200_000
MOST_LISTED = 20
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
RULED = ("supported", "contradicted", "unverifiable")
"""What a model may say of a correction; the rest is for code to say."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Frozen):
    """A reply that cannot be used, and why, in words its author can act on."""

    why: str


class Read(Frozen):
    """A draft, and how many of its planned checks were of no known kind."""

    draft: Draft
    dropped: int = 0


def _line(longest: int) -> BeforeValidator:
    """Take text without control characters, cut to a length; null is no text."""

    def clean(value: Any) -> Any:
        if value is None:
            return ""
        if not isinstance(value, str):
            return value
        visible = _SURROGATE.sub("\ufffd", value)
        visible = "".join(c if c.isprintable() else " " for c in visible).strip()
        return visible if len(visible) <= longest else visible[: longest - 1] + "…"

    return BeforeValidator(clean)


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not a yes or no")  # noqa: TRY004 - pydantic's contract
    return value


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise ValueError("must be a finite number")
    return None if value is None else clamped(value)


def _few(value: Any) -> Any:
    if value is None:
        return []
    return value[:MOST_LISTED] if isinstance(value, list) else value


Sentence = Annotated[str, _line(600)]
Name = Annotated[str, _line(120)]
Id = Annotated[str, _line(16)]
Ids = Annotated[list[Id], BeforeValidator(_few)]


class _Wire(BaseModel):
    """What may stand in a reply; anything else in it is passed over."""

    model_config = ConfigDict(extra="ignore")


class _Claim(_Wire):
    text: Sentence = Field(min_length=1)
    evidence_ids: Ids = []
    key: bool = False

    def claim(self) -> Claim:
        return Claim(text=self.text, evidence_ids=_once(self.evidence_ids), key=self.key)


class RuledClaim(_Wire):
    """A claim as call 2 speaks of it."""

    claim: int | None = None
    text: Sentence = ""
    key: bool = False
    ruling: Ruling = Ruling.NEITHER
    evidence_ids: Ids = []

    @field_validator("ruling", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        word = value.strip().lower() if isinstance(value, str) else ""
        return word if word in set(Ruling) else Ruling.NEITHER

    @property
    def cites(self) -> tuple[str, ...]:
        """Ids the ruling rests on, each once."""
        return _once(self.evidence_ids)


class _Cause(_Wire):
    root_cause: Sentence = ""
    component: Name = ""
    cause_class: CauseClass | None = None
    confidence: Annotated[float | None, BeforeValidator(_number)] = None
    missing: Sentence = ""
    next_step: Sentence = ""
    memory_verdict: MemoryVerdict | None = None

    _bounded = field_validator("confidence")(_finite)

    @field_validator("cause_class", mode="before")
    @classmethod
    def _from_the_list(cls, value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            return None
        word = re.sub(r"[\s-]+", "_", value.strip().lower())
        return word if word in set(CauseClass) else CauseClass.OTHER

    @field_validator("memory_verdict", mode="before")
    @classmethod
    def _known_verdict(cls, value: Any) -> Any:
        return value if isinstance(value, str) and value in set(MemoryVerdict) else None

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if self.root_cause and not self.component:
            raise ValueError("a root_cause needs a component")
        if self.root_cause and self.cause_class is None:
            raise ValueError("a root_cause needs a cause_class")
        if self.root_cause and self.confidence is None:
            raise ValueError("a root_cause needs a confidence")
        return self

    @property
    def key(self) -> CauseKey | None:
        """The cause as something comparable."""
        if not self.root_cause or self.cause_class is None:
            return None
        return CauseKey(component=self.component.lower(), cause_class=self.cause_class)


class _Draft(_Cause):
    claims: Annotated[list[_Claim], BeforeValidator(_few)] = []


class RuledCorrection(_Wire):
    """What call 2 says of a person's correction."""

    ruling: OperatorRuling = OperatorRuling.ABSENT
    evidence_ids: Ids = []

    @field_validator("ruling", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        word = value.strip().lower() if isinstance(value, str) else ""
        return word if word in RULED else OperatorRuling.ABSENT

    @property
    def cites(self) -> tuple[str, ...]:
        """Ids the ruling rests on, each once."""
        return _once(self.evidence_ids)


def _an_object(value: Any) -> Any:
    return value if isinstance(value, dict) else {}


class RuledCause(_Cause):
    """Call 2's reply as it was said."""

    rulings: Annotated[list[RuledClaim], BeforeValidator(_few)] = []
    correction: Annotated[RuledCorrection, BeforeValidator(_an_object)] = RuledCorrection()


def read_draft(text: str) -> Read | Unreadable:
    """Read call 1's reply."""
    body = _body(text, "draft")
    if isinstance(body, Unreadable):
        return body
    try:
        wire = _Draft.model_validate(body)
    except ValidationError as error:
        return _why(error)
    plan, dropped = _plan(body.get("disprove", body.get("plan")))
    draft = Draft(
        root_cause=wire.root_cause or None,
        root_cause_key=wire.key,
        claims=tuple(claim.claim() for claim in wire.claims),
        self_confidence=wire.confidence,
        missing=wire.missing,
        next_step=wire.next_step,
        plan=plan,
        memory_verdict=wire.memory_verdict,
    )
    return Read(draft=draft, dropped=dropped)


def read_ruling(text: str) -> RuledCause | Unreadable:
    """Read call 2's reply."""
    body = _body(text, "judgement")
    if isinstance(body, Unreadable):
        return body
    try:
        return RuledCause.model_validate(body)
    except ValidationError as error:
        return _why(error)


def _body(text: str, wanted: str) -> dict[str, Any] | Unreadable:
    """Find the object a reply was to hold, bare or under its name."""
    whole = object_in(text[:LONGEST_REPLY])
    if isinstance(whole, Unreadable):
        return whole
    inner = whole.get(wanted)
    if isinstance(inner, dict):
        return inner
    if "root_cause" in whole and inner is None:
        return whole
    return Unreadable(why=f'the object has no "{wanted}" object in it')


def object_in(text: str) -> dict[str, Any] | Unreadable:
    """Read the first JSON object of a text that may have thoughts and fences around it."""
    bare = _THOUGHTS.sub("", text)
    start = bare.find("{")
    if start < 0:
        return Unreadable(why="there is no JSON object in it")
    decoder = json.JSONDecoder(parse_constant=_refuse, strict=False)
    try:
        found, _ = decoder.raw_decode(bare, start)
    except (ValueError, RecursionError) as error:
        return Unreadable(why=f"not JSON: {str(error)[:200]}")
    return found if isinstance(found, dict) else Unreadable(why="not a JSON object")


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON number")


def _plan(said: Any) -> tuple[tuple[PlannedCheck, ...], int]:
    """Take the planned checks of a known kind, from a list or an object of lists."""
    listed = [*_checks(said)]
    known = [_check(one) for one in listed[:MOST_LISTED]]
    plan = tuple(check for check in known if check is not None)
    return plan, len(listed) - len(plan)


def _checks(said: Any) -> list[Any]:
    if isinstance(said, list):
        return said
    if not isinstance(said, dict):
        return []
    if "kind" in said:
        return [said]
    found: list[Any] = []
    for name, inner in said.items():
        under = name if name in set(PlannedCheckKind) else None
        for one in inner if isinstance(inner, list) else [inner]:
            alone = {"query": one} if isinstance(one, str) else one
            named = under and isinstance(alone, dict) and "kind" not in alone
            found.append({**alone, "kind": under} if named else alone)
    return found


class _Planned(_Wire):
    kind: PlannedCheckKind
    query: Annotated[str, _line(MAX_CHARACTERS + 1)] = ""
    why: Sentence = ""


def _check(said: Any) -> PlannedCheck | None:
    try:
        wire = _Planned.model_validate(said)
    except ValidationError:
        return None
    if wire.kind is PlannedCheckKind.PROMQL and not wire.query:
        return None
    return PlannedCheck(kind=wire.kind, query=wire.query, why=wire.why)


def _why(error: ValidationError) -> Unreadable:
    """Say where a reply went wrong, without repeating what it said."""
    told = [
        f"{'.'.join(map(str, one['loc'])) or 'the object'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return Unreadable(why="; ".join(told[:5]))


def _once(ids: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(i for i in ids if i))
