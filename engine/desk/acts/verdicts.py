"""What people say of a cause and of its fix."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Asks, Choice, Field, FieldName, Values
from engine.model.finding import Finding, Ruling
from engine.model.review import Verdict
from engine.outcomes import give_verdict

MOST_CAUSES = 8
MOST_WORDS = 500
_OTHER = "other"


async def right(scene: Scene, _: Values) -> Answer:
    """The cause is the one."""
    return await _say(scene, Verdict.RIGHT)


async def wrong(scene: Scene, values: Values) -> Answer:
    """The cause is another one: one that was named before, or what the person wrote."""
    chosen = values.get(FieldName.CAUSE, "")
    written = values.get(FieldName.OTHER_CAUSE, "")
    cause = (written if chosen in {"", _OTHER} else chosen) or written
    cause = " ".join(cause.split())[:MOST_WORDS]
    return await _say(scene, Verdict.WRONG, cause or None)


async def which_cause(scene: Scene) -> Asks | Answer:
    """Offer the causes that were thought of, and a line to write another."""
    finding = await _shown(scene)
    if isinstance(finding, Answer):
        return finding
    said = await scene.tx.case(scene.incident.id)
    suspects = said.pack.suspects if said is not None and said.pack is not None else ()
    key = finding.root_cause_key
    blamed = key.component if key is not None else None
    offered = [f"{s.component}: {s.text}" for s in suspects if s.component != blamed]
    offered += [r.claim.text for r in finding.claims if r.ruling is Ruling.CONTRADICTED]
    unique = list(dict.fromkeys(cause[:MOST_WORDS] for cause in offered))[:MOST_CAUSES]
    choices = tuple(Choice(value=cause, label=cause) for cause in unique)
    return Asks(
        action=Action.WRONG_CAUSE,
        fields=(
            *((Field(name=FieldName.CAUSE, choices=choices),) if choices else ()),
            Field(name=FieldName.OTHER_CAUSE),
        ),
    )


async def worked(scene: Scene, _: Values) -> Answer:
    """The fix worked."""
    return await _say(scene, Verdict.FIX_WORKED)


async def did_not_work(scene: Scene, _: Values) -> Answer:
    """The fix did not work; that says nothing of the cause."""
    return await _say(scene, Verdict.FIX_FAILED)


async def _say(scene: Scene, verdict: Verdict, cause: str | None = None) -> Answer:
    finding = await _shown(scene)
    if isinstance(finding, Answer):
        return finding
    before = await scene.tx.outcomes.newest(finding.triage_id, verdict)
    if before is not None and cause is None:
        return scene.no(AnswerKind.ALREADY, by=before.by, at=before.at)
    by = scene.actor.signed
    await give_verdict(scene.tx, scene.incident, verdict, by=by, cause=cause)
    return scene.done()


async def _shown(scene: Scene) -> Finding | Answer:
    """The finding the button stood under, if it still is the newest."""
    finding = await scene.tx.findings.newest(scene.incident.id)
    if finding is None:
        return scene.no(AnswerKind.NO_FINDING)
    if scene.press.subject_id not in {"", finding.triage_id}:
        return scene.no(AnswerKind.CHANGED)
    return finding


RIGHT_CAUSE = Act(action=Action.RIGHT_CAUSE, do=right)
WRONG_CAUSE = Act(action=Action.WRONG_CAUSE, do=wrong, asks=which_cause)
FIX_WORKED = Act(action=Action.FIX_WORKED, do=worked)
DID_NOT_WORK = Act(action=Action.DID_NOT_WORK, do=did_not_work)
