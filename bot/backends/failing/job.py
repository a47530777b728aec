"""A job from outside: one that cannot be read is dropped and counted, never tried again."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.backends.failing.verdict import Category, Verdict
from engine.model.run import FailureClass


class Job(BaseModel):
    """What a triage job must say; the rest is left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    alert_group_id: UUID


def of_job(body: object) -> Verdict:
    """Judge a job as it came off the queue."""
    try:
        if isinstance(body, str | bytes):
            Job.model_validate_json(body)
        else:
            Job.model_validate(body)
    except (ValidationError, ValueError):
        return Verdict(failure=FailureClass.POISON_PAYLOAD, category=Category.POISON)
    return Verdict(failure=None, category=Category.GOOD)
