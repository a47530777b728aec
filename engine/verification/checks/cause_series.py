"""A series that would show the cause a person named: the one probe that can back a ruling on it."""

from engine.model.correction import CAUSE_SERIES
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.querying import queried


async def run(subject: Subject, reach: Reach) -> Seen:
    """Ask it as it was written, held to the incident's scope."""
    return await queried(subject, reach, None)


CHECK = CheckKind(name=CAUSE_SERIES, run=run)
