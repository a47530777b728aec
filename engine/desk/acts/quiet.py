"""Nothing of a family rings for a while; its cards go on."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Actor, Answer, Values

MUTE = timedelta(hours=1)
MORNING_HOUR = 8


async def mute(scene: Scene, _: Values) -> Answer:
    """Quiet for an hour."""
    return await _until(scene, scene.now + MUTE)


async def snooze(scene: Scene, _: Values) -> Answer:
    """Quiet until the morning of whoever presses."""
    return await _until(scene, morning(scene.now, zone(scene.actor)))


def morning(now: datetime, where: tzinfo) -> datetime:
    """The next eight o'clock of a place."""
    local = now.astimezone(where)
    at = local.replace(hour=MORNING_HOUR, minute=0, second=0, microsecond=0)
    return (at if at > local else at + timedelta(days=1)).astimezone(UTC)


def zone(actor: Actor) -> tzinfo:
    """Where somebody is, as their chat told; UTC when nobody knows."""
    name = actor.person.timezone if actor.person is not None else None
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


async def _until(scene: Scene, until: datetime) -> Answer:
    key = scene.incident.group_of(scene.incident.lead).family_key
    await scene.tx.mutes.keep(scene.incident.client_id, key, until, scene.actor.name)
    await scene.tell("muted", until=until.isoformat())
    return scene.done(until=until)


MUTE_ACT = Act(action=Action.MUTE, do=mute)
SNOOZE_ACT = Act(action=Action.SNOOZE, do=snooze)
