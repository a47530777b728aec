"""How an answer is dealt with."""

from enum import StrEnum

from engine.model.base import Frozen
from engine.model.run import FailureClass


class Category(StrEnum):
    """What went wrong; the words are the label of a counter."""

    BILLING = "billing"
    BUDGET = "budget"
    SDK_CODE = "sdk_code"
    """Decided by the provider's own error code."""
    CAPACITY = "capacity"
    """The gateway itself has nothing to answer with."""
    MODEL = "model"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    STREAM_CUT = "stream_cut"
    SERVER = "5xx"
    SERVER_PAGE = "5xx_html"
    """A web page came instead of an error."""
    UNREACHABLE = "unreachable"
    AUTH = "auth"
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    TOOL_PAIRING = "tool_pairing"
    TOOL_SCHEMA = "tool_schema"
    EMPTY_INPUT = "empty_input"
    CONTENT_FILTER = "content_filter"
    BAD_REQUEST = "bad_request"
    NO_MESSAGE = "html_200"
    REFUSAL = "refusal"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    PAUSE = "pause_turn"
    ECHO = "echo"
    """Words that look like a verdict stand in what we sent, or in an answer that is good."""
    POISON = "poison"
    UNCLASSIFIED = "unclassified"
    GOOD = "none"


class InCall(StrEnum):
    """What may be tried once within the same call before the class counts."""

    SHRINK_PACK = "shrink_pack"
    RAISE_MAX_TOKENS = "raise_max_tokens"
    REASK_ONCE = "reask_once"
    RESEND_TURN = "resend_assistant_turn"


class Verdict(Frozen):
    """What an answer came to."""

    failure: FailureClass | None
    """None when the answer is good, or is to be continued."""
    category: Category
    retry_after_s: float | None = None
    """How long the provider asked us to wait; it may only lengthen a wait."""
    in_call: InCall | None = None
    notice: bool = False
    """An operator is told, at most once per provider and hour."""
    echo: bool = False
    """Words of our own request were kept from deciding."""
