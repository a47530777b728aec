"""What the words may say, and when: trust stands in the heading."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import Enum
from itertools import product

import pytest

from cards import caveats, words
from cards.draw import card
from cards.figures import duration, ordinal, per_cent, quantity
from cards.heading import claim, trust_word
from cards.life import degraded
from cards.render import plain
from cards.thread import evidence, finding_reply
from engine.model.alert import Severity
from engine.model.evidence import GapCause, InvalidReason, QueryOutcome
from engine.model.finding import (
    Caveat,
    CaveatCode,
    CheckSource,
    Disposition,
    Finding,
    Ruling,
    TriagePath,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.incident import IncidentState
from engine.model.org import Client
from engine.model.pack import (
    CanWait,
    ChangeKind,
    ImpactReason,
    SectionName,
    SectionStatus,
    SuspectReason,
)
from engine.model.run import FailureClass, RunState, SkipReason
from tests.cards.cases import (
    ABSTAINED,
    CASES,
    DEGRADED,
    FULL,
    NOW,
    UNCONFIRMED,
    UNGROUNDED,
    VERIFIED,
    case,
    finding,
    found,
    incident,
    run,
    skipped,
)
from tests.cards.surfaces import DRAW

ROUNDS = (VERIFIED.round, DEGRADED.round, None)
EVERY = [
    finding(trust_level=trust, verify_status=status, disposition=disposition, round=round_)
    for trust, status, disposition, round_ in product(TrustLevel, VerifyStatus, Disposition, ROUNDS)
]
"""Every combination of what code stamps, the impossible ones too."""
SOME = EVERY[::17]
"""Few enough to draw on every surface."""


def drawn_everywhere() -> Iterator[tuple[Finding, str]]:
    """Every combination as plain text, and some of them on every surface."""
    yield from ((made, plain.text(card(found(made), NOW), 20_000)) for made in EVERY)
    yield from ((made, draw(card(found(made), NOW))) for made in SOME for draw in DRAW.values())


def said(made: Finding, **parts: object) -> str:
    """All the words of a finding on its card, its reply and its thread, in a terminal."""
    whole = found(made, **parts)
    reply = finding_reply(whole)
    drawn = [card(whole, NOW), evidence(whole, NOW), *([reply] if reply else [])]
    return "\n".join(DRAW["terminal"](one) + one.lock_screen for one in drawn)


@pytest.mark.proves("S3-61", "S3-70")
def test_likely_cause_and_the_tick_stand_only_on_a_verified_finding() -> None:
    for made, text in drawn_everywhere():
        verified = made.trust_level is TrustLevel.VERIFIED and not degraded(made)
        if not verified or made.disposition is not Disposition.ANSWERED:
            assert "likely cause" not in text.lower()
            assert "✅" not in text


@pytest.mark.proves("S0-79")
def test_checks_unavailable_is_said_beside_the_finding_of_a_degraded_round_only() -> None:
    for made, text in drawn_everywhere():
        assert ("⚠ unverified — checks unavailable" in text) == degraded(made)


@pytest.mark.proves("S0-78")
def test_of_the_round_only_its_degradation_reaches_the_card() -> None:
    drawn = [card(found(finding(round=made)), NOW) for made in (VERIFIED.round, UNCONFIRMED.round)]
    shown = [tuple(s for s in one.sections if s.name != "evidence") for one in drawn]
    assert shown[0] == shown[1]
    assert "checks unavailable" in said(DEGRADED)


@pytest.mark.proves("S0-80")
@pytest.mark.parametrize("made", SOME)
def test_a_card_never_tells_what_was_thought_before(made: Finding) -> None:
    text = said(made.model_copy(update={"self_confidence": 0.97, "confidence": 0.71}))
    assert not re.search(r"draft|revised|previously|before the check", text, re.IGNORECASE)
    assert "97%" not in text
    assert "regional event" not in text


@pytest.mark.proves("S3-70")
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("surface", DRAW)
def test_a_card_prints_one_confidence_in_whole_per_cent(name: str, surface: str) -> None:
    text = DRAW[surface](card(CASES[name], NOW))
    figures = re.findall(r"confidence \d+%", text)
    assert len(figures) <= 1
    assert not re.search(r"confidence 0?\.\d", text)


@pytest.mark.parametrize(
    "made",
    [finding(verify_status=VerifyStatus.NOT_RUN, trust_level=TrustLevel.UNVERIFIED), ABSTAINED],
)
def test_no_confidence_is_shown_where_nothing_was_checked(made: Finding) -> None:
    assert "confidence " not in said(made.model_copy(update={"confidence": 0.9}))


@pytest.mark.proves("S0-54", "S0-86")
@pytest.mark.parametrize("surface", ["slack", "terminal"])
def test_a_query_that_did_not_run_has_its_own_caveat(surface: str) -> None:
    text = DRAW[surface](card(found(UNCONFIRMED), NOW))
    assert "⚠ 1 query was malformed and did not run" in text
    assert "checks unavailable" not in text


@pytest.mark.proves("S0-54", "S0-79")
def test_the_two_caveats_stand_side_by_side() -> None:
    both = DEGRADED.model_copy(
        update={
            "caveats": (
                *DEGRADED.caveats,
                Caveat(code=CaveatCode.QUERY_INVALID, facts={"count": 2}),
            )
        }
    )
    text = said(both)
    assert "⚠ unverified — checks unavailable" in text
    assert "⚠ 2 queries were malformed and did not run" in text


TITLES = [
    (VERIFIED, "Likely cause", ""),
    (UNCONFIRMED, "Possible cause", "unconfirmed"),
    (DEGRADED, "Possible cause", "unverified — checks unavailable"),
    (UNGROUNDED, "Possible cause", "unverified"),
    (
        finding(verify_status=VerifyStatus.REFUTED, trust_level=TrustLevel.UNVERIFIED),
        "No cause found",
        "unverified",
    ),
    (
        finding(verify_status=VerifyStatus.NOT_RUN, trust_level=TrustLevel.UNVERIFIED),
        "Possible cause",
        "",
    ),
    (finding(path=TriagePath.SHORT_CIRCUIT), "Known cause", ""),
    (
        finding(path=TriagePath.SHORT_CIRCUIT, trust_level=TrustLevel.UNCONFIRMED),
        "Known cause",
        "unconfirmed",
    ),
    (ABSTAINED, "Cannot determine this from the available evidence", ""),
]


@pytest.mark.proves("S3-65")
@pytest.mark.parametrize(("made", "title", "word"), TITLES)
def test_trust_stands_in_the_heading_of_the_claim(made: Finding, title: str, word: str) -> None:
    assert (claim(made), trust_word(made)) == (title, word)


@pytest.mark.proves("S3-65")
@pytest.mark.parametrize(
    ("status", "line"),
    [
        (VerifyStatus.INCONCLUSIVE, "the evidence check was inconclusive"),
        (VerifyStatus.REFUTED, "the checks contradict the cause that was proposed"),
    ],
)
def test_why_the_trust_is_what_it_is_has_a_line(status: VerifyStatus, line: str) -> None:
    assert f"⚠ {line}" in said(finding(verify_status=status, trust_level=TrustLevel.UNCONFIRMED))


@pytest.mark.proves("S3-65")
def test_a_lost_check_says_that_it_did_not_finish() -> None:
    lost = DEGRADED.round.model_copy(
        update={"degraded_reasons": ("judgement_lost",), "results": ()}
    )
    made = finding(
        verify_status=VerifyStatus.TIMED_OUT, trust_level=TrustLevel.UNCONFIRMED, round=lost
    )
    assert "⚠ the evidence check did not finish" in said(made)


@pytest.mark.proves("S3-66", "S3-67")
def test_unsupported_claims_are_counted_on_the_card_and_named_in_the_thread() -> None:
    lost = ("v2.41.0 leaks connections",)
    made = UNCONFIRMED.model_copy(update={"unsupported_claims": lost})
    assert "⚠ 1 of 3 cited claims has no support" in DRAW["slack"](card(found(made), NOW))
    assert "not backed: v2.41.0 leaks connections" in DRAW["terminal"](evidence(found(made), NOW))


def test_a_refuted_cause_is_not_repeated_as_one() -> None:
    text = said(finding(verify_status=VerifyStatus.REFUTED, trust_level=TrustLevel.UNVERIFIED))
    assert "all 50 are in use since" not in text


def test_the_advice_of_a_finding_that_needs_review_is_not_repeated() -> None:
    assert "Look here first" not in said(UNGROUNDED)


def test_at_most_four_caveats_stand_on_a_card() -> None:
    many = tuple(Caveat(code=code) for code in CaveatCode if code is not CaveatCode.NO_MODEL)
    made = UNCONFIRMED.model_copy(update={"caveats": many, "vetoes": tuple(Veto)})
    trust = next(s for s in card(found(made), NOW).sections if s.name == "trust")
    lines = trust.blocks[-1].lines
    assert len(lines) == 5
    assert "more caveats in the thread" in lines[-1][0].text


def test_a_missing_pack_section_is_named() -> None:
    made = finding(
        caveats=(Caveat(code=CaveatCode.PACK_DEGRADED, facts={"sections": "logs,deploys"}),)
    )
    assert "⚠ the context pack has no logs and deploys" in said(made)


def test_evidence_that_is_too_long_even_shortened_is_said_and_the_facts_stand() -> None:
    ended = run(RunState.FAILED, failure=FailureClass.TERMINAL, failure_kind="too_long")
    shown = plain.text(card(case(run=ended), NOW), 20_000)
    assert "the evidence is too long for the model, even shortened. Not retried." in shown


@pytest.mark.parametrize(("in_s", "told"), [(600, True), (-600, False)])
def test_while_nobody_asks_a_provider_the_card_says_when_it_is_tried_next(
    *, in_s: int, told: bool
) -> None:
    again_at = NOW + timedelta(seconds=in_s)
    left = run(RunState.SKIPPED, skip_reason=SkipReason.BREAKER_OPEN, next_try_at=again_at)
    shown = plain.text(card(case(run=left), NOW), 20_000)
    assert (f"⏳ next try {again_at:%H:%M}" in shown) is told


def test_a_replaced_cause_says_it_is_not_yet_checked() -> None:
    made = UNCONFIRMED.model_copy(update={"replaced": True})
    assert "⚠ this cause was found by the check itself and is not yet checked" in said(made)


@pytest.mark.parametrize("code", CaveatCode)
def test_every_caveat_is_short_and_names_no_one(code: CaveatCode) -> None:
    made = finding(
        caveats=(Caveat(code=code),), vetoes=tuple(Veto), trust_level=TrustLevel.UNCONFIRMED
    )
    for line in caveats.lines(made):
        text = "".join(span.text for span in line)
        assert len(text) <= 70
        assert not re.search(r"\bmay\b|\bmight\b|\bprobably\b", text)
        assert text[0] == text[0].lower()


TABLES = [
    (words.SEVERITY, Severity),
    (words.TRUST, TrustLevel),
    (words.CAN_WAIT, CanWait),
    (words.CAN_WAIT_SHORT, CanWait),
    (words.SECTION, SectionName),
    (words.GAP, GapCause),
    (words.SUSPECT, SuspectReason),
    (words.CHANGE, ChangeKind),
    (words.SKIP, SkipReason),
    (words.VETO, Veto),
    (words.OUTCOME, QueryOutcome),
    (words.INVALID, InvalidReason),
    (words.RULING, Ruling),
    (words.CHECK_SOURCE, CheckSource),
    (words.FAILURE, FailureClass),
    (words.IMPACT, ImpactReason),
    (caveats.WORDS, CaveatCode),
]


@pytest.mark.parametrize(("table", "enum"), TABLES)
def test_every_member_of_an_enum_has_its_words(
    table: Mapping[Enum, object], enum: type[Enum]
) -> None:
    assert set(table) == set(enum)


def test_with_investigation_off_the_card_stands_and_says_so() -> None:
    off = Client(id="default")
    drawn = card(skipped(SkipReason.FLAG_OFF, client=off), NOW)
    text = DRAW["slack"](drawn)
    assert "investigation is off for this client" in text
    assert "Suspects" in text
    assert drawn.audible


@pytest.mark.parametrize("reason", SkipReason)
def test_every_reason_not_to_investigate_is_told(reason: SkipReason) -> None:
    assert words.SKIP[reason] in DRAW["markdown"](card(skipped(reason), NOW)) or reason in (
        SkipReason.CHRONIC_QUIET,
        SkipReason.FIRST_CONTACT,
    )


@pytest.mark.parametrize("state", RunState)
def test_a_finding_is_not_hidden_by_what_runs_after_it(state: RunState) -> None:
    again = run(state, triage_id="t2")
    assert "Possible cause" in DRAW["slack"](card(case(finding=UNCONFIRMED, run=again), NOW))


def test_an_incident_closed_for_lack_of_news_is_never_called_resolved() -> None:
    text = DRAW["terminal"](card(CASES["closed"], NOW))
    assert "no news for 6 h" in text
    assert "resolved" not in text.lower().replace("nobody said it was resolved", "")


def test_a_drill_is_marked_on_every_surface() -> None:
    for draw in DRAW.values():
        text = draw(card(CASES["drill"], NOW))
        assert "DRILL" in text
        assert "rehearsal metrics and rehearsal model" in text


def test_a_rehearsal_model_on_real_alerts_is_marked() -> None:
    made = case(finding=VERIFIED, run=run(RunState.DONE, rehearsal_model=True))
    assert "rehearsal model: no cause below is real" in DRAW["slack"](card(made, NOW))


def test_no_changes_and_nobody_looked_are_two_sentences() -> None:
    looked = FULL.model_copy(
        update={
            "sections": tuple(
                s.model_copy(update={"items": (), "status": SectionStatus.EMPTY})
                if s.name == "deploys"
                else s
                for s in FULL.sections
            )
        }
    )
    assert "Changes: none found before it began" in DRAW["terminal"](card(case(pack=looked), NOW))
    early = DRAW["terminal"](card(CASES["facts_early"], NOW))
    assert "Changes: no change source is connected" in early


def test_an_onset_that_was_measured_is_told_beside_the_alert() -> None:
    assert "began 02:45 UTC, alerted 03:00 UTC" in DRAW["terminal"](card(CASES["facts"], NOW))
    assert "began" not in DRAW["terminal"](card(CASES["received"], NOW))


def test_text_anyone_can_write_is_shown_as_a_machine_string() -> None:
    text = DRAW["telegram"](card(CASES["facts"], NOW))
    assert "logs: <code>ERROR could not get connection" in text


@pytest.mark.parametrize("ended", [IncidentState.RESOLVED, IncidentState.CLOSED])
def test_an_ended_card_keeps_its_cause_and_its_trust(ended: IncidentState) -> None:
    text = said(UNCONFIRMED, incident=incident(state=ended))
    assert "Possible cause · ⚠ unconfirmed" in text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (duration(45), "45 s"),
        (duration(900), "15 min"),
        (duration(7500), "2 h 05 min"),
        (duration(12 * 86400), "12 d"),
        (duration(1e300), "11,574,074,074 d"),
        (ordinal(9), "9th"),
        (ordinal(12), "12th"),
        (ordinal(21), "21st"),
        (per_cent(0.341), "34%"),
        (per_cent(0.001), "<1%"),
        (per_cent(float("nan")), "?%"),
        (quantity(0.18, "s"), "180 ms"),
        (quantity(2.4, "s"), "2.4 s"),
        (quantity(1.5 * 2**30, "B"), "1.5 GiB"),
        (quantity(121, "/s"), "121/s"),
        (quantity(0.341, "ratio"), "34%"),
        (quantity(1234.5, ""), "1,234"),
        (quantity(float("inf"), "s"), "no number"),
    ],
)
def test_numbers_are_said_the_way_people_say_them(given: str, expected: str) -> None:
    assert given == expected
