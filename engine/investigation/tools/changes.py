"""What changed, as change sources told us; offered where one ever spoke."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools.span import END, START, Moment, window
from engine.model.base import canonical_json
from engine.model.change import Change
from engine.model.evidence import QueryOutcome
from engine.model.ledger import ToolName
from engine.model.pack import SectionName, SectionStatus
from engine.pack.section import SectionNote
from engine.verification.kind import plain

MOST = 20
_TOLD_IN = (SectionName.CHANGES, SectionName.DEPLOYS, SectionName.CLOUD)


class Asked(Arguments):
    """Of which time, and of what."""

    about: str = Field(
        "",
        description="A component, or a part of its name; without it everything.",
        max_length=LABEL_CHARACTERS,
    )
    start: Moment | None = START
    end: Moment | None = END


def offered(bench: Bench) -> bool:
    """Whether the pack could look for changes that somebody reports."""
    told = [bench.subject.pack.section(name) for name in _TOLD_IN]
    return any(
        section is not None
        and section.status is not SectionStatus.NOT_CONFIGURED
        and SectionNote.NO_CHANGE_SOURCE not in section.note
        for section in told
    )


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Take the time."""
    span = window(asked.start, asked.end, bench)
    if isinstance(span, Refused):
        return span
    return Wanted(asked=asked.about, start_at=span.start_at, end_at=span.end_at)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give the newest first, each against onset."""
    client = bench.subject.incident.client_id
    async with bench.reach.store.begin() as tx:
        every = await tx.changes.between(client, wanted.start_at, wanted.end_at)
    part = wanted.asked.casefold()
    found = [c for c in every if part in f"{c.component} {c.what}".casefold()]
    return Told(
        outcome=QueryOutcome.FETCHED if found else QueryOutcome.EMPTY,
        text="\n".join(_said(found, bench)) or "(no changes)",
        whole=canonical_json([change.model_dump(mode="json") for change in found]),
    )


def _said(found: Sequence[Change], bench: Bench) -> Iterator[str]:
    onset = bench.subject.pack.anchor.onset_at
    for change in found[:MOST]:
        offset_s = (change.at - onset).total_seconds()
        yield (
            f"{change.at:%Y-%m-%d %H:%M:%S}Z ({offset_s:+.0f} s from onset)"
            f" {change.kind} of {plain(change.component, 80)}: {plain(change.what, 200)}"
        )
    if len(found) > MOST:
        yield f"{len(found) - MOST} older ones"


TOOL = Tool(
    name=ToolName.CHANGES,
    arguments=Asked,
    offered=offered,
    want=want,
    tell=tell,
)
