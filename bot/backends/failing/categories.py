"""What kind of refusal or outage it is, once the class is known."""

import re
from collections.abc import Sequence

from bot.backends.failing.verdict import Category

TIMEOUTS = frozenset({408, 504, 522, 524})
OVERLOADED = 529
RATE_LIMITED = 429
TOO_LARGE = 413
DENIED = frozenset({401, 403, 407})

_CUT = re.compile(
    r"peer closed|disconnected without|incomplete chunked|premature(?:ly)? (?:close|end)"
    r"|stream (?:was |has )?(?:cut|ended|closed|interrupted)"
    r"|connection (?:was )?(?:closed|lost) (?:before|while)",
    re.IGNORECASE,
)
_LIMITED_WORDS = re.compile(r"quota|rate limit|too many requests|throttl", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"connect|network|refused|reset|resolv|name resolution|getaddrinfo|no route|unreachable"
    r"|name or service|nodename|ssl|tls|certificate|proxy",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(r"time-?d?[ -]?out", re.IGNORECASE)
_OVERLOADED_WORDS = re.compile(r"\boverloaded\b", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body)", re.IGNORECASE)
_LATE_CODE = re.compile(r"time_?out|deadline_exceeded")
_LIMITED_CODE = re.compile(
    r"rate_?limit|resource_exhausted|throttl|too_?many_?requests|quota_?exceeded"
)
_JUDGED_CONTENT = re.compile(
    r"flagged|moderation|guardrail|content[ _](?:filter|policy|management)|contentpolicy",
    re.IGNORECASE,
)
"""A status of denied is about the words that were sent, not about the key."""

_REFUSALS: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (
        Category.TOO_LONG,
        re.compile(
            r"(?:prompt|input|request) is too long|input length|context[ _](?:limit|window|length)"
            r"|maximum context|too many (?:input )?tokens|prompt tokens? (?:limit|exceed)"
            r"|exceeds? the (?:context|maximum number of tokens)|context_length_exceeded"
            r"|range of input length",
            re.IGNORECASE,
        ),
    ),
    (
        Category.TOO_LARGE,
        re.compile(
            r"request_too_large|(?:request|payload|entity|body) (?:is )?too large|request body size"
            r"|exceeds the maximum (?:allowed )?(?:size|bytes)",
            re.IGNORECASE,
        ),
    ),
    (
        Category.CONTENT_FILTER,
        re.compile(
            r"content[ _](?:filter|policy|management)|contentpolicy|blocked by|usage polic|safety"
            r"|responsible ai|guardrail|moderation|was flagged",
            re.IGNORECASE,
        ),
    ),
    (Category.TOOL_PAIRING, re.compile(r"tool_(?:use|result|call)\b|tool_use_id|tool_call_id")),
    (
        Category.TOOL_SCHEMA,
        re.compile(r"^tools\.\d|input_schema|json schema|\btool schema", re.IGNORECASE),
    ),
    (
        Category.EMPTY_INPUT,
        re.compile(
            r"non-?empty|must not be empty|(?:content|messages?|text|prompt) "
            r"(?:is|are|cannot be|can't be) empty|at least one message",
            re.IGNORECASE,
        ),
    ),
    (
        Category.AUTH,
        re.compile(
            r"^operation not allowed|not allowed to (?:use|access)|not authori[sz]ed"
            r"|unauthori[sz]ed|access (?:is )?denied|(?:do|does)(?: not|n.t) have (?:access|perm)"
            r"|(?:organization|account|workspace|project|key) (?:has been|is|was) "
            r"(?:disabled|suspended|deactivated|on hold|revoked)|api[ _-]?key(?: is)? not valid"
            r"|(?:invalid|incorrect|expired|missing) (?:x-)?(?:api[ -]?)?(?:key|token)"
            r"|(?:key|token) (?:has |is )?(?:expired|revoked)|api_key_invalid|invalid_api_key"
            r"|authentication|permission denied|consumer_suspended|service_disabled"
            r"|(?:location|country|region)\b.{0,40} not supported",
            re.IGNORECASE,
        ),
    ),
)


def of_outage(codes: Sequence[str], statuses: Sequence[int], words: Sequence[str]) -> Category:
    """Name an error that passes by itself."""
    late = any(_TIMED_OUT.search(said) for said in words)
    rules = (
        (any(_CUT.search(said) for said in words), Category.STREAM_CUT),
        (OVERLOADED in statuses or any("overloaded" in c for c in codes), Category.OVERLOADED),
        (any(map(_OVERLOADED_WORDS.search, words)), Category.OVERLOADED),
        (_any(TIMEOUTS, statuses) or any(map(_LATE_CODE.search, codes)), Category.TIMEOUT),
        (RATE_LIMITED in statuses or any(map(_LIMITED_CODE.search, codes)), Category.RATE_LIMIT),
        (any(map(_LIMITED_WORDS.search, words)), Category.RATE_LIMIT),
        (is_page(words), Category.SERVER_PAGE),
        (late, Category.TIMEOUT),
        (any(status >= 409 for status in statuses) or bool(codes), Category.SERVER),  # noqa: PLR2004
        (any(map(_UNREACHABLE.search, words)), Category.UNREACHABLE),
    )
    return next((category for holds, category in rules if holds), Category.UNCLASSIFIED)


def of_refusal(codes: Sequence[str], statuses: Sequence[int], words: Sequence[str]) -> Category:
    """Name a request that would be refused again."""
    if any(map(_JUDGED_CONTENT.search, words)):
        return Category.CONTENT_FILTER
    if _any(DENIED, statuses) or {"authentication_error", "permission_error"} & set(codes):
        return Category.AUTH
    if TOO_LARGE in statuses or "request_too_large" in codes:
        return Category.TOO_LARGE
    for category, pattern in _REFUSALS:
        if any(pattern.search(said) for said in (*words, *codes)):
            return category
    return Category.BAD_REQUEST


def is_page(words: Sequence[str]) -> bool:
    """Whether a web page came."""
    return any(_PAGE.match(said) for said in words)


def _any(wanted: frozenset[int], statuses: Sequence[int]) -> bool:
    return not wanted.isdisjoint(statuses)
