"""Evidence made ready for look-ups: its numbers, times, addresses and pairs, and its text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from engine.groundedness.figures import figure, number
from engine.groundedness.kinds import Indicator, IndicatorKind
from engine.groundedness.shapes import address
from engine.groundedness.times import DATE, TIME, Moment, moment, span
from engine.groundedness.vocabulary import COUNTED, PLAIN_NAMES, SPELLED
from engine.groundedness.words import Word, words

_KEY = re.compile(r"[^a-z0-9]")
_AFTER: Mapping[IndicatorKind, str] = {
    IndicatorKind.HEX: "[0-9a-f]*(?![a-z0-9_-])",
    IndicatorKind.POD: r"(?![a-z0-9]|-[a-z0-9])",
    IndicatorKind.URL: "(?![a-z0-9])",
}
_PREFIX = re.compile("(?:sha(?:1|256|512):|0x)(?=[0-9a-f]{7})")
_SPELLED = SPELLED.keys() | {word.title() for word in SPELLED}
_CUT = re.compile(r"[=:/~]")
_NAMES = frozenset(
    [
        "namespace",
        "kubenamespace",
        "exportednamespace",
        "service",
        "kubeservice",
        "app",
        "deployment",
        "kubedeployment",
        "workload",
        "workloadname",
        "job",
        "component",
        "container",
    ]
)


class Corpus:
    """Texts of one kind of origin, read once."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Keep the texts apart by a line, so that nothing is found across two of them."""
        self.text = "\n".join(texts)

    @cached_property
    def words(self) -> list[Word]:
        """All words."""
        return list(words(self.text, _SPELLED))

    @cached_property
    def folded(self) -> str:
        """The text in one case, with JSON's escapes of a new line taken as spaces."""
        return self.text.casefold().replace("\\n", "  ")

    @cached_property
    def moments(self) -> frozenset[Moment]:
        """Every point in time, and for each its parts."""
        whole = set(self._moments())
        parts = {Moment("", m.clock) for m in whole} | {Moment(m.day, "") for m in whole}
        months = {Moment(m.day[5:], m.clock) for m in whole}
        return frozenset(whole | parts | months)

    def _moments(self) -> Iterator[Moment]:
        last = ""
        for word in self.words:
            for text in (word.text, word.text.rpartition("=")[2]):
                dated = DATE.fullmatch(last) is not None and TIME.fullmatch(text)
                found = moment(f"{last} {text}" if dated else text) if text[:1].isdigit() else None
                if found is not None:
                    yield found
            last = word.text

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number that is no part of a time, an address or a name."""
        return frozenset(self._numbers())

    def _numbers(self) -> Iterator[str]:
        for word in self.words:
            spelled = SPELLED.get(word.text.lower())
            if spelled is not None:
                yield str(spelled)
            if moment(word.text) is None and address(word.text) is None:
                for part in _CUT.split(word.text):
                    seen = figure(part.lstrip("-"))
                    yield from seen.numbers if seen else ()

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Every address in its canonical spelling."""
        parts = (part for word in self.words for part in (word.text, *word.text.split("=")))
        return frozenset(found for part in parts if (found := address(part)))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every name with its value, both in one spelling."""
        return frozenset(self._pairs())

    def _pairs(self) -> Iterator[tuple[str, str]]:
        before, condition = "", ""
        for word in self.words:
            if word.key:
                yield key_of(word.key), value_of(word.text)
                yield key_of(before + word.key), value_of(word.text)
            for separator in "=:":
                name, found, value = word.text.partition(separator)
                if found and name and value:
                    yield key_of(name), value_of(value)
            if word.key == "status" and condition:
                yield key_of(condition), value_of(word.text)
            condition = word.text if word.key == "type" else condition
            before = word.before

    @property
    def names(self) -> tuple[str, ...]:
        """Values of the labels that name namespaces, services and workloads."""
        said = {word.text for word in self.words if key_of(word.key) in _NAMES}
        for word in self.words:
            name, found, value = word.text.replace("=", ":").partition(":")
            if found and key_of(name) in _NAMES and value:
                said.add(value)
        return tuple(sorted(said - PLAIN_NAMES))

    def holds(self, found: Indicator) -> bool:
        """Whether the indicator stands here, in any of its spellings; numbers exactly."""
        match found.kind:
            case IndicatorKind.IP:
                return address(found.text) in self.addresses
            case IndicatorKind.TIMESTAMP:
                ends = span(found.text) or (" ".join(found.text.split()),)
                return all(moment(end) in self.moments for end in ends)
            case (
                IndicatorKind.DURATION
                | IndicatorKind.PERCENT
                | IndicatorKind.QUANTITY
                | IndicatorKind.CODE
            ):
                return self._holds_amount(found)
            case IndicatorKind.PAIR:
                return self._holds_pair(found.text)
            case _:
                return self._holds_name(found)

    def _holds_amount(self, found: Indicator) -> bool:
        first, _, noun = found.text.partition(" ")
        spelled = SPELLED.get(first.lower())
        if spelled is not None:
            return str(spelled) in self.numbers
        seen = figure(first)
        if seen is None:
            return self._holds_name(found)
        if noun in COUNTED and len(seen.text) == 1:
            return self._counts(seen.text, noun.rstrip("s"))
        return set(seen.numbers) <= self.numbers

    def _counts(self, digit: str, noun: str) -> bool:
        """Look for a count of one digit where its noun is counted: such digits stand everywhere."""
        counted = {value for key, value in self.pairs if noun in key and value.isdigit()}
        if not counted:
            return digit in self.numbers
        return digit in counted or re.search(rf"\b{digit} {noun}", self.folded) is not None

    def _holds_pair(self, text: str) -> bool:
        name, _, value = text.partition("=")
        last = re.split(r"[./]", name)[-1]
        told = value_of(value)
        return any((key_of(key), told) in self.pairs for key in (name, last))

    def _holds_name(self, found: Indicator) -> bool:
        """Look for a name that is no part of a longer one.

        A host may be cited without its domain, a commit by its first letters, and a pod's name
        goes on after an underscore in the kubelet's own messages.
        """
        after = _AFTER.get(found.kind, r"(?![a-z0-9_]|-[a-z0-9]|\.[0-9])")
        name = _PREFIX.sub("", found.text.casefold())
        pattern = rf"(?<![a-z0-9_-]){re.escape(name)}{after}"
        return re.search(pattern, self.folded) is not None


def key_of(name: str) -> str:
    """Bring a name to one spelling: `exit_code`, `exitCode` and `exit code` are one."""
    return _KEY.sub("", name.lower())


def value_of(text: str) -> str:
    """Bring a value to one spelling."""
    plain = text.rstrip("%").replace(",", "")
    return number(plain) if re.fullmatch(r"\d{1,40}(?:\.\d{1,20})?", plain) else text.casefold()
