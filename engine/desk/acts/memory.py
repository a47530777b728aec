"""What was learned is kept for the next time, once a person has read it."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.base import digest
from engine.model.desk import Answer, AnswerKind, Asks, Field, FieldName, Values
from engine.model.finding import Finding
from engine.model.incident import IncidentState
from engine.model.memory import Stub, StubState
from engine.model.org import Role

MOST_WORDS = 2_000
_ASKED = (FieldName.SYMPTOM, FieldName.ROOT_CAUSE, FieldName.FIX)


async def edit_first(scene: Scene) -> Asks | Answer:
    """Show the draft: what it looked like, what it was, and an empty line for the fix."""
    if scene.incident.state is IncidentState.OPEN:
        return scene.no(AnswerKind.STILL_OPEN)
    finding = await scene.tx.findings.newest(scene.incident.id)
    if finding is None or finding.root_cause_key is None:
        return scene.no(AnswerKind.NO_FINDING)
    kept = await scene.tx.stubs.get(_stub_id(finding))
    if kept is not None and kept.state is StubState.APPROVED:
        return scene.no(AnswerKind.ALREADY, by=kept.confirmed_by or "", at=kept.confirmed_at)
    return Asks(action=Action.SAVE_TO_MEMORY, fields=_draft(scene, finding))


def _draft(scene: Scene, finding: Finding) -> tuple[Field, ...]:
    return (
        Field(name=FieldName.SYMPTOM, initial=symptom(scene), required=True),
        Field(name=FieldName.ROOT_CAUSE, initial=finding.root_cause or "", required=True),
        Field(name=FieldName.FIX, required=True),
        Field(name=FieldName.RUNBOOK),
    )


def symptom(scene: Scene) -> str:
    """What the incident looked like, in the words of its alert."""
    alert = scene.incident.lead.alert
    group = scene.incident.group_of(scene.incident.lead)
    where = ", ".join(f"{name} {value}" for name, value in sorted(group.scope.items()))
    summary = alert.annotations.get("summary", "")
    return " · ".join(part for part in (group.rule, where, summary) if part)[:MOST_WORDS]


async def save(scene: Scene, values: Values) -> Answer:
    """Keep it as approved by whoever read it."""
    finding = await scene.tx.findings.newest(scene.incident.id)
    if finding is None or finding.root_cause_key is None:
        return scene.no(AnswerKind.NO_FINDING)
    said = {name: " ".join(values.get(name, "").split())[:MOST_WORDS] for name in FieldName}
    if not all(said[name] for name in _ASKED):
        return scene.no(AnswerKind.INCOMPLETE)
    kept = await scene.tx.stubs.get(_stub_id(finding))
    if kept is not None and kept.state is StubState.APPROVED:
        return scene.no(AnswerKind.ALREADY, by=kept.confirmed_by or "", at=kept.confirmed_at)
    stub = Stub(
        id=_stub_id(finding),
        client_id=scene.incident.client_id,
        family_key=scene.incident.group_of(scene.incident.lead).family_key,
        symptom=said[FieldName.SYMPTOM],
        root_cause=said[FieldName.ROOT_CAUSE],
        root_cause_key=finding.root_cause_key,
        fix=said[FieldName.FIX],
        runbook=said[FieldName.RUNBOOK] or None,
        state=StubState.APPROVED,
        confirmed_by=scene.actor.name,
        confirmed_at=scene.now,
        fixed_at=scene.incident.resolved_at or scene.now,
        triage_id=finding.triage_id,
    )
    await scene.tx.stubs.keep(stub)
    await scene.tell("saved to memory", stub=stub.id)
    return scene.done()


def _stub_id(finding: Finding) -> str:
    """One stub a finding, however often somebody presses."""
    return digest(f"stub {finding.triage_id}", 32)


SAVE_TO_MEMORY = Act(
    action=Action.SAVE_TO_MEMORY, do=save, asks=edit_first, role=Role.RESOLUTIONS_APPROVE
)
