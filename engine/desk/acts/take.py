"""Somebody works on it."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Values
from engine.model.incident import IncidentState


async def take(scene: Scene, _: Values) -> Answer:
    """Put the name of whoever presses on the incident; the first press wins."""
    if scene.incident.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.OVER)
    actor = scene.actor
    if await scene.tx.incidents.take(scene.incident.id, actor.name, actor.key):
        await scene.tell("taken")
        return scene.done()
    before = await scene.tx.incidents.taken(scene.incident.id)
    assert before is not None, "nobody gives an incident back"
    return scene.no(AnswerKind.ALREADY, by=before.by, at=before.at)


TAKE = Act(action=Action.TAKE, do=take)
