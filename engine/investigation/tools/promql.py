"""What the two metrics tools have in common: what may be sent, and what means the same."""

from collections.abc import Iterable

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Bench, Refused, Told
from engine.model.base import canonical_json
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    Invalid,
    InvalidReason,
    Outcome,
    Series,
    outcome_of,
)
from engine.promql.policy import FOR_MODELS
from engine.promql.repair import same_meaning
from engine.verification.admitting import admitted
from engine.verification.kind import plain
from engine.verification.scope import narrowest

NAME = "query"
MOST_SERIES = 8
MOST_LABELS = 6


def offered(bench: Bench) -> bool:
    """Whether there is a metrics backend."""
    return bench.reach.metrics is not None


async def fit(query: str, bench: Bench) -> str | Refused:
    """Give the text that is sent, held to the client and to the incident's scope."""
    scope = narrowest(bench.subject.incident)
    found = await admitted(query, scope, bench.reach, FOR_MODELS)
    if isinstance(found, str):
        return found
    return Refused(why=f"the query does not run ({_why(found)})")


def _why(invalid: Invalid) -> str:
    """Name the reason; what else is wrong with it is said in its own words."""
    unsure = invalid.reason is InvalidReason.UNSURE
    detail = "" if unsure else f": {plain(invalid.detail, LABEL_CHARACTERS)}"
    return f"{invalid.reason}{detail}"


def same(one: str, other: str) -> bool:
    """Whether two expressions ask the same."""
    return "".join(one.split()) == "".join(other.split()) or same_meaning(one, other)


def unanswered(outcome: Gap | Invalid, backend: str) -> Told:
    """Say that no answer came, and why."""
    cause = outcome.cause if isinstance(outcome, Gap) else outcome.reason
    text = f"no answer ({cause}) {plain(outcome.detail)}".strip()
    return Told(outcome=outcome_of(outcome), text=text, backend=backend)


def series_of(outcome: Answered | Empty) -> tuple[Series, ...]:
    """The series of the one query."""
    return outcome.results.get(NAME, ()) if isinstance(outcome, Answered) else ()


def listed(lines: Iterable[str], outcome: Outcome) -> str:
    """Write the first lines, and how many there are beyond them."""
    every = list(lines)
    cut = outcome.truncated if isinstance(outcome, Answered) else 0
    left = len(every) - len(every[:MOST_SERIES]) + cut
    more = [f"{left} more series"] if left else []
    return "\n".join([*every[:MOST_SERIES], *more])


def named(series: Series) -> str:
    """The labels of a series, the first few of them."""
    labels = [f"{plain(k, 64)}={plain(v, 64)}" for k, v in sorted(series.labels.items())]
    cut = ["…"] if len(labels) > MOST_LABELS else []
    return f"{{{', '.join(labels[:MOST_LABELS] + cut)}}}"


def whole(outcome: Outcome) -> str:
    """All that was answered, for the record."""
    return canonical_json(outcome.model_dump(mode="json"))
