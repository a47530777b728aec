"""Every scene, played over the whole product, against its expectations and its transcript."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres
from tests.e2e.play import play
from tests.e2e.scene import scene, scenes

GOLDEN = Path(__file__).parent / "golden"
Played = Callable[[str], Awaitable[None]]


@pytest.fixture
def played(playhouse: EmbeddedPostgres, tmp_path: Path) -> Played:
    async def played(name: str) -> None:
        told = await play(scene(name), playhouse, tmp_path)
        golden = (GOLDEN / f"{name}.txt").read_text("utf-8")
        assert told == golden, f"python -m tests.e2e.regenerate {name} writes it anew"

    return played


def test_every_scene_is_played_by_a_test_here() -> None:
    here = Path(__file__).read_text("utf-8")
    assert [one.name for one in scenes() if f'played("{one.name}")' not in here] == []


@pytest.mark.proves("S0-3", "S0-4", "S0-6", "S0-8", "S3-1", "S3-2", "S3-3", "S3-4", "S3-37")
async def test_a_clean_case_is_verified_against_its_evidence(played: Played) -> None:
    await played("01_clean")


@pytest.mark.proves("S0-1", "S0-3", "S0-4", "S0-80", "S0-81")
async def test_a_regional_event_meets_healthy_peers_and_is_replaced(played: Played) -> None:
    await played("02_regional_event")


@pytest.mark.proves("S0-77", "S0-78", "S0-79")
async def test_with_the_metrics_server_down_it_is_said_and_looked_at_again(played: Played) -> None:
    await played("03_prometheus_down")


@pytest.mark.proves("S0-77", "S0-79")
async def test_a_metrics_server_that_never_answers_holds_up_no_card(played: Played) -> None:
    await played("03_prometheus_hangs")


@pytest.mark.proves("S1-1", "S1-9", "S1-10")
async def test_a_story_of_invented_specifics_is_demoted(played: Played) -> None:
    await played("05_invented_story")


async def test_a_thin_pack_ends_in_what_is_missing(played: Played) -> None:
    await played("06_thin_pack")


@pytest.mark.proves("S3-74", "S3-75", "S3-76", "S3-77")
async def test_a_case_in_memory_is_confirmed_and_attacked_like_any_other(played: Played) -> None:
    await played("07_known_cause")


@pytest.mark.proves("S3-79")
async def test_a_case_in_memory_that_is_not_this_one_falls_through(played: Played) -> None:
    await played("07_not_this_time")


@pytest.mark.proves("S3-106")
async def test_ten_alerts_of_one_cause_are_one_incident(played: Played) -> None:
    await played("13_one_cause_ten_alerts")


async def test_without_a_model_the_facts_card_is_the_card(played: Played) -> None:
    await played("15_no_model")


@pytest.mark.proves("S3-106")
async def test_a_node_that_goes_down_ends_as_one_card(played: Played) -> None:
    await played("16_node_down")


@pytest.mark.proves("S3-106")
async def test_the_ninth_time_in_a_week_is_one_silent_card(played: Played) -> None:
    await played("17_ninth_time")


async def test_a_second_workload_of_the_namespace_has_its_own_card(played: Played) -> None:
    await played("18_second_workload")


async def test_a_deploy_after_onset_is_never_verified(played: Played) -> None:
    await played("19_decoy_deploy")


async def test_a_certificate_that_expires_can_wait_and_has_no_cause(played: Played) -> None:
    await played("20_certificate")


@pytest.mark.proves("S0-10", "S0-48", "S0-49", "S0-54", "S0-86")
async def test_a_malformed_check_is_named_and_degrades_nothing(played: Played) -> None:
    await played("04_broken_promql")


@pytest.mark.proves("S3-115", "S3-116", "S3-117")
async def test_an_empty_account_ends_the_triage_at_once_and_keeps_the_facts(played: Played) -> None:
    await played("09_credit_gone")


@pytest.mark.proves("S0-28", "S0-29", "S0-53")
async def test_a_correction_nothing_could_test_caps_the_confidence(played: Played) -> None:
    await played("10_correction")


async def test_what_fired_before_the_source_was_known_is_one_digest(played: Played) -> None:
    await played("first_contact")


@pytest.mark.proves("S3-7", "S3-8", "S3-9", "S3-10")
async def test_with_investigation_off_the_facts_card_says_so(played: Played) -> None:
    await played("flag_off")


@pytest.mark.proves("S0-66")
async def test_a_flapper_costs_one_judgement(played: Played) -> None:
    await played("flapper")


@pytest.mark.proves("S0-92", "S0-97", "S0-98")
async def test_with_verification_off_it_is_one_call_and_no_floor(played: Played) -> None:
    await played("verification_off")


@pytest.mark.proves("S3-51", "S3-52", "S3-55")
async def test_a_runaway_model_is_stopped_and_the_suspects_are_the_card(played: Played) -> None:
    await played("14_runaway")


@pytest.mark.proves("S3-51")
async def test_a_model_may_look_further_before_it_concludes(played: Played) -> None:
    await played("looks_further")


@pytest.mark.proves("S3-13", "S3-16", "S3-17")
async def test_a_room_that_is_off_answers_nothing_and_still_has_its_cards(played: Played) -> None:
    await played("12_room_off")


async def test_a_question_is_placed_checked_and_settled_in_one_message(played: Played) -> None:
    await played("question")


async def test_the_story_of_a_deploy_at_three(played: Played) -> None:
    await played("story_deploy")


async def test_the_story_of_a_node_that_goes_down_at_three(played: Played) -> None:
    await played("story_node")


async def test_the_story_of_a_disk_that_flaps_at_three(played: Played) -> None:
    await played("story_flapping_disk")


async def test_the_story_of_a_failover_that_takes_the_metrics_with_it(played: Played) -> None:
    await played("story_failover")


async def test_the_story_of_a_certificate_that_can_wait(played: Played) -> None:
    await played("story_certificate")
