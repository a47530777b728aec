"""Pages: who is called when something breaks, and what became of it."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from engine.model.alert import Severity
from engine.model.base import Frozen
from engine.model.org import Platform


class Mentioned(Frozen):
    """Somebody, or a group, who is called on the card itself; only configuration names them."""

    platform: Platform
    account: str


class EscalationRoute(Frozen):
    """Who is paged for which alerts."""

    name: str
    match: Mapping[str, str] = {}
    """Labels the lead alert must carry."""
    least: Severity = Severity.HIGH
    """Anything slighter pages nobody."""
    mentions: tuple[Mentioned, ...] = ()
    pagers: tuple[str, ...] = ()
    """Names of configured pagers."""


class PageTrigger(StrEnum):
    """What makes a page be decided."""

    OPENED = "opened"
    SEVERITY = "severity"
    """It became graver."""
    REOPENED = "reopened"


class NoPage(StrEnum):
    """Why nobody was paged."""

    ONCALL_DISABLED = "oncall_disabled"
    NO_ROUTE = "no_route"
    SEVERITY = "severity"
    """A route fits, for graver things."""
    DRILL = "drill"


class Paged(Frozen):
    """Somebody is paged."""

    route: EscalationRoute
    trigger: PageTrigger


class NotPaged(Frozen):
    """Nobody is paged."""

    reason: NoPage


PageDecision = Paged | NotPaged


class PageAction(StrEnum):
    """What a pager is told."""

    TRIGGER = "trigger"
    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"


class PageText(Frozen):
    """What a page says; the alert's own words, masked as they were stored."""

    number: int
    severity: Severity
    rule: str
    summary: str = ""
    labels: Mapping[str, str] = {}


class PageRecord(Frozen):
    """What is known of the paging of one incident, for its card."""

    route: str = ""
    mentions: tuple[Mentioned, ...] = ()
    pagers: tuple[str, ...] = ()
    reason: NoPage | None = None
    """Why nobody was paged; None when somebody was."""
    failed: tuple[str, ...] = Field(())
    """Pagers that did not take a page so far."""
