"""An incident closed for lack of news is opened again."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Values
from engine.model.incident import IncidentState
from engine.model.standing import Saved


async def keep_open(scene: Scene, _: Values) -> Answer:
    """Open it again; the sweep counts its quiet time from now."""
    if scene.incident.state is not IncidentState.CLOSED:
        return scene.no(AnswerKind.STILL_OPEN)
    again = {"state": IncidentState.OPEN, "activity_at": scene.now, "resolved_at": None}
    incident = scene.incident.model_copy(update=again)
    await scene.tx.incidents.save(
        incident.client_id, [Saved(incident=incident, born=False, changed=())], {}
    )
    await scene.tell("kept open")
    return scene.done()


KEEP_OPEN = Act(action=Action.KEEP_OPEN, do=keep_open)
