"""The alert's own series taken apart by what its members run: is it as bad where that is not?"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.model.evidence import Answered, Empty, Gap, Invalid, QueryOutcome, Question, Series
from engine.model.pack import MetricDigest, Pack
from engine.promql.split import split_by
from engine.promql.strings import quote
from engine.verification.admitting import narrowed
from engine.verification.kind import Reach, Seen, Subject, plain, unanswered
from engine.verification.scope import narrowest

OWN = "symptom"
CARRIERS = ("pod", "instance")
"""Labels that say which process a series is of; other metrics know what runs in it."""
MOST_VALUES = 6
Runs = dict[tuple[str, str], dict[str, set[str]]]
"""By label and name of a process: the values of each label that are known of it."""
Values = Mapping[str, Sequence[float]]
"""Numbers of the series of each value of one label."""


@dataclass(frozen=True)
class Split:
    """By which labels, and which other metrics know them."""

    name: str
    labels: Sequence[str]
    joined: Sequence[str]
    """Metrics that carry both a label of these and a process, such as those of a build."""


def expression_of(pack: Pack) -> str | None:
    """Give the alert's own expression, where it can be taken apart."""
    expression = pack.anchor.expression
    return expression if expression and split_by(expression, CARRIERS) else None


def carries(pack: Pack, labels: Iterable[str]) -> bool:
    """Whether anything that was measured carries one of these labels."""
    wanted = set(labels)
    return any(
        wanted & set(item.facts.labels)
        for item in pack.items
        if isinstance(item.facts, MetricDigest)
    )


async def taken_apart(split: Split, subject: Subject, reach: Reach) -> Seen:
    """Ask for the parts and for who runs what, and set the values of each label side by side."""
    query = _query(split, subject, reach)
    if isinstance(query, Invalid):
        return unanswered(query, asked=query.expression, name=split.name)
    tool = reach.backend()
    outcome = await tool.ask(
        Question(tool=tool.name, queries={OWN: query, **_joins(split, subject, reach)})
    )
    if isinstance(outcome, Gap | Invalid):
        return unanswered(outcome, asked=query, name=split.name)
    return _seen(split, query, outcome, subject)


def _query(split: Split, subject: Subject, reach: Reach) -> str | Invalid:
    expression = subject.pack.anchor.expression or ""
    parts = split_by(expression, [*split.labels, *CARRIERS], reach.server) or expression
    return narrowed(parts, narrowest(subject.incident), reach)


def _joins(split: Split, subject: Subject, reach: Reach) -> dict[str, str]:
    """Ask what runs in each process of the namespace; elsewhere only own labels tell."""
    namespace = narrowest(subject.incident).get("namespace")
    if namespace is None:
        return {}
    held = {"namespace": namespace, **reach.extra_matchers}
    inner = ",".join(f"{label}={quote(value)}" for label, value in held.items())
    by = ", ".join([*CARRIERS, *split.labels])
    return {name: f"count by ({by}) ({{__name__=~{quote(name)},{inner}}})" for name in split.joined}


def _seen(split: Split, query: str, answer: Answered | Empty, subject: Subject) -> Seen:
    found = answer.results if isinstance(answer, Answered) else {}
    known = _runs(split, [s for name in split.joined for s in found.get(name, ())])
    compared = {
        label: values
        for label in split.labels
        if len(values := _by(label, found.get(OWN, ()), known)) > 1
    }
    at = f"at {answer.evaluated_at:%H:%M:%S}Z"
    lines = [f"{split.name} {_said(label, values)} {at}" for label, values in compared.items()]
    return Seen(
        asked=query,
        outcome=QueryOutcome.FETCHED if compared else QueryOutcome.EMPTY,
        text="\n".join(lines)
        or f"{split.name} by {split.labels[0]}: nothing to set side by side {at}",
        scope=narrowest(subject.incident),
        scoped=bool(compared),
        evaluated_at=answer.evaluated_at,
        figures={
            f"{label}={value}": fmean(numbers)
            for label, values in compared.items()
            for value, numbers in values.items()
        },
    )


def _runs(split: Split, told: Iterable[Series]) -> Runs:
    """Say of each process which values others know of it."""
    runs: Runs = defaultdict(lambda: defaultdict(set))
    for series in told:
        for carrier in CARRIERS:
            process = (carrier, series.labels.get(carrier, ""))
            for label in split.labels:
                if process[1] and series.labels.get(label):
                    runs[process][label].add(series.labels[label])
    return runs


def _by(label: str, own: Sequence[Series], runs: Runs) -> Values:
    told = [values[label] for values in runs.values() if label in values]
    # What every process runs, such as a sidecar's image, tells none of them from the others.
    shared = set.intersection(*told) if len(told) > 1 else set()
    values: dict[str, list[float]] = defaultdict(list)
    for series in own:
        value = series.labels.get(label) or _looked_up(label, series, runs, shared)
        if value:
            values[value].append(series.last)
    return values


def _looked_up(label: str, series: Series, runs: Runs, shared: set[str]) -> str | None:
    """Find the one value a series' process has; several of them tell nothing."""
    for carrier in CARRIERS:
        process = (carrier, series.labels.get(carrier, ""))
        found = runs[process][label] - shared if process in runs else set()
        if len(found) == 1:
            return next(iter(found))
    return None


def _said(label: str, values: Values) -> str:
    """Give the highest first, each with how many series it is the mean of."""
    ranked = sorted(values.items(), key=lambda pair: (-fmean(pair[1]), pair[0]))
    told = [
        f"{plain(value, 64)} {fmean(numbers):.6g} (series {len(numbers)})"
        for value, numbers in ranked[:MOST_VALUES]
    ]
    more = [f"{len(ranked) - MOST_VALUES} more"] if len(ranked) > MOST_VALUES else []
    return f"by {label}: {', '.join([*told, *more])}"
