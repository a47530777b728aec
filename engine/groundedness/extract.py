"""The indicators of a text: what it names that evidence either holds or does not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.groundedness.figures import amount, is_nothing, starts_amount
from engine.groundedness.kinds import Indicator, IndicatorKind
from engine.groundedness.names import by_event, by_known, by_label, by_pair
from engine.groundedness.shapes import by_shape, is_constant
from engine.groundedness.times import DATE, MONTHS, TIME, moment, span
from engine.groundedness.vocabulary import LOG_STARTS, SCHEMA_KEYS, SPELLED, STATES
from engine.groundedness.words import Word, word_after, words

_UNREMARKABLE = frozenset("-~*")
_MONTH_NAMES = frozenset(name.title() for name in MONTHS)
_WANTED = SPELLED.keys() | {word.title() for word in SPELLED} | STATES | _MONTH_NAMES
_LONGEST_TIME = 48
_LINE_STARTS = frozenset(["", "\n", '"'])


def indicators(text: str, known: Sequence[str] = ()) -> tuple[Indicator, ...]:
    """Find what a text names, each once, in the order of the text.

    Args:
        text: anything; work is linear in its length.
        known: label values of the evidence; namespaces and bare services are found only by them
            or by a label that says what it is.
    """
    once: dict[tuple[IndicatorKind, str], Indicator] = {}
    for found in _Scan(text, frozenset(known)).run():
        once.setdefault((found.kind, found.text), found)
    return tuple(once.values())


@dataclass
class _Scan:
    """One pass over the words; a word taken together with its neighbour is not read again."""

    text: str
    known: frozenset[str]
    taken: int = 0
    """Up to where the text was taken."""
    log_end: int = 0
    """Where the newest line that is a log's ends."""

    def run(self) -> Iterator[Indicator]:
        """Read word by word."""
        for word in words(self.text, _Wanted(self.known)):
            if word.start < self.taken:
                continue
            found = self._read(word)
            if found is not None:
                yield found

    def _read(self, word: Word) -> Indicator | None:
        text = word.text
        if (word.key and word.key.lower() in SCHEMA_KEYS) or _UNREMARKABLE.issuperset(text):
            return None
        dated = text[0].isdigit() and (":" in text or "-" in text or "/" in text)
        if dated or text in _MONTH_NAMES:
            found = self._moment(word)
            if found is not None:
                return found
        return self._amount(word) or self._name(word)

    def _moment(self, word: Word) -> Indicator | None:
        """Read a point in time of one, two or three words."""
        more = 2 if word.text in _MONTH_NAMES else 1 if DATE.fullmatch(word.text) else 0
        told = self._dated(word, more) if more else word.text if span(word.text) else ""
        if not told and moment(word.text) is not None:
            told = word.text
        self.taken = word.start + len(told)
        return Indicator(kind=IndicatorKind.TIMESTAMP, text=told) if told else None

    def _dated(self, word: Word, more: int) -> str:
        """Give a date with the time right after it, empty where none follows."""
        ahead = self.text[word.start : word.start + _LONGEST_TIME]
        last = ahead.split()[: more + 1][-1].strip(".,;)]\"'")
        if not TIME.fullmatch(last):
            return ""
        told = ahead[: ahead.index(last, len(word.text)) + len(last)]
        return told if moment(" ".join(told.split())) is not None else ""

    def _amount(self, word: Word) -> Indicator | None:
        if not starts_amount(word.text) or (word.opener == "[" and word.text[0].isdigit()):
            return None
        after = word_after(self.text, word)
        if word.opener == "(" and is_nothing(word.text):
            return None
        found = amount(word.text, word.before, after, word.key.lower())
        if found is not None:
            self.taken = word.start + len(found.text)
        return found

    def _name(self, word: Word) -> Indicator | None:
        if "=" in word.text and "://" not in word.text:
            found, logged = _pair(word.text), self._is_logged(word)
            form = logged and found is not None and found.kind is IndicatorKind.PAIR
            return None if form else found
        if self._is_heading(word):
            return None
        key = "n" if word.before == "-n" else word.key
        labelled = by_label(key, word.text) if key else None
        if labelled is not None:
            return labelled
        if word.text in self.known:
            after = word_after(self.text, word).lower()
            return by_known(word.text, word.before, after)
        return (
            by_shape(word.text.lstrip("~"))
            or by_event(word.text, word.before)
            or self._known_with_port(word)
        )

    def _is_logged(self, word: Word) -> bool:
        """Whether it is one of the pairs a line of a log consists of, as in `ts=… method=GET`."""
        if word.opener in _LINE_STARTS and word.text.partition("=")[0] in LOG_STARTS:
            end = self.text.find("\n", word.end)
            self.log_end = len(self.text) if end < 0 else end
        return word.start < self.log_end

    def _is_heading(self, word: Word) -> bool:
        """Whether it names a paragraph, as in `SUMMARY_OF:`, or a field, as in `Strategy:   x`."""
        if word.closer != ":":
            return False
        column = self.text[word.end + 1 : word.end + 3] == "  "
        return column or (word.opener in {"", "\n"} and is_constant(word.text))

    def _known_with_port(self, word: Word) -> Indicator | None:
        name, colon, _ = word.text.partition(":")
        return by_known(name, "", "service") if colon and name in self.known else None


@dataclass(frozen=True)
class _Wanted:
    """Which words of letters alone are looked at."""

    known: frozenset[str]

    def __contains__(self, word: object) -> bool:
        return word in _WANTED or word in self.known


@lru_cache(maxsize=4096)
def _pair(text: str) -> Indicator | None:
    value = text.partition("=")[2]
    if value[:1].isdigit():
        if moment(value) is not None:
            return Indicator(kind=IndicatorKind.TIMESTAMP, text=value)
        timed = amount(value, "", "", "")
        if timed is not None and timed.kind is IndicatorKind.DURATION:
            return timed
    return by_pair(text)
