"""A person's query that looks further than the alert did."""

from engine.model.correction import WIDENED
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.querying import queried


async def run(subject: Subject, reach: Reach) -> Seen:
    """Ask it as it was written, held to the incident's scope."""
    return await queried(subject, reach, None)


CHECK = CheckKind(name=WIDENED, run=run)
