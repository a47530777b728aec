"""Is the rest of the fleet up? The one fact most likely to contradict a wide verdict."""

from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.ratio import Ratio, climb
from engine.verification.scope import ladder

RATIO = Ratio(
    name="up",
    good=lambda inner: f"sum(up{{{inner}}})",
    every=lambda inner: f"count(up{{{inner}}})",
    note="scrape health, not application health",
)


async def run(subject: Subject, reach: Reach) -> Seen:
    """Say how many of the incident's peers are up, in the first scope that has any."""
    return await climb(RATIO, ladder(subject.incident), reach.backend(), reach)


CHECK = CheckKind(
    name="peer_up_ratio", run=run, floor=lambda _subject, reach: reach.metrics is not None
)
