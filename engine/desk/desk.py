"""The desk: a press goes in, an answer comes out, and every card of it is drawn again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.desk.act import Act, Scene
from engine.desk.authority import refusal
from engine.desk.ports import DeskStore
from engine.desk.table import ACTS
from engine.model.desk import Actor, Answer, AnswerKind, Asks, Press, Values
from engine.ports import NewId


class Desk:
    """Decides presses one at a time an incident, whichever chat they come from."""

    def __init__(self, store: DeskStore, new_id: NewId) -> None:
        """Decide over what `store` holds."""
        self._store = store
        self._new_id = new_id

    async def press(self, press: Press, actor: Actor) -> Answer | Asks:
        """Do what a button says, or say what has to be known first."""
        async with self._held(press, actor) as (act, scene):
            if isinstance(scene, Answer):
                return scene
            return await act.do(scene, {}) if act.asks is None else await act.asks(scene)

    async def hand_in(self, press: Press, actor: Actor, values: Values) -> Answer:
        """Do what a button says, with what was asked for; authority is looked at again."""
        async with self._held(press, actor) as (act, scene):
            return scene if isinstance(scene, Answer) else await act.do(scene, values)

    @asynccontextmanager
    async def _held(self, press: Press, actor: Actor) -> AsyncIterator[tuple[Act, Scene | Answer]]:
        act = ACTS[press.action]
        async with self._store.begin() as tx:
            why_not = refusal(actor, press.client_id, act.role, reads=act.reads)
            if why_not is not None:
                ask = await tx.people.holders(act.role, press.client_id) if act.role else ()
                yield act, Answer(kind=why_not, action=press.action, role=act.role, ask=tuple(ask))
                return
            await tx.incidents.alone(press.incident_id)
            incident = await tx.incidents.get(press.incident_id)
            if incident is None or incident.client_id != press.client_id:
                yield act, Answer(kind=AnswerKind.NOT_THERE, action=press.action)
                return
            yield act, Scene(tx, press, actor, incident, await tx.now(), self._new_id)
