"""Which parts each state of a card shows; the one table of card sections."""

from collections.abc import Mapping

from cards.life import State
from cards.section import CardSection
from cards.sections import (
    cause,
    changes,
    evidence,
    first_step,
    gaps,
    history,
    impact,
    last_finding,
    members,
    metrics,
    outcome,
    people,
    rehearsal,
    runbook,
    signals,
    status,
    summary,
    suspects,
    trust,
    where,
)

SECTIONS: tuple[CardSection, ...] = (
    rehearsal.SECTION,
    where.SECTION,
    outcome.SECTION,
    summary.SECTION,
    impact.SECTION,
    cause.SECTION,
    last_finding.SECTION,
    status.SECTION,
    people.SECTION,
    trust.SECTION,
    first_step.SECTION,
    suspects.SECTION,
    metrics.SECTION,
    changes.SECTION,
    signals.SECTION,
    history.SECTION,
    runbook.SECTION,
    members.SECTION,
    gaps.SECTION,
    evidence.SECTION,
)

_ALWAYS = (rehearsal.SECTION, where.SECTION)
_FACTS = (
    *_ALWAYS,
    summary.SECTION,
    impact.SECTION,
    status.SECTION,
    people.SECTION,
    suspects.SECTION,
    metrics.SECTION,
    changes.SECTION,
    signals.SECTION,
    history.SECTION,
    runbook.SECTION,
    members.SECTION,
    gaps.SECTION,
)
_CAUSE = (
    *_ALWAYS,
    impact.SECTION,
    cause.SECTION,
    status.SECTION,
    people.SECTION,
    trust.SECTION,
    first_step.SECTION,
    metrics.SECTION,
    history.SECTION,
    members.SECTION,
    evidence.SECTION,
)
_NO_CAUSE = (*_CAUSE, suspects.SECTION, changes.SECTION, runbook.SECTION)
_ENDED = (
    *_ALWAYS,
    outcome.SECTION,
    cause.SECTION,
    people.SECTION,
    trust.SECTION,
    evidence.SECTION,
)
_QUIET = (*_ALWAYS, people.SECTION, impact.SECTION, last_finding.SECTION, runbook.SECTION)

LAYOUT: Mapping[State, tuple[CardSection, ...]] = {
    State.FACTS: _FACTS,
    State.INVESTIGATING: _FACTS,
    State.WAITING: _FACTS,
    State.OPERATOR_ACTION: _FACTS,
    State.FAILED: _FACTS,
    State.NO_MODEL: _FACTS,
    State.NOT_INVESTIGATED: _FACTS,
    State.FIRST_CONTACT: _FACTS,
    State.VERIFIED: _CAUSE,
    State.UNCONFIRMED: _CAUSE,
    State.UNVERIFIED: _CAUSE,
    State.UNCHECKED: _CAUSE,
    State.DEGRADED: _CAUSE,
    State.NO_FINDING: _NO_CAUSE,
    State.ABSTAINED: _NO_CAUSE,
    State.CHRONIC_QUIET: _QUIET,
    State.PREDICTIVE: (
        *_ALWAYS,
        summary.SECTION,
        impact.SECTION,
        status.SECTION,
        people.SECTION,
        history.SECTION,
        runbook.SECTION,
    ),
    State.HEARTBEAT: (*_ALWAYS, outcome.SECTION, people.SECTION, history.SECTION, runbook.SECTION),
    State.RESOLVED: _ENDED,
    State.CLOSED: _ENDED,
    State.MERGED: (*_ALWAYS, outcome.SECTION),
}
