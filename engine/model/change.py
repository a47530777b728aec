"""A change somebody or something made, as a change source reported it."""

from collections.abc import Mapping

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen
from engine.model.pack import ChangeKind


class Change(Frozen):
    """One deploy, configuration change or control-plane action."""

    source: str
    kind: ChangeKind
    at: AwareDatetime
    component: str
    """Service, host or resource that changed."""
    what: str
    """Version, commit, setting: one line."""
    labels: Mapping[str, str] = Field(min_length=1)
    host: str | None = None
    """Set when the change belongs to one machine."""
    dedup_key: str | None = None
    drill: bool = False
