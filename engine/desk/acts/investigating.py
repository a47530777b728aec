"""Starting an investigation by hand, and stopping one."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Values
from engine.model.incident import IncidentState
from engine.model.run import Run, RunState, RunTrigger
from engine.ports import Queue

RUNNING = frozenset({RunState.INVESTIGATING, RunState.CHECKING, RunState.LOOKING})


async def investigate(scene: Scene, _: Values) -> Answer:
    """Have it looked at now; a press stands for the person's own choice of what is worth it."""
    incident = scene.incident
    if incident.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.OVER)
    if not (await scene.tx.org.client(incident.client_id)).flags.ai_triage:
        return scene.no(AnswerKind.OFF)
    run = await scene.tx.runs.newest(incident.id)
    if _runs(run):
        return scene.no(AnswerKind.ALREADY, at=run.started_at if run else None)
    await scene.tx.jobs.enqueue(
        Queue.TRIAGE,
        {"incident_id": incident.id, "trigger": RunTrigger.MANUAL.value},
        key=incident.id,
        client_id=incident.client_id,
        rank=incident.severity.rank,
    )
    await scene.tell("investigation asked for")
    return scene.done()


async def stop(scene: Scene, _: Values) -> Answer:
    """Stop looking: what is known by then becomes the finding."""
    run = await scene.tx.runs.newest(scene.incident.id)
    if run is None or not _runs(run):
        return scene.no(AnswerKind.NOTHING_RUNS)
    if not await scene.tx.runs.stop(run.triage_id, scene.actor.name):
        by = await scene.tx.runs.stopped(run.triage_id)
        return scene.no(AnswerKind.ALREADY, by=by or "")
    await scene.tell("stopped", triage_id=run.triage_id)
    return scene.done()


def _runs(run: Run | None) -> bool:
    return run is not None and run.state in RUNNING


INVESTIGATE = Act(action=Action.INVESTIGATE, do=investigate)
RETRIAGE = Act(action=Action.RETRIAGE, do=investigate)
STOP = Act(action=Action.STOP, do=stop)
