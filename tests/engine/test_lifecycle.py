"""Recurrence, chronic, flapping, green, stale and heartbeats as tables of decisions."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import lifecycle
from engine.draft import opened
from engine.lifecycle import Again, Judged, Recurrence, group_log, recur
from engine.model.alert import AlertClass, Severity
from engine.model.incident import AlertGroup, AttachTrigger, Incident, IncidentState, MemberState
from engine.model.policy import IncidentRule, RecurrenceRule
from engine.model.standing import Flip
from tests.engine.conftest import at

RULE = RecurrenceRule()
SLIDE, NEW, ATTACH = Recurrence.SLIDE, Recurrence.NEW, Recurrence.ATTACH
HOUR = 3600.0


def judged(**changes: object) -> Judged:
    usual = {"rules": {"Slow"}, "scopes": {"service:api"}, "age_s": 600.0, "since": 0}
    return Judged.model_validate(usual | changes)


def again(**changes: object) -> Again:
    usual = {
        "severity": Severity.WARNING,
        "highest": Severity.WARNING,
        "rule": "Slow",
        "scopes": {"service:api"},
        "judged": judged(),
    }
    return Again.model_validate(usual | changes)


@pytest.mark.proves("S0-66")
@pytest.mark.parametrize(
    ("firing", "expected"),
    [
        (again(), (ATTACH, AttachTrigger.NONE)),
        (again(same_firing=True, severity=Severity.CRITICAL), (SLIDE, AttachTrigger.NONE)),
        (again(idle_s=1801), (NEW, AttachTrigger.NONE)),
        (again(idle_s=1801, severity=Severity.CRITICAL), (NEW, AttachTrigger.NONE)),
        (again(idle_s=1800), (ATTACH, AttachTrigger.NONE)),
        (again(idle_s=9999, any_firing=True), (ATTACH, AttachTrigger.NONE)),
        (again(severity=Severity.HIGH, rule="New"), (ATTACH, AttachTrigger.SEVERITY)),
        (again(severity=Severity.HIGH, judged=None), (ATTACH, AttachTrigger.SEVERITY)),
        (again(severity=Severity.INFO), (ATTACH, AttachTrigger.NONE)),
        (again(rule="New", judged=None), (ATTACH, AttachTrigger.NONE)),
        (again(rule="New", scopes={"host:b"}), (ATTACH, AttachTrigger.NEW_RULE)),
        (again(scopes={"service:api", "host:b"}), (ATTACH, AttachTrigger.NEW_SCOPE)),
        (again(gaps_s=(800, 900, 1000, 110)), (ATTACH, AttachTrigger.CADENCE)),
        (again(gaps_s=(800, 900, 1000, 112.5)), (ATTACH, AttachTrigger.NONE)),
        (again(gaps_s=(800, 900, 10)), (ATTACH, AttachTrigger.NONE)),
        (again(gaps_s=(10,) * 5 + (900,) * 20 + (100,)), (ATTACH, AttachTrigger.CADENCE)),
        (
            again(gaps_s=(800, 900, 1000, 1), judged=judged(since=99)),
            (ATTACH, AttachTrigger.CADENCE),
        ),
        (again(judged=judged(since=98)), (ATTACH, AttachTrigger.NONE)),
        (again(judged=judged(since=99, age_s=5 * HOUR)), (ATTACH, AttachTrigger.CAP)),
        (again(judged=judged(age_s=4 * HOUR + 1)), (ATTACH, AttachTrigger.CEILING)),
        (again(judged=judged(age_s=4 * HOUR)), (ATTACH, AttachTrigger.NONE)),
    ],
)
def test_the_first_recurrence_rule_that_applies_decides(
    firing: Again, expected: tuple[Recurrence, AttachTrigger]
) -> None:
    assert recur(firing, RULE) == expected


def incident(**changes: object) -> Incident:
    group = AlertGroup(
        id="g", client_id="c", family_key="k", rule="r", scope={}, alert_class=AlertClass.SYMPTOM
    )
    draft = opened("i", "c", group, Severity.CRITICAL, at(0), at(30), at(300))
    return draft.incident.model_copy(update=changes)


@pytest.mark.parametrize(
    ("of", "trigger", "now_s", "delay_s"),
    [
        (incident(), AttachTrigger.SEVERITY, 10, 20),
        (incident(), AttachTrigger.SEVERITY, 100, 0),
        (incident(judged_at=at(60)), AttachTrigger.SEVERITY, 100, 560),
        (incident(judged_at=at(60)), AttachTrigger.NEW_SCOPE, 650, 60),
        (incident(judged_at=at(60)), AttachTrigger.CEILING, 20_000, 0),
    ],
)
def test_a_judgement_is_settled_debounced_and_not_too_often(
    of: Incident, trigger: AttachTrigger, now_s: float, delay_s: float
) -> None:
    assert lifecycle.rejudge_delay_s(of, trigger, at(now_s), 600, RULE) == delay_s


def flip(second: float, state: MemberState, fingerprint: str = "a") -> Flip:
    return Flip(
        group_id="g", fingerprint=fingerprint, incident_id="i", to_state=state, at=at(second)
    )


FIRES, ENDS, STALE = MemberState.FIRING, MemberState.RESOLVED, MemberState.STALE


def test_an_episode_is_of_the_group_and_not_of_each_pod() -> None:
    log = group_log(
        [flip(0, FIRES), flip(1, FIRES, "b"), flip(50, ENDS), flip(60, ENDS, "b"), flip(90, FIRES)]
    )
    assert log.rises == [at(0), at(90)]
    assert log.turns == [at(0), at(60), at(90)]
    assert log.gaps_s(at(100)) == ()


def test_gaps_end_with_the_firing_at_hand() -> None:
    log = group_log([flip(0, FIRES), flip(10, STALE), flip(100, FIRES), flip(110, ENDS)])
    assert log.gaps_s(at(250)) == (100, 150)


@pytest.mark.proves("S3-89", "S3-90")
@pytest.mark.parametrize(
    ("hours_ago", "expected"),
    [([0, 1], False), ([0, 1, 167], True), ([0, 1, 168], False), ([0, 200, 300], False)],
)
def test_chronic_is_three_in_a_week(hours_ago: list[float], expected: bool) -> None:
    rises = [at(-hours * HOUR) for hours in hours_ago]
    assert lifecycle.chronic(rises, at(0), RULE) is expected


@pytest.mark.parametrize(
    ("minutes_ago", "expected"), [([0, 10], False), ([0, 10, 29], True), ([0, 10, 30], False)]
)
def test_flapping_is_three_turns_in_half_an_hour(minutes_ago: list[int], expected: bool) -> None:
    turns = [at(-minutes * 60) for minutes in minutes_ago]
    assert lifecycle.flapping(turns, at(0), RULE) is expected


@pytest.mark.proves("S3-91")
@pytest.mark.parametrize(
    ("hours_ago", "expected"), [(None, False), (48, True), (48.01, False), (-1, False)]
)
def test_a_fix_regresses_within_two_days(hours_ago: float | None, expected: bool) -> None:
    fixed_at = None if hours_ago is None else at(-hours_ago * HOUR)
    assert lifecycle.regressed(fixed_at, at(0), RULE) is expected


@pytest.mark.parametrize(
    ("chronic", "days_ago", "found", "changed", "expected"),
    [
        (True, 7, Severity.CRITICAL, False, True),
        (False, 7, Severity.CRITICAL, False, False),
        (True, 7.1, Severity.CRITICAL, False, False),
        (True, None, None, False, False),
        (True, 7, Severity.WARNING, False, False),
        (True, 7, Severity.CRITICAL, True, False),
    ],
)
def test_a_chronic_incident_is_quiet_only_while_nothing_is_new(
    chronic: bool, days_ago: float | None, found: Severity | None, changed: bool, expected: bool
) -> None:
    quiet = lifecycle.chronic_quiet(
        incident(chronic=chronic),
        found_at=None if days_ago is None else at(-days_ago * 86_400),
        found_severity=found,
        changed=changed,
        now=at(0),
        rule=RULE,
    )
    assert quiet is expected


@pytest.mark.parametrize(
    ("severity", "card", "silent"),
    [
        (Severity.CRITICAL, True, False),
        (Severity.HIGH, True, False),
        (Severity.WARNING, True, True),
        (Severity.INFO, False, True),
        (Severity.UNKNOWN, True, True),
    ],
)
def test_severity_decides_card_and_sound(severity: Severity, card: bool, silent: bool) -> None:
    assert lifecycle.makes_a_card(severity) is card
    assert lifecycle.silent(severity) is silent


@pytest.mark.parametrize(
    ("of", "firing", "state", "green_s"),
    [
        (incident(), 0, IncidentState.RESOLVED, None),
        (incident(), 1, IncidentState.OPEN, None),
        (incident(flapping=True), 0, IncidentState.OPEN, 900),
        (incident(state=IncidentState.CLOSED), 0, IncidentState.CLOSED, None),
        (incident(state=IncidentState.MERGED), 0, IncidentState.MERGED, None),
    ],
)
def test_green_when_nothing_fires_and_later_when_flapping(
    of: Incident, firing: int, state: IncidentState, green_s: float | None
) -> None:
    after = lifecycle.recovered(of, firing, at(0), RULE)
    assert after.state is state
    assert after.green_at == (None if green_s is None else at(green_s))


@pytest.mark.proves("S3-107", "S3-109")
@pytest.mark.parametrize(
    ("state", "idle_s", "expected"),
    [
        (IncidentState.OPEN, 6 * HOUR, True),
        (IncidentState.OPEN, 6 * HOUR - 1, False),
        (IncidentState.RESOLVED, 99 * HOUR, False),
        (IncidentState.MERGED, 99 * HOUR, False),
    ],
)
def test_stale_is_open_without_news(state: IncidentState, idle_s: float, expected: bool) -> None:
    assert lifecycle.stale(incident(state=state), at(idle_s), IncidentRule()) is expected


@pytest.mark.parametrize(
    ("gap_s", "silence_s", "expected"),
    [
        (15, 300, False),
        (15, 301, True),
        (3600, 9000, False),
        (3600, 9001, True),
        (None, 6 * HOUR, False),
        (None, 6 * HOUR + 1, True),
    ],
)
def test_a_heartbeat_is_missed_by_its_own_rhythm(
    gap_s: float | None, silence_s: float, expected: bool
) -> None:
    assert lifecycle.heartbeat_missing(at(0), gap_s, at(silence_s)) is expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_turns_alternate_and_begin_with_a_rise(steps: list[tuple[str, bool]]) -> None:
    log = group_log(
        flip(n, FIRES if fires else ENDS, name) for n, (name, fires) in enumerate(steps)
    )
    assert log.rises == log.turns[::2]
    assert all(
        b - a >= timedelta(seconds=1) for a, b in zip(log.turns, log.turns[1:], strict=False)
    )
