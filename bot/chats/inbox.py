"""What people do in chats, the same for every one: who it is, what it means, what it comes to."""

import logging
from collections.abc import Mapping

from bot.chats.arrival import Arrival, Asked, Reply, Shown, Told
from cards import thread
from cards.actions import OF_FINDING
from cards.answers import answer
from cards.forms import form
from engine.desk.desk import Desk
from engine.desk.table import ACTS
from engine.inquiries.choosing import chosen
from engine.model.action import Action
from engine.model.desk import (
    Actor,
    Answer,
    AnswerKind,
    Asks,
    FieldName,
    Press,
)
from engine.model.org import Person, Role, Room
from storage.buttons import Meant
from storage.prompts import Prompt
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)


KNOWN = frozenset({*ACTS, Action.CHOOSE_SCOPE})


class Inbox:
    """Takes presses and forms of every chat to the desk."""

    def __init__(self, store: SqlStore, desk: Desk) -> None:
        """Look things up in `store` and let `desk` decide."""
        self._store = store
        self._desk = desk

    async def press(self, arrival: Arrival, token: str) -> Reply | None:
        """Take a press to the desk; None for the repeat of one that was answered."""
        async with self._store.begin() as tx:
            if await tx.arrivals.seen(arrival.identity.platform, arrival.key):
                return None
            meant = await tx.buttons.meant(token)
            actor = await self.actor(tx, arrival)
        if meant is None or not is_in(arrival, meant.room) or meant.action not in KNOWN:
            return await self._told(arrival, Answer(kind=AnswerKind.OLD_CARD))
        if meant.card_kind == "inquiry":
            return await self._chosen(arrival, meant, actor)
        press = press_of(meant)
        said = await self._desk.press(press, actor)
        if isinstance(said, Asks):
            return await self._ask(arrival, meant, said)
        if said.kind is AnswerKind.SHOWN:
            return await self._record(arrival, press)
        return await self._told(arrival, said)

    async def hand_in(
        self,
        arrival: Arrival,
        prompt_id: str,
        values: Mapping[FieldName, str],
        places: Mapping[FieldName, int] | None = None,
    ) -> Reply | None:
        """Take what was asked for to the desk; None for a repeat.

        Args:
            arrival: who hands it in.
            prompt_id: what was asked.
            values: what was written.
            places: what was chosen, by its place in the list that was shown.
        """
        async with self._store.begin() as tx:
            if await tx.arrivals.seen(arrival.identity.platform, arrival.key):
                return None
            prompt = await tx.prompts.waiting(prompt_id)
            actor = await self.actor(tx, arrival)
        if prompt is None or prompt.account != actor.key:
            return await self._told(arrival, Answer(kind=AnswerKind.EXPIRED))
        press = Press(
            client_id=prompt.client_id,
            incident_id=prompt.incident_id,
            action=prompt.action,
            subject_id=prompt.subject_id,
        )
        said = await self._desk.hand_in(press, actor, {**values, **_chosen(prompt, places or {})})
        if said.kind is not AnswerKind.INCOMPLETE:
            async with self._store.begin() as tx:
                await tx.prompts.answered(prompt_id)
        return await self._told(arrival, said)

    async def choose(self, arrival: Arrival, prompt_id: str, place: int) -> Reply | None:
        """Take a choice by its place in the list that was shown."""
        async with self._store.begin() as tx:
            prompt = await tx.prompts.waiting(prompt_id)
        if prompt is None or not 0 <= place < len(prompt.choices):
            return await self._told(arrival, Answer(kind=AnswerKind.EXPIRED))
        name = next(f for f in FieldName if f.value == prompt.asks)
        return await self.hand_in(arrival, prompt_id, {name: prompt.choices[place]})

    @staticmethod
    async def actor(tx: SqlTx, arrival: Arrival) -> Actor:
        """Whose account it is, read afresh."""
        person = await tx.people.by_identity(arrival.identity)
        if person is not None and arrival.roles:
            # What a group of the chat stands for holds in the clients of the room alone.
            person = person.model_copy(update={"roles": await _with_roles(tx, person, arrival)})
        if person is not None and arrival.timezone and arrival.timezone != person.timezone:
            await tx.people.place(person, arrival.timezone)
            person = person.model_copy(update={"timezone": arrival.timezone})
        return Actor(
            identity=arrival.identity,
            name=person.name if person is not None else arrival.name,
            membership=arrival.membership,
            person=person,
        )

    async def _ask(self, arrival: Arrival, meant: Meant, asks: Asks) -> Reply:
        chosen = next((field for field in asks.fields if field.choices), None)
        missing = next(
            (field for field in asks.fields if field.required and not field.initial), None
        )
        asked = chosen or missing or asks.fields[0]
        async with self._store.begin() as tx:
            prompt_id = await tx.prompts.add(
                client_id=meant.client_id,
                card_id=meant.card_id,
                incident_id=press_of(meant).incident_id,
                account=f"{arrival.identity.platform}:{arrival.identity.account}",
                action=meant.action,
                subject_id=press_of(meant).subject_id,
                asks=asked.name.value,
                choices=[choice.value for choice in asked.choices],
                draft={field.name: field.initial for field in asks.fields if field.initial},
            )
            await tx.arrivals.keep(arrival.identity.platform, arrival.key)
        return Asked(prompt_id=prompt_id, form=form(asks))

    async def _chosen(self, arrival: Arrival, meant: Meant, actor: Actor) -> Reply:
        """Say what a question is about; any full member may, the first one does."""
        async with self._store.begin() as tx:
            kind = await chosen(tx, meant.card_subject, int(meant.subject_id or 0), actor)
        return await self._told(arrival, Answer(kind=kind, action=meant.action))

    async def _record(self, arrival: Arrival, press: Press) -> Reply:
        async with self._store.begin() as tx:
            case = await tx.case(press.incident_id)
            now = await tx.now()
            await tx.arrivals.keep(arrival.identity.platform, arrival.key)
        assert case is not None, "the desk found it"
        return Shown(card=thread.evidence(case, now))

    async def _told(self, arrival: Arrival, said: Answer) -> Told:
        async with self._store.begin() as tx:
            await tx.arrivals.keep(arrival.identity.platform, arrival.key)
            refused = said.kind is not AnswerKind.DONE
            return Told(line=answer(said, await tx.now()), refused=refused)


async def _with_roles(
    tx: SqlTx, person: Person, arrival: Arrival
) -> Mapping[str, tuple[Role, ...]]:
    bound = await tx.rooms.bound(arrival.identity.platform, arrival.chat, arrival.topic)
    roles = dict(person.roles)
    for client in bound.clients if bound is not None else ():
        roles[client.id] = (*roles.get(client.id, ()), *arrival.roles)
    return roles


def is_in(arrival: Arrival, room: Room) -> bool:
    """Whether something was done in the room its button stands in."""
    here = arrival.identity.platform is room.platform and arrival.chat == room.chat
    return here and (room.topic is None or arrival.topic in {None, room.topic})


def _chosen(prompt: Prompt, places: Mapping[FieldName, int]) -> Mapping[FieldName, str]:
    """What stands at those places of the list the prompt showed."""
    offered = dict(enumerate(prompt.choices))
    return {
        name: offered[place]
        for name, place in places.items()
        if name == prompt.asks and place in offered
    }


def press_of(meant: Meant) -> Press:
    """The press of a button.

    What is said of a finding names the finding; every other subject is an incident, which a
    digest's buttons name and a card's own do not have to.
    """
    of_finding = meant.action in OF_FINDING
    own = meant.subject_id if meant.subject_id and not of_finding else meant.card_subject
    return Press(
        client_id=meant.client_id,
        incident_id=own,
        action=meant.action,
        subject_id=meant.subject_id if of_finding else "",
    )
