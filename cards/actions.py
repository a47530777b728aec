"""Every button a card can have, and which of them a state shows: one table."""

from collections.abc import Collection, Mapping
from enum import StrEnum

from cards.card import Button, ButtonStyle, Card
from cards.life import State
from engine.model.action import Action
from engine.model.finding import Finding

MOST_VISIBLE = 4


LABELS: Mapping[Action, str] = {
    Action.TAKE: "Take",
    Action.RIGHT_CAUSE: "Right cause",
    Action.WRONG_CAUSE: "Wrong cause…",
    Action.WHY: "Why?",
    Action.RETRIAGE: "Re-triage",
    Action.MUTE: "Mute 1 h",
    Action.SNOOZE: "Until morning",
    Action.SAME_AS: "Same as…",
    Action.NOT_RELATED: "Not related",
    Action.INVESTIGATE: "Investigate",
    Action.STOP: "Stop",
    Action.CHOOSE_SCOPE: "This one",
    Action.KEEP_OPEN: "Keep open",
    Action.APPROVE_FIX: "Approve fix…",
    Action.REJECT_FIX: "Reject…",
    Action.FIX_WORKED: "Fix worked",
    Action.DID_NOT_WORK: "Did not work",
    Action.SAVE_TO_MEMORY: "Save to memory…",
}

OF_FINDING = frozenset(
    {Action.RIGHT_CAUSE, Action.WRONG_CAUSE, Action.FIX_WORKED, Action.DID_NOT_WORK}
)
"""What is said of one finding."""

PRIMARY = frozenset({Action.FIX_WORKED, Action.SAVE_TO_MEMORY})
"""Green wherever they stand; an approval is green on a verified finding only."""


class Row(StrEnum):
    """The sets of buttons."""

    NO_FIX = "no_fix"
    NO_CAUSE = "no_cause"
    FIX_PROPOSED = "fix_proposed"
    EXECUTED = "executed"
    RESOLVED = "resolved"
    NOT_INVESTIGATED = "not_investigated"
    INVESTIGATING = "investigating"
    CLOSED = "closed"
    MERGED = "merged"
    NOTHING = "nothing"


_MENU = (
    Action.WHY,
    Action.RETRIAGE,
    Action.MUTE,
    Action.SNOOZE,
    Action.SAME_AS,
    Action.NOT_RELATED,
)

ROWS: Mapping[Row, tuple[tuple[Action, ...], tuple[Action, ...]]] = {
    Row.NO_FIX: ((Action.TAKE, Action.RIGHT_CAUSE, Action.WRONG_CAUSE), _MENU),
    Row.NO_CAUSE: ((Action.TAKE, Action.RETRIAGE, Action.WHY), _MENU[2:]),
    Row.FIX_PROPOSED: ((Action.APPROVE_FIX, Action.REJECT_FIX, Action.WRONG_CAUSE), _MENU),
    Row.EXECUTED: ((Action.FIX_WORKED, Action.DID_NOT_WORK, Action.WHY), _MENU[1:]),
    Row.RESOLVED: (
        (Action.SAVE_TO_MEMORY, Action.RIGHT_CAUSE, Action.WRONG_CAUSE, Action.WHY),
        (),
    ),
    Row.NOT_INVESTIGATED: ((Action.INVESTIGATE, Action.TAKE), _MENU[2:]),
    Row.INVESTIGATING: ((Action.STOP, Action.TAKE), _MENU[2:]),
    Row.CLOSED: ((Action.KEEP_OPEN, Action.WHY), ()),
    Row.MERGED: ((Action.NOT_RELATED,), ()),
    Row.NOTHING: ((), ()),
}
"""Visible, then under the menu."""

OF_STATE: Mapping[State, Row] = {
    State.FACTS: Row.NOT_INVESTIGATED,
    State.INVESTIGATING: Row.INVESTIGATING,
    State.VERIFIED: Row.NO_FIX,
    State.UNCONFIRMED: Row.NO_FIX,
    State.UNVERIFIED: Row.NO_FIX,
    State.UNCHECKED: Row.NO_FIX,
    State.DEGRADED: Row.NO_FIX,
    State.NO_FINDING: Row.NO_CAUSE,
    State.ABSTAINED: Row.NO_CAUSE,
    State.NO_MODEL: Row.NO_CAUSE,
    State.NOT_INVESTIGATED: Row.NOT_INVESTIGATED,
    State.CHRONIC_QUIET: Row.NOT_INVESTIGATED,
    State.WAITING: Row.INVESTIGATING,
    State.OPERATOR_ACTION: Row.NO_CAUSE,
    State.FAILED: Row.NO_CAUSE,
    State.PREDICTIVE: Row.NOT_INVESTIGATED,
    State.HEARTBEAT: Row.NOTHING,
    State.FIRST_CONTACT: Row.NOT_INVESTIGATED,
    State.RESOLVED: Row.RESOLVED,
    State.CLOSED: Row.CLOSED,
    State.MERGED: Row.MERGED,
}


def buttons(
    state: State,
    offered: Collection[Action],
    finding: Finding | None = None,
    *,
    several: bool = False,
    taken: bool = False,
) -> tuple[Button, ...]:
    """The buttons of a state, as far as there is a desk behind them.

    What is said of a finding is said of the one that is shown: its button names it. What does not
    belong together can only be said of several groups; it takes the place of the longer silence,
    as a menu has room for five. What somebody took cannot be taken again.
    """
    row = OF_STATE[state]
    if row is Row.RESOLVED and not (finding and finding.root_cause):
        row = Row.NOTHING
    visible, menu = ROWS[row]
    over = {Action.TAKE} if taken else set()
    shown = [a for a in visible if a in offered and a not in over][:MOST_VISIBLE]
    unfit = Action.SNOOZE if several else Action.NOT_RELATED
    hidden = [a for a in menu if a in offered and a not in shown and a is not unfit]
    about = finding.triage_id if finding else ""
    made = [(a, False) for a in shown] + [(a, True) for a in hidden]
    return tuple(button(a, more=more, subject=about if a in OF_FINDING else "") for a, more in made)


def fix_buttons(state: State, offered: Collection[Action]) -> tuple[Button, ...]:
    """The buttons of a proposed fix: on verified and unconfirmed findings, nowhere else."""
    if state not in (State.VERIFIED, State.UNCONFIRMED):
        return buttons(state, offered)
    visible, menu = ROWS[Row.FIX_PROPOSED]
    made = [
        button(a, green=state is State.VERIFIED and a is Action.APPROVE_FIX)
        for a in visible
        if a in offered
    ]
    return (*made, *(button(a, more=True) for a in menu if a in offered))


def button(action: Action, *, more: bool = False, green: bool = False, subject: str = "") -> Button:
    """One button."""
    style = ButtonStyle.PRIMARY if green or action in PRIMARY else ButtonStyle.PLAIN
    return Button(action=action, label=LABELS[action], style=style, more=more, subject=subject)


def with_tokens(card: Card, tokens: Mapping[tuple[str, str], str]) -> Card:
    """Put the random tokens on the buttons, found by action and subject."""
    made = [b.model_copy(update={"token": tokens[b.action, b.subject]}) for b in card.buttons]
    return card.model_copy(update={"buttons": tuple(made)})
