"""What belongs together and what does not, as people know it better."""

from collections.abc import Sequence
from datetime import timedelta

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Asks, Choice, Field, FieldName, Values
from engine.model.incident import Incident, IncidentState, JoinReason, Member
from engine.model.run import RunTrigger
from engine.model.standing import Absorbed, Saved
from engine.ports import Queue

MOST_CHOICES = 20
REJUDGE_S = 10.0
"""Time for a second press before it is looked at again."""


async def which_incident(scene: Scene) -> Asks | Answer:
    """Offer the other open incidents, the newest first."""
    if scene.incident.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.OVER)
    others = await _others(scene)
    if not others:
        return scene.no(AnswerKind.NOTHING_ELSE)
    choices = tuple(Choice(value=str(other.number), label=_named(other)) for other in others)
    return Asks(
        action=Action.SAME_AS,
        fields=(Field(name=FieldName.INCIDENT, choices=choices, required=True),),
    )


async def _others(scene: Scene) -> Sequence[Incident]:
    found = await scene.tx.incidents.open_for_client(scene.incident.client_id)
    return [other for other in reversed(found) if other.id != scene.incident.id][:MOST_CHOICES]


def _named(incident: Incident) -> str:
    scope = incident.group_of(incident.lead).scope
    where = next((scope[n] for n in ("service", "workload", "host", "namespace") if n in scope), "")
    return " · ".join(filter(None, (f"{incident.number}", incident.lead.alert.rule, where)))


async def same_as(scene: Scene, values: Values) -> Answer:
    """Let the other incident take over everything this one holds."""
    incident, tx = scene.incident, scene.tx
    if incident.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.OVER)
    other = await tx.incidents.named(incident.client_id, values.get(FieldName.INCIDENT, ""))
    if other is None or other.id == incident.id or other.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.NOT_THERE)
    taken = Absorbed(incident.id, JoinReason.BY_HAND, {})
    wider = other.model_copy(
        update={
            "severity": max(other.severity, incident.severity, key=lambda s: s.rank),
            "activity_at": scene.now,
            "truncated": other.truncated + incident.truncated,
        }
    )
    gone = {"state": IncidentState.MERGED, "merged_into": other.id}
    await tx.incidents.save(
        incident.client_id,
        [
            Saved(incident=wider, born=False, changed=(), absorbed=(taken,)),
            Saved(incident=incident.model_copy(update=gone), born=False, changed=()),
        ],
        {},
    )
    await tx.cards.wish(wider, "merged by hand")
    await _look_again(scene, wider)
    await scene.tell("merged by hand", into=other.id)
    return scene.done(number=other.number)


async def which_group(scene: Scene) -> Asks | Answer:
    """Offer the groups of alerts it holds; one merged away is simply taken apart again."""
    incident = scene.incident
    if incident.state is IncidentState.MERGED:
        return await not_related(scene, {})
    if incident.state is not IncidentState.OPEN:
        return scene.no(AnswerKind.OVER)
    if len(incident.groups) < 2:  # noqa: PLR2004 - one group cannot be taken apart
        return scene.no(AnswerKind.NOTHING_ELSE)
    lead = incident.group_of(incident.lead)
    rest = [group for group in incident.groups if group.id != lead.id]
    choices = tuple(
        Choice(value=g.id, label=" · ".join((g.rule, *sorted(g.scope.values()))))
        for g in rest[:MOST_CHOICES]
    )
    return Asks(
        action=Action.NOT_RELATED,
        fields=(Field(name=FieldName.GROUP, choices=choices, required=True),),
    )


async def not_related(scene: Scene, values: Values) -> Answer:
    """Give a group of alerts its own incident, or undo a merge."""
    incident = scene.incident
    if incident.state is IncidentState.MERGED and incident.merged_into is not None:
        return await _part(scene, incident.merged_into)
    group_id = values.get(FieldName.GROUP, "")
    moved = [member for member in incident.members if member.group_id == group_id]
    if incident.state is not IncidentState.OPEN or not moved or len(incident.groups) == 1:
        return scene.no(AnswerKind.NOT_THERE)
    own = _own(scene, moved)
    [born] = await scene.tx.incidents.save(
        incident.client_id, [Saved(incident=own, born=True, changed=())], {}
    )
    await scene.tx.incidents.split(incident.id, born.incident.id, group_id)
    await _narrowed(scene, incident.id)
    split = await scene.tx.incidents.get(born.incident.id)
    assert split is not None, "it was just kept"
    await scene.tx.cards.wish(split, "taken apart by hand")
    await _look_again(scene, split)
    await scene.tell("taken apart by hand", split=split.id)
    return scene.done(number=split.number)


def _own(scene: Scene, moved: Sequence[Member]) -> Incident:
    incident = scene.incident
    group = next(g for g in incident.groups if g.id == moved[0].group_id)
    return incident.model_copy(
        update={
            "id": scene.new_id(),
            "number": 0,
            "severity": max((m.alert.severity for m in moved), key=lambda s: s.rank),
            "alert_class": group.alert_class,
            "opened_at": scene.now,
            "activity_at": scene.now,
            "settle_at": scene.now + timedelta(seconds=REJUDGE_S),
            "window_until": scene.now,
            "occurrences": 1,
            "first_contact": False,
            "judged_at": None,
            "since_judged": 0,
            "truncated": 0,
        }
    )


async def _narrowed(scene: Scene, incident_id: str) -> None:
    """Read an incident's severity off what it still holds."""
    left = await scene.tx.incidents.get(incident_id)
    assert left is not None, "it still holds its lead"
    worst = max((m.alert.severity for m in left.members), key=lambda s: s.rank)
    kept = Saved(incident=left.model_copy(update={"severity": worst}), born=False, changed=())
    await scene.tx.incidents.save(left.client_id, [kept], {})
    await scene.tx.cards.wish(left, "taken apart by hand")


async def _part(scene: Scene, other_id: str) -> Answer:
    incident = scene.incident
    await scene.tx.incidents.part(incident.id, other_id)
    again = {"state": IncidentState.OPEN, "merged_into": None, "activity_at": scene.now}
    mine = incident.model_copy(update=again)
    await scene.tx.incidents.save(
        incident.client_id, [Saved(incident=mine, born=False, changed=())], {}
    )
    await _narrowed(scene, other_id)
    await scene.tell("taken apart by hand", parted_from=other_id)
    return scene.done(number=incident.number)


async def _look_again(scene: Scene, incident: Incident) -> None:
    """Have it judged once more with what it holds now; the gate decides whether a model may."""
    await scene.tx.jobs.enqueue(
        Queue.TRIAGE,
        {"incident_id": incident.id, "trigger": RunTrigger.REJUDGE.value},
        key=incident.id,
        client_id=incident.client_id,
        rank=incident.severity.rank,
        delay_s=REJUDGE_S,
    )


SAME_AS = Act(action=Action.SAME_AS, do=same_as, asks=which_incident)
NOT_RELATED = Act(action=Action.NOT_RELATED, do=not_related, asks=which_group)
