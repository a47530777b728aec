"""What the rehearsal model reads in a request: evidence, check results and its own draft."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Json = dict[str, Any]

_SUSPECT = re.compile(
    r"(?P<component>.+?) \((?P<cause_class>\w+)\), score (?P<score>[\d.]+), [^:]*: "
    r"(?P<text>.*) \[(?P<ids>[^\]]*)\]",
    re.DOTALL,
)
_RESULT = re.compile(r"\[(?P<id>R\d+)\] (?P<source>\w+), (?P<kind>\w+), (?P<outcome>\w+)")
_METRIC = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)\{(?P<labels>[^}]*)\} (?P<rest>.*)", re.DOTALL)
_DEVIATION = re.compile(r"([+-]\d+(?:\.\d+)?) deviations")
_RATIO = re.compile(r"\bup (\d+)/(\d+) in (?!all targets)")
_VALUE = re.compile(r"^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) \{", re.MULTILINE)
_NOT_LOOKED_AT = re.compile(
    r"^- (\w+): (?:could not be looked at|nothing is connected)", re.MULTILINE
)
RESULTS = "# Check results"


@dataclass(frozen=True)
class Suspected:
    """A suspect as the evidence lists it."""

    component: str
    cause_class: str
    score: float
    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A metric that moved."""

    id: str
    name: str
    labels: Mapping[str, str]
    deviation: float


@dataclass(frozen=True)
class Result:
    """A check as it ended."""

    id: str
    source: str
    kind: str
    outcome: str
    text: str

    @property
    def value(self) -> float | None:
        """The highest number it gave."""
        values = [float(found) for found in _VALUE.findall(self.text)]
        return max(values, default=None)

    @property
    def share_up(self) -> float | None:
        """How much of the peers is up, in a scope narrower than everything."""
        found = _RATIO.findall(self.text)
        return int(found[-1][0]) / int(found[-1][1]) if found and int(found[-1][1]) else None


class Reading:
    """One request, read."""

    def __init__(self, body: Json) -> None:
        """Take the turns apart."""
        self.turns = [(m["role"], _said(m["content"])) for m in body["messages"]]

    @cached_property
    def fields(self) -> dict[str, str]:
        """The evidence by its field."""
        return dict(_fields(self.turns[0][1]))

    @property
    def judging(self) -> bool:
        """Whether this is the second call."""
        return RESULTS in self.turns[-1][1]

    @property
    def kinds(self) -> list[str]:
        """Kinds of check it was offered; none where verification is switched off."""
        return re.findall(r"^- (promql|incidents_in_window):", self.turns[0][1], re.MULTILINE)

    @cached_property
    def suspects(self) -> list[Suspected]:
        """Suspects, best first."""
        found = [_SUSPECT.fullmatch(text) for f, text in self.fields.items() if "suspect " in f]
        return [_suspected(match) for match in found if match]

    @cached_property
    def metrics(self) -> list[Measured]:
        """Metrics of what fails that can be asked for again, the wildest first."""
        found = [m for m in map(_measured, self.fields.items()) if m is not None]
        return sorted(found, key=lambda one: -abs(one.deviation))

    @property
    def runbook(self) -> str | None:
        """The first step of the runbook, where one was found."""
        lines = [text for field, text in self.fields.items() if re.fullmatch(r"B\d+", field)]
        steps = [line.partition(": ")[2] for line in lines if "://" not in line]
        return steps[0] if steps else None

    @property
    def not_looked_at(self) -> list[str]:
        """Sections that could not tell anything."""
        return _NOT_LOOKED_AT.findall(self.turns[0][1])

    @cached_property
    def draft(self) -> Json:
        """What it said in the first call."""
        said = next(text for role, text in reversed(self.turns) if role == "assistant")
        draft: Json = json.loads(said)["draft"]
        return draft

    @cached_property
    def results(self) -> list[Result]:
        """The checks, in order."""
        text = self.turns[-1][1].split(RESULTS, 1)[1].split("</untrusted", 1)[0]
        starts = [*_RESULT.finditer(text)]
        ends = [match.start() for match in starts[1:]] + [len(text)]
        return [
            Result(text=text[m.end() : end].strip(), **m.groupdict())
            for m, end in zip(starts, ends, strict=True)
        ]


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.startswith('{"field":'):
            found = json.loads(line)
            yield found["field"], found["text"]


def _suspected(match: re.Match[str]) -> Suspected:
    return Suspected(
        component=match["component"],
        cause_class=match["cause_class"],
        score=float(match["score"]),
        text=match["text"],
        ids=tuple(filter(None, match["ids"].split(", "))),
    )


def _measured(field: tuple[str, str]) -> Measured | None:
    """Read a metric line; peers, named percentiles and the alert's own expression are left out."""
    id_, text = field
    match = _METRIC.fullmatch(text) if re.fullmatch(r"M\d+", id_) else None
    if match is None:
        return None
    pairs = [pair.partition("=") for pair in match["labels"].split(", ") if "=" in pair]
    moved = _DEVIATION.search(match["rest"])
    return Measured(
        id=id_,
        name=match["name"],
        labels={name: value for name, _, value in pairs},
        deviation=float(moved[1]) if moved else 0.0,
    )
