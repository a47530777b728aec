"""Which class an error is: its codes first, then its own words, then its status."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.backends.failing import categories, markers
from bot.backends.failing.heard import Heard, hear, quoted_from
from bot.backends.failing.hints import hint_s
from bot.backends.failing.markers import Decision
from bot.backends.failing.verdict import Category, InCall, Verdict
from engine.model.run import FailureClass

PAYMENT_REQUIRED = 402
_TOLD_STATUS = re.compile(r"error code:? ([45]\d\d)\b", re.IGNORECASE)
_WAITS = frozenset({FailureClass.TRANSIENT, FailureClass.OPERATIONAL})
_SHRINKS = frozenset({Category.TOO_LONG, Category.TOO_LARGE})


@dataclass(frozen=True)
class Answer:
    """What came back where a reply should have."""

    status: int | None
    """None when there was no response."""
    body: object
    """Decoded JSON, or text."""
    headers: Mapping[str, str]
    sent: str = ""
    """The request's text: words that stand in it too decide nothing."""


@dataclass(frozen=True)
class _Case:
    """An answer with all that was heard in it."""

    codes: tuple[str, ...]
    statuses: tuple[int, ...]
    said: tuple[str, ...]
    """What the provider wrote itself, as far as one can tell."""
    quoted: tuple[str, ...]
    """The rest: our own input, given back."""
    words: tuple[str, ...]
    sent: str

    @property
    def echo(self) -> bool:
        """Whether words that would have decided were ours."""
        ours = any(_match(pattern, self.quoted) for pattern, _ in markers.TEXT_RULES)
        return ours or (_by_words(self) is None and _by_words(self, trusting=True) is not None)


def decide(answer: Answer) -> Verdict:
    """Bring an error into its class. No text of an alert can choose it."""
    heard = hear(answer.body, answer.sent.lower())
    case = _case(answer, heard)
    by_words = _by_codes(case) or _by_words(case)
    failure, category = by_words or _by_status(case)
    if by_words is None and case.echo:
        category = Category.ECHO
    wait = hint_s(answer.headers, heard.waits, heard.words) if failure in _WAITS else None
    return Verdict(
        failure=failure,
        category=category,
        retry_after_s=wait,
        in_call=InCall.SHRINK_PACK if category in _SHRINKS else None,
        notice=_tells_operator(case, category),
        echo=by_words is None and case.echo,
    )


def _case(answer: Answer, heard: Heard) -> _Case:
    named = [
        str(value).lower()
        for name, value in answer.headers.items()
        if name.lower().endswith(("exception-type", "errortype"))
    ]
    codes = (*heard.codes, *named)
    own = [answer.status] if answer.status and answer.status >= 400 else []  # noqa: PLR2004
    cut = [_cut(said) for said in heard.words]
    inner = tuple(s for s in heard.statuses if s >= 400)  # noqa: PLR2004
    return _Case(
        codes=codes,
        statuses=tuple(own or _implied(codes, cut)) + inner,
        said=tuple(said for said, _ in cut if said),
        quoted=tuple(quoted for _, quoted in cut if quoted),
        words=tuple(heard.words),
        sent=answer.sent.lower(),
    )


def _implied(codes: Sequence[str], cut: Sequence[tuple[str, str]]) -> Iterator[int]:
    """Give the statuses that types and sentences stand for, where the response had none."""
    yield from (markers.IMPLIED[code] for code in codes if code in markers.IMPLIED)
    for said, _ in cut:
        yield from map(int, _TOLD_STATUS.findall(said))


def _cut(text: str) -> tuple[str, str]:
    """Part what the provider wrote from where it begins to quote our input."""
    at = quoted_from(text)
    return text[:at], text[at:]


def _by_codes(case: _Case) -> Decision | None:
    for code in case.codes:
        if code in markers.CODES:
            return markers.CODES[code]
    if any(markers.BUDGET_CODE.fullmatch(code) for code in case.codes):
        return markers.BUDGET
    money = any(markers.MONEY_CODE.fullmatch(code) for code in case.codes)
    return markers.BILLING if money or PAYMENT_REQUIRED in case.statuses else None


def _by_words(case: _Case, *, trusting: bool = False) -> Decision | None:
    """Look for markers in what the provider wrote; one that we sent too is an echo."""
    sent = "" if trusting else case.sent
    for pattern, decision in markers.TEXT_RULES:
        if _match(pattern, (*case.said, *case.codes), sent):
            return decision
    if any(markers.MODEL_CODE.fullmatch(code) for code in case.codes):
        return markers.MODEL
    return None


def _match(pattern: re.Pattern[str], words: Sequence[str], sent: str = "") -> bool:
    found = (match for said in words for match in pattern.finditer(said))
    return any(match[0].lower() not in sent for match in found)


def _by_status(case: _Case) -> Decision:
    busy = any(markers.BUSY_CODE.search(code) for code in case.codes)
    busy = busy or _match(markers.BUSY_WORDS, case.said, case.sent)
    busy = busy or any(s in markers.BUSY_STATUSES or s >= 500 for s in case.statuses)  # noqa: PLR2004
    if busy or not case.statuses:
        outage = categories.of_outage(case.codes, case.statuses, case.words)
        return FailureClass.TRANSIENT, outage
    return FailureClass.TERMINAL, categories.of_refusal(case.codes, case.statuses, case.words)


def _tells_operator(case: _Case, category: Category) -> bool:
    held = markers.ON_HOLD in case.codes or markers.NO_DATABASE in case.codes
    return held or category is Category.AUTH
