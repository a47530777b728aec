"""States, buttons, digests, threads: what each of them shows."""

from datetime import timedelta

import pytest

from cards.actions import LABELS, OF_STATE, ROWS, Row, buttons, fix_buttons, with_tokens
from cards.card import ButtonStyle, Mention
from cards.digest import MOST_ROWS, already_firing, row_of, storm
from cards.draw import ALL, card
from cards.layout import LAYOUT, SECTIONS
from cards.life import State, choose
from cards.thread import evidence, finding_reply
from engine.model.action import Action
from engine.model.alert import AlertClass
from engine.model.incident import IncidentState
from engine.model.ledger import ToolName
from engine.model.org import RoomSound
from engine.model.run import CaseFile, FailureClass, RunState, SkipReason
from tests.cards.cases import CASES, INCIDENT, NOW, UNCONFIRMED, case, found, incident, run, skipped
from tests.cards.surfaces import DRAW

SAME = {
    "received": State.FACTS,
    "facts_early": State.FACTS,
    "checking": State.INVESTIGATING,
    "replaced": State.UNCONFIRMED,
    "vetoed": State.UNCONFIRMED,
    "refuted": State.NO_FINDING,
    "manual": State.NOT_INVESTIGATED,
    "resolved_by_itself": State.RESOLVED,
    "again": State.UNCONFIRMED,
    "said": State.VERIFIED,
    "said_wrong": State.UNCONFIRMED,
    "drill": State.VERIFIED,
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_case_is_told_in_its_state(name: str) -> None:
    assert choose(CASES[name]) is SAME.get(name, State(name) if name not in SAME else State.FACTS)


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (found(UNCONFIRMED, incident=incident(state=IncidentState.RESOLVED)), State.RESOLVED),
        (skipped(SkipReason.BREAKER_OPEN), State.NO_MODEL),
        (skipped(SkipReason.BUDGET), State.NOT_INVESTIGATED),
        (case(run=run(RunState.FAILED, failure=FailureClass.TRANSIENT)), State.FAILED),
        (case(incident=incident(first_contact=True)), State.FIRST_CONTACT),
        (
            case(incident=incident(first_contact=True), run=run(RunState.INVESTIGATING)),
            State.INVESTIGATING,
        ),
        (case(incident=incident(alert_class=AlertClass.PREDICTIVE)), State.PREDICTIVE),
        (
            case(finding=UNCONFIRMED, run=run(RunState.FAILED, failure=FailureClass.TERMINAL)),
            State.UNCONFIRMED,
        ),
    ],
)
def test_what_ended_and_what_was_found_come_before_what_runs(given: CaseFile, state: State) -> None:
    assert choose(given) is state


def test_every_state_has_sections_and_buttons() -> None:
    assert set(LAYOUT) == set(State) == set(OF_STATE)
    assert set(ROWS) == set(Row)
    assert set(LABELS) == set(Action)
    assert {part for parts in LAYOUT.values() for part in parts} == set(SECTIONS)


def test_every_section_has_its_own_name_and_place() -> None:
    names = [part.name for part in SECTIONS]
    assert len(names) == len(set(names))
    ranks = [part.rank for state in LAYOUT.values() for part in state]
    assert all(0 <= rank < 100 for rank in ranks)
    for parts in LAYOUT.values():
        assert len({part.rank for part in parts}) == len(parts)


@pytest.mark.parametrize("state", State)
def test_at_most_four_buttons_are_visible_and_five_under_the_menu(state: State) -> None:
    made = buttons(state, ALL)
    assert len([b for b in made if not b.more]) <= 4
    assert len([b for b in made if b.more]) <= 5
    assert len({b.action for b in made}) == len(made)


@pytest.mark.parametrize("state", State)
def test_no_fix_is_offered_on_a_finding_that_is_not_trusted(state: State) -> None:
    actions = {b.action for b in fix_buttons(state, ALL)}
    assert (Action.APPROVE_FIX in actions) == (state in (State.VERIFIED, State.UNCONFIRMED))


def test_the_green_button_stands_on_a_verified_fix_only() -> None:
    verified = {b.action: b.style for b in fix_buttons(State.VERIFIED, ALL)}
    unconfirmed = {b.action: b.style for b in fix_buttons(State.UNCONFIRMED, ALL)}
    assert verified[Action.APPROVE_FIX] is ButtonStyle.PRIMARY
    assert unconfirmed[Action.APPROVE_FIX] is ButtonStyle.PLAIN


def test_only_actions_with_a_desk_are_offered() -> None:
    made = card(CASES["verified"], NOW, offered={Action.TAKE, Action.WHY})
    assert [(b.action, b.more) for b in made.buttons] == [("take", False), ("why", True)]


def test_every_button_gets_its_token() -> None:
    drawn = card(CASES["first_contact"], NOW)
    tokens = {(b.action, b.subject): f"tok-{b.action}" for b in drawn.buttons}
    assert {b.token for b in with_tokens(drawn, tokens).buttons} == set(tokens.values())


def test_first_contact_is_one_list_with_the_worst_first() -> None:
    text = DRAW["terminal"](card(CASES["first_contact"], NOW))
    assert "15 alerts already fired" in text
    assert text.index("CRITICAL") < text.index("HIGH") < text.index("WARNING")
    assert "and 3 more" in text
    assert "can wait" in card(CASES["first_contact"], NOW).lock_screen


def test_a_digest_offers_to_investigate_the_worst() -> None:
    rows = [row_of(INCIDENT.model_copy(update={"id": f"inc{n}"})) for n in range(20)]
    made = already_firing(rows, NOW, source="alertmanager", offered=ALL)
    assert {b.subject for b in made.buttons} <= {f"inc{n}" for n in range(20)}
    assert len(made.buttons) == 3
    assert f"and {20 - MOST_ROWS} more" in DRAW["slack"](made)


@pytest.mark.parametrize(("sound", "rings"), [(RoomSound.CRITICAL, True), (RoomSound.OFF, False)])
def test_a_storm_rings_once_where_its_worst_would(sound: RoomSound, rings: bool) -> None:
    made = storm([row_of(INCIDENT)], NOW, sound=sound, offered=ALL)
    assert made.audible is rings


def test_the_reply_calls_whoever_took_it() -> None:
    reply = finding_reply(CASES["verified"], Mention(account="U0ALICE", name="alice"))
    assert reply is not None
    assert "<@U0ALICE> *Likely cause*" in DRAW["slack"](reply)
    assert finding_reply(CASES["facts"]) is None


def test_the_evidence_names_claims_checks_gaps_and_cost() -> None:
    text = DRAW["terminal"](evidence(CASES["degraded"], NOW))
    for part in (
        "[M2, R1]",
        "Checks made to disprove it",
        "no answer in time",
        "$0.0526",
        "2 model calls",
    ):
        assert part in text
    assert "the checks that always run were not complete" in text


def test_a_phone_tells_the_evidence_from_the_finding() -> None:
    case = CASES["verified"]
    reply = finding_reply(case)
    assert reply is not None
    assert evidence(case, NOW).lock_screen != reply.lock_screen
    assert evidence(case, NOW).lock_screen.startswith("Evidence · ")


def test_a_contradicted_claim_is_listed_as_ruled_out() -> None:
    text = DRAW["terminal"](evidence(CASES["refuted"], NOW))
    assert "Ruled out" in text
    assert "all of the fleet is down — contradicted by R1" in text


def test_a_predictive_card_has_a_date_and_can_wait() -> None:
    text = DRAW["terminal"](card(CASES["predictive"], NOW))
    assert "Can it wait? Yes" in text
    assert "until 12 Dec" in text
    assert "cause" not in text.replace("no cause to look for", "")


def test_a_heartbeat_card_says_since_when_it_is_silent() -> None:
    text = DRAW["terminal"](card(CASES["heartbeat"], NOW))
    assert "No heartbeat since 02:45 UTC (17 min)" in text


def test_a_quiet_card_quotes_the_last_finding_with_its_trust() -> None:
    text = DRAW["terminal"](card(CASES["chronic_quiet"], NOW))
    assert "Last finding (26 Nov" in text
    assert "verified" in text
    assert "9th time in 7 days; nothing new" in text


def test_a_superseded_card_says_where_it_went() -> None:
    assert "Merged into incident 11" in DRAW["slack"](card(CASES["merged"], NOW))


def test_what_is_looked_at_and_what_could_not_be_seen_are_named() -> None:
    text = DRAW["terminal"](card(CASES["facts_early"], NOW))
    assert "could not see metrics: no answer in time" in text
    assert "still looking at logs" in text


def test_an_investigation_says_what_is_known_not_how_many_tokens() -> None:
    text = DRAW["slack"](card(CASES["investigating"], NOW))
    assert "peers are up: 23 of 24" in text
    assert "token" not in text


def test_a_waiting_investigation_says_when_it_is_tried_again() -> None:
    made = case(run=run(RunState.WAITING, delivery=3, next_try_at=NOW + timedelta(minutes=5)))
    text = DRAW["terminal"](card(made, NOW))
    assert "next try 03:07 UTC · 3rd of 35 tries" in text


def test_suspects_say_why_or_that_none_stands_out() -> None:
    assert "1. checkout-db" in DRAW["terminal"](card(CASES["facts"], NOW))
    assert "is at its limit" in DRAW["terminal"](card(CASES["facts"], NOW))
    assert "No suspect stands out" in DRAW["terminal"](card(CASES["facts_early"], NOW))


def test_the_investigating_card_says_where_the_model_looks() -> None:
    looking = (ToolName.METRICS_NOW, ToolName.CHANGES, ToolName.METRICS_OVER_TIME, ToolName.LOGS)
    for seen, said in (
        (looking[:1], "looking at metrics"),
        (looking[:2], "looked at metrics; looking at changes"),
        (looking, "looked at changes and metrics; looking at logs"),
    ):
        case_ = case(run=run(RunState.INVESTIGATING, looking=seen))
        assert said in DRAW["slack"](card(case_, NOW))
