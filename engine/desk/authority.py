"""Who may do what, decided at the moment of the press from what is true then."""

from engine.model.desk import Actor, AnswerKind, Membership
from engine.model.org import Role


def refusal(actor: Actor, client_id: str, role: Role | None, *, reads: bool) -> AnswerKind | None:
    """Say why an account may not do something; None lets it.

    Every full member of a bound room may do what needs no role; a role is a person's, whose
    account must be linked. Guests and bots read.
    """
    if actor.person is not None and not actor.person.active:
        return AnswerKind.DEACTIVATED
    if reads and actor.membership is not Membership.OUTSIDE:
        return None
    if actor.membership is not Membership.FULL:
        return AnswerKind.GUEST
    if role is not None and not actor.holds(role, client_id):
        return AnswerKind.LACKS_ROLE
    return None
