"""A delivery played out against the open incidents, in memory; nothing is stored here."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.correlate import Crowd, Join, Place, Spot, place_of
from engine.draft import Draft, opened
from engine.lifecycle import (
    Again,
    GroupLog,
    Judged,
    Recurrence,
    chronic,
    flapping,
    recovered,
    recur,
    regressed,
    rejudge_delay_s,
)
from engine.model.alert import Alert, AlertClass, AlertStatus
from engine.model.incident import (
    AlertGroup,
    AttachTrigger,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.policy import CorrelationRule, RecurrenceRule
from engine.model.standing import CardReason, Flip, Sighting, Standing
from engine.ports import NewId

ALONE = frozenset({AlertClass.PREDICTIVE, AlertClass.HEARTBEAT})
"""Classes that share no incident with others: nothing is broken, or nobody can tell."""


@dataclass(frozen=True)
class Setting:
    """What a delivery is judged by."""

    client_id: str
    now: datetime
    new_id: NewId
    correlation: CorrelationRule
    recurrence: RecurrenceRule
    node_of: Mapping[str, str] = field(default_factory=dict)
    """Nodes by `namespace/pod`, where they are known."""
    fixed_at: Mapping[str, datetime] = field(default_factory=dict)
    """When a family was last fixed, by family key."""


@dataclass
class Board:
    """The incidents a delivery may touch, and what it did to them."""

    setting: Setting
    drafts: dict[str, Draft] = field(default_factory=dict)
    families: dict[str, list[str]] = field(default_factory=dict)
    """Incidents by group, the best candidate first."""
    logs: dict[str, GroupLog] = field(default_factory=dict)
    earlier: Mapping[str, int] = field(default_factory=dict)
    crowd: Crowd = field(default_factory=Crowd)
    flips: list[Flip] = field(default_factory=list)
    joined: int = 0
    attached: Counter[AttachTrigger] = field(default_factory=Counter)
    regressions: int = 0
    chronic: int = 0
    _into: dict[str, str] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=dict)
    """Incidents by fingerprint."""
    _places: dict[str, Place] = field(default_factory=dict)
    """Places by fingerprint."""
    _storm: str | None = None
    """The incident of the storm, once one was seen."""

    def seat(self, standing: Standing) -> None:
        """Take up a stored incident."""
        draft = Draft.of(standing)
        incident = standing.incident
        self.drafts[incident.id] = draft
        for member in incident.members:
            self._holders.setdefault(member.alert.fingerprint, []).append(incident.id)
            if member.state is MemberState.FIRING:
                self._spot(draft, member, draft.groups[member.group_id])

    def fire(self, sighting: Sighting, group: AlertGroup, *, first_contact: bool = False) -> None:
        """Find a firing alert that is not known to fire the incident it belongs to."""
        home = self._home(group.id)
        if home is not None:
            kind, trigger = recur(self._again(home, sighting, group), self.setting.recurrence)
            if kind is not Recurrence.NEW:
                self._attach(home, sighting, group, trigger)
                return
        if first_contact:
            self._open(sighting, group, first_contact=True)
            return
        place = self._place(sighting.alert, group)
        join = self._join(sighting, group, place)
        if join is None:
            self._open(sighting, group)
        else:
            self._enter(join, sighting, group)

    def resolve(self, sighting: Sighting, group: AlertGroup) -> None:
        """Tell every incident that holds the fingerprint that it resolved."""
        holders = self._holders.get(sighting.alert.fingerprint, ())
        for incident_id in dict.fromkeys(self.follow(i) for i in holders):
            draft = self.drafts[incident_id]
            member = draft.members[sighting.alert.fingerprint]
            if member.state is MemberState.RESOLVED:
                continue
            if member.alert.starts_at <= sighting.alert.starts_at:
                self._resolve_in(draft, member, sighting, group)

    def late(self, sighting: Sighting, group: AlertGroup) -> None:
        """Show a firing that was first heard of after its end: opened and resolved at once."""
        for status, play in ((AlertStatus.FIRING, self.fire), (AlertStatus.RESOLVED, self.resolve)):
            alert = sighting.alert.model_copy(update={"status": status})
            play(sighting.model_copy(update={"alert": alert}), group)

    def settle(self) -> None:
        """Resolve what nothing fires in any more."""
        for draft in self.drafts.values():
            if not draft.changed:
                continue
            self._tell_flapping(draft)
            now, rule = self.setting.now, self.setting.recurrence
            after = recovered(draft.incident, draft.firing, now, rule)
            if after.state is not draft.incident.state:
                draft.show(CardReason.RESOLVED)
            draft.incident = after

    def follow(self, incident_id: str) -> str:
        """The incident that holds what this one held."""
        while incident_id in self._into:
            incident_id = self._into[incident_id]
        return incident_id

    def transitions(self) -> list[Flip]:
        """What members did, each in the incident that holds it now."""
        moved = self._into
        return [
            f.model_copy(update={"incident_id": self.follow(f.incident_id or "")})
            if f.incident_id in moved
            else f
            for f in self.flips
        ]

    def log(self, group_id: str) -> GroupLog:
        """The transitions of a group, those of this delivery included."""
        return self.logs.setdefault(group_id, GroupLog())

    def _home(self, group_id: str) -> Draft | None:
        for incident_id in self.families.get(group_id, ()):
            draft = self.drafts.get(self.follow(incident_id))
            if draft is None:
                continue
            # What stood at first contact is no news; once it ended, a new firing is.
            if draft.incident.first_contact and not draft.firing:
                continue
            return draft
        return None

    def _again(self, home: Draft, sighting: Sighting, group: AlertGroup) -> Again:
        now, incident = self.setting.now, home.incident
        judged = None
        if incident.judged_at is not None:
            judged = Judged(
                rules=frozenset(incident.judged_rules),
                scopes=frozenset(incident.judged_scopes),
                age_s=(now - incident.judged_at).total_seconds(),
                since=incident.since_judged,
            )
        return Again(
            any_firing=home.firing > 0,
            idle_s=(now - incident.activity_at).total_seconds(),
            severity=sighting.alert.severity,
            highest=incident.severity,
            rule=group.rule,
            scopes=self._place(sighting.alert, group).things,
            judged=judged,
            gaps_s=self.log(group.id).gaps_s(now),
        )

    def _attach(
        self, home: Draft, sighting: Sighting, group: AlertGroup, trigger: AttachTrigger
    ) -> None:
        now = self.setting.now
        known = sighting.alert.fingerprint in home.members
        listed = not known and now <= home.incident.window_until
        if listed and trigger is not AttachTrigger.SEVERITY:
            trigger = AttachTrigger.NONE
        if listed:
            self.joined += 1
        else:
            self.attached[trigger] += 1
            since = home.incident.since_judged + 1
            home.set(occurrences=home.incident.occurrences + 1, since_judged=since)
        reopened = home.reopen()
        self._take_seat(home, sighting, group, JoinReason.SAME_FAMILY, {}, trigger)
        self._mark_history(home, group)
        home.show(_attach_reason(trigger, reopened=reopened, listed=listed))
        if trigger is not AttachTrigger.NONE and home.incident.first_contact:
            self._promote(home)
        # One that ended before it was judged lost its job; back again, it needs another.
        unjudged = reopened and home.incident.judged_at is None and not home.incident.first_contact
        if trigger is not AttachTrigger.NONE or unjudged:
            self._judge(home, trigger)

    def _promote(self, home: Draft) -> None:
        """What grew worse since first contact is news like any other."""
        home.set(first_contact=False)
        home.show(CardReason.OPENED)

    def _judge(self, draft: Draft, trigger: AttachTrigger) -> None:
        gap_s, rule = self.setting.correlation.rejudge_gap_s, self.setting.recurrence
        now = self.setting.now
        draft.judge_in(rejudge_delay_s(draft.incident, trigger, now, gap_s, rule))

    def _open(self, sighting: Sighting, group: AlertGroup, *, first_contact: bool = False) -> None:
        now, rule = self.setting.now, self.setting.correlation
        settle_at = now + timedelta(seconds=rule.settle_s)
        window_until = now if first_contact else now + timedelta(seconds=rule.window_s)
        draft = opened(
            self.setting.new_id(),
            self.setting.client_id,
            group,
            sighting.alert.severity,
            now,
            settle_at,
            window_until,
        )
        draft.set(first_contact=first_contact, recurrences=self.earlier.get(group.id, 0))
        self.drafts[draft.incident.id] = draft
        reason = JoinReason.FIRST_CONTACT if first_contact else JoinReason.OPENED
        self._take_seat(draft, sighting, group, reason, {}, AttachTrigger.NONE)
        self._mark_history(draft, group)
        if not first_contact:
            draft.judge_in(rule.settle_s)

    def _enter(self, join: Join, sighting: Sighting, group: AlertGroup) -> None:
        draft = self._merge(join)
        worse = sighting.alert.severity.rank > draft.incident.severity.rank
        self.joined += 1
        self._take_seat(draft, sighting, group, join.reason, join.shared, AttachTrigger.NONE)
        if draft.incident.chronic and not self._is_chronic(group):
            draft.set(chronic=False)
        draft.show(CardReason.SEVERITY if worse else CardReason.JOINED)
        if worse or group.alert_class is AlertClass.CAUSE:
            self._judge(draft, AttachTrigger.SEVERITY)

    def _merge(self, join: Join) -> Draft:
        ids = dict.fromkeys(self.follow(i) for i in join.incident_ids)
        drafts = sorted((self.drafts[i] for i in ids), key=lambda d: (d.incident.opened_at, d.born))
        survivor, *others = drafts
        severity = survivor.incident.severity
        for other in others:
            survivor.absorb(other, join.reason, join.shared)
            self._into[other.incident.id] = survivor.incident.id
            if other.born:
                del self.drafts[other.incident.id]
        if others:
            self.crowd.moved({d.incident.id for d in others}, survivor.incident.id)
        if survivor.incident.severity.rank > severity.rank:
            # The jobs of the absorbed end with them.
            self._judge(survivor, AttachTrigger.SEVERITY)
        return survivor

    def _join(self, sighting: Sighting, group: AlertGroup, place: Place) -> Join | None:
        rule = self.setting.correlation
        if group.alert_class in ALONE:
            return None
        open_now = self._open_until(lambda d: d.incident.window_until)
        if group.alert_class is AlertClass.CAUSE:
            late = timedelta(seconds=rule.cause_join_s)
            reached = self.crowd.linked(
                place, self._open_until(lambda d: d.incident.opened_at + late)
            )
            if reached is not None:
                return reached
        starts_at = sighting.alert.starts_at
        return (
            self.crowd.by_scope(place, open_now)
            or self.crowd.by_denominator(place, group.id, starts_at, rule, open_now)
            or self._in_storm(place, open_now)
        )

    def _in_storm(self, place: Place, open_now: Callable[[Spot], bool]) -> Join | None:
        if self._storm is not None:
            return Join((self._storm,), JoinReason.STORM, {})
        now, rule = self.setting.now, self.setting.correlation
        storm = self.crowd.by_storm(place, now, rule, open_now)
        if storm is not None:
            self._storm = storm.incident_ids[0]
        return storm

    def _open_until(self, until: Callable[[Draft], datetime]) -> Callable[[Spot], bool]:
        now = self.setting.now

        def may_join(spot: Spot) -> bool:
            draft = self.drafts.get(spot.incident_id)
            if draft is None or draft.incident.first_contact:
                return False
            is_open = draft.incident.state is IncidentState.OPEN
            return is_open and draft.incident.alert_class not in ALONE and now <= until(draft)

        return may_join

    def _place(self, alert: Alert, group: AlertGroup) -> Place:
        place = self._places.get(alert.fingerprint)
        if place is None:
            setting = self.setting
            place = place_of(alert, group.scope, setting.correlation, setting.node_of)
            self._places[alert.fingerprint] = place
        return place

    def _take_seat(
        self,
        draft: Draft,
        sighting: Sighting,
        group: AlertGroup,
        reason: JoinReason,
        shared: Mapping[str, str],
        trigger: AttachTrigger,
    ) -> None:
        alert, now = sighting.alert, self.setting.now
        before = draft.members.get(alert.fingerprint)
        member = Member(
            alert=alert,
            group_id=group.id,
            state=MemberState.FIRING,
            joined_at=before.joined_at if before else now,
            last_seen_at=now,
            reason=before.reason if before else reason,
            shared=before.shared if before else shared,
        )
        draft.put(member, group)
        draft.active(now)
        self._holders.setdefault(alert.fingerprint, []).append(draft.incident.id)
        self._spot(draft, member, group)
        self._flip(draft, member, MemberState.FIRING, trigger)
        self.families.setdefault(group.id, []).insert(0, draft.incident.id)

    def _spot(self, draft: Draft, member: Member, group: AlertGroup) -> None:
        alert = member.alert
        place = self._place(alert, group)
        self.crowd.add(
            Spot(
                draft.incident.id,
                group.id,
                alert.fingerprint,
                place,
                alert.starts_at,
                member.joined_at,
                group.alert_class,
            )
        )

    def _flip(
        self, draft: Draft, member: Member, to: MemberState, trigger: AttachTrigger | None
    ) -> None:
        flip = Flip(
            group_id=member.group_id,
            fingerprint=member.alert.fingerprint,
            incident_id=draft.incident.id,
            to_state=to,
            at=self.setting.now,
            trigger=trigger,
        )
        self.flips.append(flip)
        self.log(member.group_id).take(flip)

    def _resolve_in(
        self, draft: Draft, member: Member, sighting: Sighting, group: AlertGroup
    ) -> None:
        now = self.setting.now
        update = {"alert": sighting.alert, "state": MemberState.RESOLVED, "last_seen_at": now}
        after = member.model_copy(update=update)
        draft.put(after, draft.groups.get(group.id, group))
        draft.active(now)
        self._flip(draft, after, MemberState.RESOLVED, None)
        draft.show(CardReason.RECOVERING)

    def _is_chronic(self, group: AlertGroup) -> bool:
        rule = self.setting.recurrence
        often = self.earlier.get(group.id, 0) + 1 >= rule.chronic_threshold
        return often or chronic(self.log(group.id).rises, self.setting.now, rule)

    def _mark_history(self, draft: Draft, group: AlertGroup) -> None:
        now, rule = self.setting.now, self.setting.recurrence
        if set(draft.groups) == {group.id} and self._is_chronic(group):
            self.chronic += not draft.incident.chronic
            draft.set(chronic=True)
        fixed_at = self.setting.fixed_at.get(group.family_key)
        if not draft.incident.regression and regressed(fixed_at, now, rule):
            self.regressions += 1
            draft.set(regression=True)

    def _tell_flapping(self, draft: Draft) -> None:
        now, rule = self.setting.now, self.setting.recurrence
        known = [self.logs[g] for g in draft.groups if g in self.logs]
        unknown = len(known) < len(draft.groups)
        flaps = any(flapping(log.turns, now, rule) for log in known)
        draft.set(flapping=flaps or (unknown and draft.incident.flapping))


def _attach_reason(trigger: AttachTrigger, *, reopened: bool, listed: bool) -> CardReason:
    if reopened:
        return CardReason.REOPENED
    if trigger is AttachTrigger.SEVERITY:
        return CardReason.SEVERITY
    return CardReason.JOINED if listed else CardReason.ATTACHED
