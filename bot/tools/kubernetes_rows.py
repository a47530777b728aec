"""Events, versions and refusals as the Kubernetes API writes them."""

from datetime import datetime

from pydantic import AwareDatetime, BaseModel, Field, ValidationError


class _Object(BaseModel):
    kind: str = ""
    name: str = ""


class _Series(BaseModel):
    count: int | None = None
    lastObservedTime: AwareDatetime | None = None  # noqa: N815 - the server's spelling


class Event(BaseModel):
    """One thing that happened to one object."""

    type: str | None = None
    reason: str | None = None
    message: str | None = None
    count: int | None = None
    involvedObject: _Object = _Object()  # noqa: N815 - the server's spelling
    lastTimestamp: AwareDatetime | None = None  # noqa: N815
    eventTime: AwareDatetime | None = None  # noqa: N815
    firstTimestamp: AwareDatetime | None = None  # noqa: N815
    series: _Series | None = None
    """How a newer recorder counts; the older fields say nothing then."""

    @property
    def at(self) -> datetime | None:
        """When it was seen last."""
        repeated = self.series.lastObservedTime if self.series else None
        return self.lastTimestamp or repeated or self.eventTime or self.firstTimestamp

    @property
    def line(self) -> str:
        """It on one line, without its time."""
        count = self.count or (self.series.count if self.series else None) or 1
        times = f" ({count} times)" if count > 1 else ""
        what = f"{self.involvedObject.kind}/{self.involvedObject.name}"
        return f"{self.type or 'Normal'} {self.reason or ''} {what}: {self.message or ''}{times}"


class _More(BaseModel):
    remainingItemCount: int | None = None  # noqa: N815 - the server's spelling
    onward: str = Field("", alias="continue")
    """Where the next page begins; empty on the last."""


class Events(BaseModel):
    """A page of them."""

    items: list[Event] | None
    """None where a server writes an empty list so."""
    metadata: _More = Field(default_factory=_More)


class Version(BaseModel):
    """What it runs."""

    gitVersion: str  # noqa: N815 - the server's spelling


class Status(BaseModel):
    """What the API says instead of an answer."""

    message: str = ""

    @classmethod
    def of(cls, body: bytes) -> str:
        """Its words; nothing where it has none."""
        try:
            return cls.model_validate_json(body).message
        except ValidationError:
            return ""
