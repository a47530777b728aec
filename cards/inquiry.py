"""The one message of a question: being looked into, then its settled answer."""

from datetime import datetime

from cards import caveats, words
from cards.actions import LABELS, MOST_VISIBLE
from cards.card import Block, Button, Card, Caveats, Line, Section, Tone
from cards.heading import cause_title
from cards.life import degraded, names_no_cause
from cards.line import bold, code, joined, moment, say, text
from cards.render.limits import clean, cut
from cards.sections.evidence import claim_line
from cards.sections.trust import standing_of
from engine.model.action import Action
from engine.model.finding import Disposition, Finding
from engine.model.inquiry import Answered, Inquiry, InquiryState, Scope

MOST_TEXT = 200
MOST_CLAIMS = 4
MOST_PROGRESS = 2
MOST_BUTTON = 40


def card(answered: Answered, now: datetime) -> Card:
    """Draw a question's message as it stands now."""
    inquiry = answered.inquiry
    blocks = _blocks(answered, now)
    said = cut(clean(inquiry.text), MOST_TEXT)
    return Card(
        tone=Tone.ANSWER,
        heading="",
        lock_screen=cut(f"{_gist(answered)} · {said}", 110),
        sections=(
            Section(name="asked", blocks=(text(*_asked(answered, now)),), rank=10, keep=90),
            Section(name="answer", blocks=blocks, rank=20, keep=95),
        ),
        buttons=_buttons(inquiry),
        facts={"state": f"inquiry_{inquiry.state}", "inquiry": inquiry.id},
    )


def _asked(answered: Answered, now: datetime) -> list[Line]:
    """First the client and the time, so that nobody takes the answer for another's."""
    inquiry = answered.inquiry
    client = say(code(inquiry.client_id)) if answered.names_client else ()
    scope = _scope(inquiry.scope)
    span = say(moment(inquiry.start_at, now), " to ", moment(inquiry.end_at, now))
    about = joined((client, scope, span))
    asked = say(f"{cut(clean(inquiry.asked_by), 40)} asks: ", bold(cut(clean(inquiry.text), 200)))
    return [about, asked]


def _scope(scope: Scope) -> Line:
    return joined(tuple(say(code(f"{name}={value}")) for name, value in sorted(scope.items())))


def _gist(answered: Answered) -> str:
    finding = answered.finding
    if finding is None or answered.inquiry.state is not InquiryState.ANSWERED:
        return GIST[answered.inquiry.state]
    if finding.disposition is Disposition.ABSTAINED or names_no_cause(finding):
        return "No answer"
    return "checks unavailable" if degraded(finding) else words.TRUST[finding.trust_level]


GIST = {
    InquiryState.CHOOSING: "Which one?",
    InquiryState.UNPLACED: "Unclear",
    InquiryState.WAITING: "Looking",
    InquiryState.ANSWERED: "Answer",
    InquiryState.SKIPPED: "Not looked into",
    InquiryState.FAILED: "Failed",
}


def _blocks(answered: Answered, now: datetime) -> tuple[Block, ...]:
    inquiry, finding = answered.inquiry, answered.finding
    match inquiry.state:
        case InquiryState.CHOOSING:
            return (text(say("Several things bear that name. Which one?")),)
        case InquiryState.UNPLACED:
            named = say("No name in it is known here. Name a service, workload, host or namespace.")
            return (text(named),)
        case InquiryState.SKIPPED:
            reason = words.SKIP[inquiry.skip_reason] if inquiry.skip_reason else "not now"
            return (Caveats(lines=(say(bold("Not looked into"), f": {reason}"),)),)
        case InquiryState.FAILED:
            failure = words.FAILURE[inquiry.failure] if inquiry.failure else "see the log"
            return (Caveats(lines=(say(bold("Could not be looked into"), f": {failure}"),)),)
        case InquiryState.ANSWERED if finding is not None:
            return _found(finding)
        case _:
            return (text(*_working(answered, now)),)


def _working(answered: Answered, now: datetime) -> list[Line]:
    run = answered.run
    facts = run.progress[-MOST_PROGRESS:] if run is not None else ()
    again = run.next_try_at if run is not None else None
    wait = [say("model provider busy, next try ", moment(again, now))] if again else []
    return [say("⏳ ", bold("Looking into it")), *(say(fact) for fact in facts), *wait]


def _found(finding: Finding) -> tuple[Block, ...]:
    lines = caveats.lines(finding)
    warned: tuple[Block, ...] = (Caveats(lines=lines),) if lines else ()
    if finding.disposition is Disposition.ABSTAINED:
        return (text(say(bold("Cannot determine this from the available evidence"))), *warned)
    if names_no_cause(finding):
        return (text(say(bold("No cause found"))), *warned)
    sure = joined(standing_of(finding))
    claims = [claim_line(claim) for claim in finding.claims[:MOST_CLAIMS]]
    return (
        text(cause_title(finding), say(cut(clean(finding.root_cause or ""), 450)), sure),
        *warned,
        text(*claims),
    )


def _buttons(inquiry: Inquiry) -> tuple[Button, ...]:
    """One button a thing it could be about; the place in the list is what is pressed."""
    if inquiry.state is not InquiryState.CHOOSING:
        return ()
    return tuple(
        Button(
            action=Action.CHOOSE_SCOPE,
            label=cut(" · ".join(clean(v) for v in choice.values()), MOST_BUTTON)
            or LABELS[Action.CHOOSE_SCOPE],
            subject=str(place),
        )
        for place, choice in enumerate(inquiry.choices[:MOST_VISIBLE])
    )
