"""What a press is answered with: one sentence each, the same in every chat."""

from collections.abc import Mapping
from datetime import datetime

from cards.actions import LABELS
from cards.card import Line
from cards.line import moment, say
from cards.render.limits import clean, cut
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind
from engine.model.org import Role

MOST_NAMES = 3
MOST_NAME = 40

DONE: Mapping[Action, str] = {
    Action.TAKE: "It is yours; the card says so.",
    Action.RIGHT_CAUSE: "Noted: right cause.",
    Action.WRONG_CAUSE: "Noted: wrong cause.",
    Action.FIX_WORKED: "Noted: the fix worked.",
    Action.DID_NOT_WORK: "Noted: the fix did not work.",
    Action.INVESTIGATE: "Investigation asked for; the card follows it.",
    Action.RETRIAGE: "Investigation asked for; the card follows it.",
    Action.STOP: "Stopping; what is known by now becomes the finding.",
    Action.MUTE: "Nothing of this rings until ",
    Action.SNOOZE: "Nothing of this rings until ",
    Action.KEEP_OPEN: "Open again.",
    Action.SAVE_TO_MEMORY: "Kept; the next card of this kind starts from it.",
    Action.CHOOSE_SCOPE: "Looking into that one.",
    Action.SAME_AS: "Merged; the other card carries it on.",
    Action.NOT_RELATED: "Taken apart; it has its own card.",
}
DID: Mapping[Action, str] = {
    Action.TAKE: "taken",
    Action.RIGHT_CAUSE: "called the right cause",
    Action.WRONG_CAUSE: "called the wrong cause",
    Action.FIX_WORKED: "said to have worked",
    Action.DID_NOT_WORK: "said not to have worked",
    Action.INVESTIGATE: "being investigated",
    Action.RETRIAGE: "being investigated",
    Action.STOP: "stopped",
    Action.SAVE_TO_MEMORY: "kept in memory",
    Action.CHOOSE_SCOPE: "chosen",
    Action.SAME_AS: "merged",
    Action.NOT_RELATED: "taken apart",
}
MAY: Mapping[Role, str] = {
    Role.RUNBOOKS_EXECUTE: "run fixes",
    Role.RESOLUTIONS_APPROVE: "approve what is kept",
    Role.ADMIN: "change settings",
}
PLAIN: Mapping[AnswerKind, str] = {
    AnswerKind.GUEST: "Only full members of this room can do that; you can read everything.",
    AnswerKind.DEACTIVATED: "Your account is deactivated here; ask an administrator.",
    AnswerKind.OFF: "Investigation is off for this client; an administrator can switch it on.",
    AnswerKind.NO_FINDING: "There is no finding yet that this could be about.",
    AnswerKind.CHANGED: "The finding changed since this card was drawn; look again.",
    AnswerKind.OVER: "This incident is over; nothing was changed.",
    AnswerKind.STILL_OPEN: "This incident is open; nothing was changed.",
    AnswerKind.NOTHING_RUNS: "Nothing is being investigated here now.",
    AnswerKind.INCOMPLETE: "Something is missing; nothing was kept.",
    AnswerKind.NOTHING_ELSE: "There is nothing else here it could be about.",
    AnswerKind.NOT_THERE: "This is not there any more; nothing was changed.",
    AnswerKind.OLD_CARD: "This card is from an older version; use the newest one.",
    AnswerKind.EXPIRED: "This question is closed; press the button again.",
}
SHOWN = "Here is the record."
HERE: Line = say(SHOWN)
OLD_CARD: Line = say(PLAIN[AnswerKind.OLD_CARD])
WINDOW_CLOSED: Line = say("The chat's window closed before the form could open; press again.")
AWAY: Line = say("The database does not answer now; nothing was changed. Try again in a minute.")
BROKEN: Line = say("That went wrong here; nothing was changed as far as is known. It was logged.")


def answer(said: Answer, now: datetime) -> Line:
    """Word an answer."""
    match said.kind:
        case AnswerKind.DONE:
            return _done(said, now)
        case AnswerKind.ALREADY:
            return _already(said, now)
        case AnswerKind.LACKS_ROLE:
            return say(_lacks(said))
        case AnswerKind.SHOWN:
            return say(SHOWN)
        case _:
            return say(PLAIN[said.kind])


def _done(said: Answer, now: datetime) -> Line:
    told = DONE.get(said.action, "Done.") if said.action else "Done."
    return say(told, moment(said.until, now), ".") if said.until else say(told)


def _already(said: Answer, now: datetime) -> Line:
    did = DID.get(said.action, "done") if said.action else "done"
    by = f" by {cut(clean(_name(said.by)), MOST_NAME)}" if said.by else ""
    at = (" at ", moment(said.at, now)) if said.at else ()
    return say(f"Already {did}{by}", *at, ".")


def _lacks(said: Answer) -> str:
    may = MAY[said.role] if said.role else "do that"
    named = [cut(clean(name), MOST_NAME) for name in said.ask[:MOST_NAMES]]
    ask = f"; ask {', '.join(named)}" if named else "; an administrator can grant it"
    return f"You may not {may} here{ask}."


def _name(by: str) -> str:
    """The name of who signed; the account behind it is for the audit trail."""
    return by.rpartition(" (")[0] or by


def of_button(action: Action) -> str:
    """What a button is called."""
    return LABELS[action].removesuffix("…")
