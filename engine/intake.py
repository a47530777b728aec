"""From a delivery of alerts to incidents, in the transaction that answers its sender."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.board import Board, Setting
from engine.classify import classify
from engine.draft import Draft
from engine.errors import RecallError
from engine.heartbeats import beat
from engine.identity import family
from engine.intake_ports import IntakeTx
from engine.lifecycle import group_log, makes_a_card
from engine.model.alert import Alert, AlertClass, AlertStatus
from engine.model.base import Frozen
from engine.model.incident import (
    AlertGroup,
    AttachTrigger,
    Incident,
    IncidentState,
    MemberState,
)
from engine.model.org import Client
from engine.model.policy import CorrelationRule, PackRule, RecurrenceRule
from engine.model.standing import (
    CardReason,
    EventKey,
    Newest,
    Recalled,
    Saved,
    Seat,
    Sighting,
    SourceState,
)
from engine.ports import CardWish, JobWish, NewId, Queue

FIRST_CONTACT_S = 120.0
"""An alert that started this long before its source first spoke is no news."""
FIRST_CONTACT_FOR_S = 86_400.0
"""How long a source may still be telling what fired before it was connected."""
SLIDE_S = 10.0
"""A member seen again sooner than this is not written again."""
CROWD = 50
"""Members from which on a card that only counts further is drawn in bundles."""
CROWD_DUE_S = (5.0, 30.0)
"""Least and longest wait of such a drawing; between them a second for every 200 members."""
COUNTING = frozenset({CardReason.ATTACHED, CardReason.RECOVERING, CardReason.JOINED})
"""What changes no more on a crowd's card than its counts."""
FIRST_CONTACT = "first_contact"
"""Kind of the digest card."""


class Filed(Frozen):
    """What became of a delivery; everything that is counted of it."""

    accepted: Mapping[AlertStatus, int] = {}
    duplicate: Mapping[AlertStatus, int] = {}
    opened: tuple[str, ...] = ()
    """Ids of new incidents, those of first contact included."""
    changed: tuple[str, ...] = ()
    """Ids of older incidents that changed in any way."""
    resolved: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    joined: int = 0
    """Alerts that went into an incident with others."""
    attached: Mapping[AttachTrigger, int] = {}
    chronic: int = 0
    regressions: int = 0
    first_contact: int = 0
    """Incidents that only stand in the digest."""
    heartbeats: int = 0
    silent: int = 0
    """Alerts too slight for a card: kept and counted."""
    recall_failed: bool = False
    """What was known of the families could not be read; firings became new incidents."""


@dataclass(frozen=True)
class Rules:
    """What intake decides by."""

    correlation: CorrelationRule = field(default_factory=CorrelationRule)
    recurrence: RecurrenceRule = field(default_factory=RecurrenceRule)
    facts_card_s: float = field(default_factory=lambda: PackRule().facts_card_s)
    expressions: Mapping[str, str] = field(default_factory=dict)
    """Expressions of the source's rules by name, where they are known."""
    node_of: Mapping[str, str] = field(default_factory=dict)
    """Nodes by `namespace/pod`, where they are known."""
    fixed_at: Mapping[str, datetime] = field(default_factory=dict)
    """When a family was last fixed, by family key."""

    def setting(self, client_id: str, now: datetime, new_id: NewId) -> Setting:
        """What one delivery of a client is decided by."""
        return Setting(
            client_id=client_id,
            now=now,
            new_id=new_id,
            correlation=self.correlation,
            recurrence=self.recurrence,
            node_of=self.node_of,
            fixed_at=self.fixed_at,
        )


@dataclass
class Sorted:
    """A delivery sorted by what has to be done about each alert."""

    fires: list[Sighting] = field(default_factory=list)
    resolves: list[Sighting] = field(default_factory=list)
    late: list[Sighting] = field(default_factory=list)
    """Firings first heard of after their end."""
    slides: dict[str, Newest] = field(default_factory=dict)
    heartbeats: list[Sighting] = field(default_factory=list)
    silent: int = 0

    @property
    def decided(self) -> list[Sighting]:
        """Alerts the open incidents have to be asked about."""
        return [*self.fires, *self.resolves, *self.late]


async def file(
    tx: IntakeTx,
    client: Client,
    source: SourceState,
    alerts: Sequence[Alert],
    *,
    now: datetime,
    new_id: NewId,
    rules: Rules,
    polled: bool = False,
    sender_group: str | None = None,
    truncated: int = 0,
) -> Filed:
    """Keep a delivery and draw every consequence of it; all of it commits or none.

    Args:
        tx: the open transaction.
        client: whose alerts they are; from the source's token, never from a body.
        source: the sender as it stood before this delivery.
        alerts: what it said, parsed.
        now: the moment of filing, database time.
        new_id: makes identifiers.
        rules: thresholds, and what is known of the rules that fired.
        polled: the source was asked and this is what fires now.
        sender_group: the sender's own grouping key; recorded, no more.
        truncated: alerts the sender says it left out.
    """
    alerts = [clean(alert) for alert in alerts]
    fired = {event_key(a) for a in alerts if a.status is AlertStatus.FIRING}
    alerts = distinct(alerts)
    setting = rules.setting(client.id, now, new_id)
    sightings, groups = await _grouped(tx, setting, alerts, rules, sender_group)
    known = await tx.events.keep(client.id, source.name, sightings, now=now, polled=polled)
    await tx.sources.seen(source.id, now, polled=polled)
    await tx.incidents.lock(client.id)
    fingerprints = {a.fingerprint for a in alerts}
    newest = await tx.events.newest(client.id, source.name, fingerprints)
    seats = await tx.incidents.seats(client.id, fingerprints)
    work = sort_out(sightings, newest, seats, fired)
    await tx.incidents.slide(client.id, _slid(work, seats, newest, now), now)
    board, recall_failed = await _board(tx, setting, work, seats)
    _play(board, work, groups, source, polled=polled)
    events = {fingerprint: event.event_id for fingerprint, event in newest.items()}
    saved = await _keep(tx, board, events, truncated)
    await _tell(tx, board, saved, source, rules)
    for sighting in work.heartbeats:
        await beat(tx, client.id, sighting, now, new_id)
    filed = _filed(board, saved, work, sightings, known)
    return filed.model_copy(update={"recall_failed": recall_failed})


def clean(alert: Alert) -> Alert:
    """The alert without what no database can keep: NUL characters."""
    texts = {**alert.labels, **alert.annotations}
    if not any("\0" in text for pair in texts.items() for text in pair):
        return alert
    update = {
        name: {k.replace("\0", "\ufffd"): v.replace("\0", "\ufffd") for k, v in texts.items()}
        for name, texts in (("labels", alert.labels), ("annotations", alert.annotations))
    }
    return Alert.model_validate(alert.model_dump() | update)


def event_key(alert: Alert) -> EventKey:
    """What makes two alerts one event: the same labels since the same moment."""
    return (alert.fingerprint, alert.starts_at)


def distinct(alerts: Iterable[Alert]) -> list[Alert]:
    """Each event once, the oldest first; of one start a resolve stands above a firing."""
    events: dict[EventKey, Alert] = {}
    for alert in alerts:
        key = event_key(alert)
        if key not in events or events[key].status is AlertStatus.FIRING:
            events[key] = alert
    return sorted(events.values(), key=lambda a: (a.starts_at, -a.severity.rank, a.fingerprint))


def sort_out(
    sightings: Sequence[Sighting],
    newest: Mapping[str, Newest],
    seats: Sequence[Seat],
    fired: Collection[EventKey],
) -> Sorted:
    """Say what has to be done about each alert: its state follows its newest event only.

    Args:
        sightings: the delivery, each event once.
        newest: the newest event of each fingerprint, this delivery included.
        seats: what open and recent incidents hold of the fingerprints.
        fired: events the delivery told as firing, whatever else it told of them.
    """
    work = Sorted()
    by_fingerprint: dict[str, list[Seat]] = {}
    for seat in seats:
        by_fingerprint.setdefault(seat.fingerprint, []).append(seat)
    for sighting in sightings:
        held = by_fingerprint.get(sighting.alert.fingerprint, [])
        told = event_key(sighting.alert) in fired
        _sort_one(work, sighting, newest[sighting.alert.fingerprint], held, fired=told)
    return work


def _sort_one(
    work: Sorted, sighting: Sighting, newest: Newest, held: list[Seat], *, fired: bool
) -> None:
    alert = sighting.alert
    is_newest = alert.starts_at == newest.starts_at
    if sighting.alert_class is AlertClass.HEARTBEAT:
        if is_newest:
            work.heartbeats.append(sighting)
        return
    if not makes_a_card(alert.severity):
        work.silent += 1
        return
    fires = alert.status is AlertStatus.FIRING
    if fired and not held and newest.status is AlertStatus.RESOLVED:
        work.late.append(sighting)
    elif not is_newest or (fires and newest.status is AlertStatus.RESOLVED):
        return
    elif not fires:
        work.resolves.append(sighting)
    elif any(s.state is MemberState.FIRING for s in held):
        work.slides[alert.fingerprint] = newest
    else:
        work.fires.append(sighting)


def _slid(
    work: Sorted, seats: Sequence[Seat], newest: Mapping[str, Newest], now: datetime
) -> dict[str, Newest]:
    """Those of the slides that are worth a write."""
    moved = {
        s.fingerprint
        for s in seats
        if s.fingerprint in work.slides
        and (
            now - s.last_seen_at >= timedelta(seconds=SLIDE_S)
            or s.starts_at < newest[s.fingerprint].starts_at
        )
    }
    return {f: n for f, n in work.slides.items() if f in moved}


async def _grouped(
    tx: IntakeTx,
    setting: Setting,
    alerts: Sequence[Alert],
    rules: Rules,
    sender_group: str | None,
) -> tuple[list[Sighting], dict[str, AlertGroup]]:
    """Put every alert into its group; groups nobody met yet are made."""
    keys: list[str] = []
    wanted: dict[str, AlertGroup] = {}
    for alert in alerts:
        found = family(setting.client_id, alert, rules.correlation)
        keys.append(found.key)
        if found.key not in wanted:
            wanted[found.key] = AlertGroup(
                id=setting.new_id(),
                client_id=setting.client_id,
                family_key=found.key,
                rule=found.rule,
                scope=found.scope,
                alert_class=classify(alert, rules.expressions.get(alert.rule)),
            )
    groups = await tx.events.groups(setting.client_id, wanted, sender_group)
    sightings = [
        Sighting(alert=a, group_id=groups[k].id, alert_class=groups[k].alert_class)
        for a, k in zip(alerts, keys, strict=True)
    ]
    return sightings, {g.id: g for g in groups.values()}


async def _board(
    tx: IntakeTx, setting: Setting, work: Sorted, seats: Sequence[Seat]
) -> tuple[Board, bool]:
    """Lay out every incident the delivery may touch."""
    board = Board(setting)
    decided = work.decided
    if not decided:
        return board, False
    recalled, failed = await _recalled(tx, setting, {s.group_id for s in decided})
    fingerprints = {s.alert.fingerprint for s in decided}
    ids = {s.incident_id for s in seats if s.fingerprint in fingerprints}
    ids |= {i for some in recalled.incidents.values() for i in some}
    if work.fires and not failed:
        ids |= set(await _joinable(tx, setting, work))
    for standing in await tx.incidents.load(ids, fingerprints=fingerprints):
        board.seat(standing)
    board.families = {group: list(some) for group, some in recalled.incidents.items()}
    board.logs = {group: group_log(flips) for group, flips in recalled.flips.items()}
    board.earlier = recalled.earlier
    return board, failed


async def _recalled(
    tx: IntakeTx, setting: Setting, group_ids: Iterable[str]
) -> tuple[Recalled, bool]:
    rule = setting.recurrence
    try:
        recalled = await tx.incidents.recall(
            setting.client_id, group_ids, setting.now, rule.idle_s, rule.chronic_window_s
        )
    except RecallError:
        # Not knowing must never mean silence: what fires becomes a new incident.
        return Recalled(), True
    return recalled, False


async def _joinable(tx: IntakeTx, setting: Setting, work: Sorted) -> Sequence[str]:
    cause = any(s.alert_class is AlertClass.CAUSE for s in work.fires)
    late_s = setting.correlation.cause_join_s if cause else 0.0
    return await tx.incidents.joinable(setting.client_id, setting.now, late_s)


def _play(
    board: Board,
    work: Sorted,
    groups: Mapping[str, AlertGroup],
    source: SourceState,
    *,
    polled: bool,
) -> None:
    for sighting in work.resolves:
        board.resolve(sighting, groups[sighting.group_id])
    # A cause comes last: it ties together what stands alone by then, late symptoms included.
    for sighting in sorted(work.fires, key=lambda s: s.alert_class is AlertClass.CAUSE):
        old = is_first_contact(sighting.alert, source, board.setting.now, polled=polled)
        board.fire(sighting, groups[sighting.group_id], first_contact=old)
    for sighting in work.late:
        board.late(sighting, groups[sighting.group_id])
    board.settle()


def is_first_contact(alert: Alert, source: SourceState, now: datetime, *, polled: bool) -> bool:
    """Whether an alert fired already when its source was first seen."""
    if source.first_seen_at is None:
        if polled:
            return True
        return now - alert.starts_at > timedelta(seconds=FIRST_CONTACT_S)
    if now - source.first_seen_at > timedelta(seconds=FIRST_CONTACT_FOR_S):
        return False
    return source.first_seen_at - alert.starts_at > timedelta(seconds=FIRST_CONTACT_S)


async def _keep(
    tx: IntakeTx, board: Board, events: Mapping[str, int], truncated: int
) -> list[tuple[Draft, Saved]]:
    drafts = [d for d in board.drafts.values() if d.changed or d.reason is not None]
    if truncated:
        for draft in drafts:
            draft.set(truncated=draft.incident.truncated + truncated)
    saved = await tx.incidents.save(board.setting.client_id, [d.saved() for d in drafts], events)
    await tx.incidents.keep_flips(board.setting.client_id, board.transitions())
    return list(zip(drafts, saved, strict=True))


async def _tell(
    tx: IntakeTx,
    board: Board,
    kept: Sequence[tuple[Draft, Saved]],
    source: SourceState,
    rules: Rules,
) -> None:
    """Wish for the cards and ask for the jobs."""
    client_id = board.setting.client_id
    if any(s.incident.first_contact for _, s in kept):
        await tx.cards.wish_digest(client_id, FIRST_CONTACT, source.id)
    jobs: list[JobWish] = []
    wishes: list[CardWish] = []
    for draft, one in kept:
        if one.incident.first_contact or draft.reason is None:
            continue
        fresh = draft.born or draft.reason is CardReason.OPENED
        jobs += _jobs(draft, one.incident, fresh=fresh)
        # A new card waits for its first facts, but no longer than this.
        due_s = rules.facts_card_s if fresh else _patience_s(draft, draft.reason)
        wishes.append(CardWish(one.incident, draft.reason.value, due_s))
        if draft.reason is CardReason.SEVERITY and not draft.born:
            worse = one.incident.severity.value
            await tx.cards.wish_message(one.incident, "severity", worse, audible=True)
    await tx.jobs.enqueue_all(client_id, jobs)
    await tx.cards.wish_all(client_id, wishes)


def _patience_s(draft: Draft, reason: CardReason) -> float:
    """Seconds a changed card may wait for further changes."""
    if reason not in COUNTING or draft.firing <= CROWD:
        return 0.0
    least, longest = CROWD_DUE_S
    return min(longest, max(least, draft.firing / 200))


def _jobs(draft: Draft, incident: Incident, *, fresh: bool) -> Iterator[JobWish]:
    ids, rank = {"incident_id": incident.id}, incident.severity.rank
    if fresh:
        yield JobWish(Queue.FACTS, ids, incident.id, rank)
    if draft.judge_in_s is not None and incident.state is IncidentState.OPEN:
        yield JobWish(Queue.TRIAGE, ids, incident.id, rank, draft.judge_in_s)


def _filed(
    board: Board,
    kept: Sequence[tuple[Draft, Saved]],
    work: Sorted,
    sightings: Sequence[Sighting],
    known: set[EventKey],
) -> Filed:
    accepted: Counter[AlertStatus] = Counter()
    duplicate: Counter[AlertStatus] = Counter()
    for s in sightings:
        is_known = event_key(s.alert) in known
        (duplicate if is_known else accepted)[s.alert.status] += 1
    born = [s.incident for d, s in kept if d.born]
    return Filed(
        accepted=accepted,
        duplicate=duplicate,
        opened=tuple(i.id for i in born),
        changed=tuple(s.incident.id for d, s in kept if not d.born),
        resolved=tuple(s.incident.id for d, s in kept if d.reason is CardReason.RESOLVED),
        merged=tuple(s.incident.id for d, s in kept if d.reason is CardReason.MERGED),
        joined=board.joined,
        attached=board.attached,
        chronic=board.chronic,
        regressions=board.regressions,
        first_contact=sum(i.first_contact for i in born),
        heartbeats=len(work.heartbeats),
        silent=work.silent,
    )
