"""How fast each chat is written to."""

from bot.outbox.pace import RATES, Pace
from engine.model.org import Platform

S, T = Platform.SLACK, Platform.TELEGRAM


def closed(pace: Pace, at_s: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    now = pace.closed(at_s, set())
    return now.posts, now.edits


def test_slack_takes_a_post_a_second_and_an_edit_every_second_and_a_half() -> None:
    pace = Pace(RATES)
    pace.used(S, "slack:C1", 100, edit=False)
    assert closed(pace, 100.9) == (("slack:C1",), ("slack:C1",))
    assert closed(pace, 101) == ((), ())
    pace.used(S, "slack:C1", 101, edit=True)
    assert closed(pace, 102.4) == ((), ("slack:C1",))
    assert closed(pace, 102.5) == ((), ())
    assert pace.opens_in_s(101.5) == 1.0


def test_a_telegram_group_takes_eighteen_a_minute_and_edits_leave_room_for_new_cards() -> None:
    pace = Pace(RATES)
    for n in range(12):
        pace.used(T, "telegram:-1", 2.0 * n, edit=True)
    assert closed(pace, 30) == ((), ("telegram:-1",))
    for n in range(6):
        pace.used(T, "telegram:-1", 30 + 2.0 * n, edit=False)
    assert closed(pace, 59) == (("telegram:-1",), ("telegram:-1",))
    assert closed(pace, 60.5)[0] == ()


def test_a_private_chat_has_no_limit_by_the_minute() -> None:
    pace = Pace(RATES)
    for n in range(40):
        pace.used(T, "telegram:77", n, edit=False)
    assert closed(pace, 41) == ((), ())


def test_a_wait_closes_one_chat_and_a_pause_one_platform() -> None:
    pace = Pace(RATES)
    pace.wait("slack:C1", 30, 100)
    pace.pause(T, 60, 100)
    now = pace.closed(120, {"slack:C9"})
    assert now.posts == ("slack:C1", "slack:C9")
    assert now.platforms == (T,)
    assert pace.closed(161, set()).platforms == ()


def test_a_platform_takes_twenty_five_a_second_in_all_chats() -> None:
    pace = Pace(RATES)
    for n in range(25):
        pace.used(T, f"telegram:{n}", 10 + n / 100, edit=False)
    assert pace.closed(10.5, set()).platforms == (T,)
    assert pace.closed(11.01, set()).platforms == ()
