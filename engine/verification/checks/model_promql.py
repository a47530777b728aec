"""A query the model thinks could disprove its own draft."""

from engine.model.finding import MODEL_QUERY
from engine.promql.policy import FOR_MODELS
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.querying import queried


async def run(subject: Subject, reach: Reach) -> Seen:
    """Ask it within what a model may ask for."""
    return await queried(subject, reach, FOR_MODELS)


CHECK = CheckKind(name=MODEL_QUERY, run=run)
