"""What an act is: what it needs to know, who may do it, and what it does."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from engine.desk.ports import DeskTx
from engine.model.action import Action
from engine.model.desk import Actor, Answer, AnswerKind, Asks, Press, Values
from engine.model.incident import Incident
from engine.model.org import Role
from engine.ports import NewId


@dataclass(frozen=True)
class Scene:
    """A press inside its transaction, its incident held."""

    tx: DeskTx
    press: Press
    actor: Actor
    incident: Incident
    now: datetime
    new_id: NewId

    def done(self, **said: datetime | int | None) -> Answer:
        """Say that it was done."""
        return Answer.model_validate({"kind": AnswerKind.DONE, "action": self.press.action, **said})

    def no(self, kind: AnswerKind, *, by: str = "", at: datetime | None = None) -> Answer:
        """Say why it was not done."""
        return Answer(
            kind=kind, action=self.press.action, by=by, at=at, number=self.incident.number
        )

    async def tell(self, reason: str, **facts: str | int | None) -> None:
        """Have the card drawn again, and keep who did what."""
        await self.tx.cards.wish(self.incident, reason)
        await self.tx.audit.append(
            self.incident.client_id,
            self.actor.signed,
            self.press.action.value,
            {"incident": self.incident.id, **facts},
        )


Do = Callable[[Scene, Values], Awaitable[Answer]]
Ask = Callable[[Scene], Awaitable[Asks | Answer]]


@dataclass(frozen=True)
class Act:
    """One entry of the desk's table."""

    action: Action
    do: Do
    asks: Ask | None = None
    """What has to be known first; None: a press is enough."""
    role: Role | None = None
    """Whoever presses must hold it; None: every full member of the room may."""
    reads: bool = False
    """Changes nothing: guests may as well."""
