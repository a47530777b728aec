"""What the rooms hear when our own database is down; no database anywhere here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from bot.chats.slack.outbox import SlackChat
from bot.chats.telegram.outbox import TelegramChat
from bot.config import SlackSettings, TelegramSettings
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble, rate_limited
from bot.drill.doubles.telegram import TelegramDouble
from bot.notices import DatabaseWatch
from engine.model.org import Platform
from tests.bot.sending import SLACK, TELEGRAM
from tests.fakes import LoopClock


class Hand(LoopClock):
    """Time moved by hand."""

    at_s = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 3, tzinfo=UTC) + timedelta(seconds=self.at_s)

    def monotonic(self) -> float:
        return self.at_s


@asynccontextmanager
async def watching() -> AsyncIterator[tuple[DatabaseWatch, Hand, SlackDouble, TelegramDouble]]:
    clock = Hand()
    slack, telegram = SlackDouble(clock.now), TelegramDouble(clock.now)
    slack.channel("C1")
    telegram.chat(-1001)
    async with serve(slack.app) as one, serve(telegram.app) as two:
        own = SlackSettings(bot_token=SecretStr(slack.token), base_url=f"{one}/api/")
        other = TelegramSettings(token=SecretStr(telegram.token), base_url=f"{two}/bot")
        bot = TelegramChat.from_settings(other)
        chats = {Platform.SLACK: SlackChat.from_settings(own), Platform.TELEGRAM: bot}
        twice = SLACK.model_copy(update={"id": "other"})
        yield DatabaseWatch(chats, [SLACK, twice, TELEGRAM], clock), clock, slack, telegram
        await bot.close()


async def for_seconds(watch: DatabaseWatch, clock: Hand, seconds: int, *, down: bool) -> None:
    for _ in range(seconds):
        await (watch.down() if down else watch.up())
        clock.at_s += 1


async def test_one_notice_per_outage_within_ten_seconds_and_an_edit_when_it_is_over() -> None:
    async with watching() as (watch, clock, slack, telegram):
        await for_seconds(watch, clock, 10, down=True)
        assert len(slack.cards("C1")) == len(telegram.messages(-1001)) == 1
        assert "database down" in slack.cards("C1")[0].text
        await for_seconds(watch, clock, 60, down=True)
        await for_seconds(watch, clock, 3, down=False)
        (card,) = slack.cards("C1")
        (message,) = telegram.messages(-1001)
        assert "database is back" in card.text
        assert (message.edits, len(telegram.audible(-1001))) == (1, 1)
        await for_seconds(watch, clock, 10, down=True)
        assert len(slack.cards("C1")) == 2


async def test_a_blink_is_not_worth_a_message() -> None:
    async with watching() as (watch, clock, slack, _):
        for _ in range(5):
            await for_seconds(watch, clock, 2, down=True)
            await for_seconds(watch, clock, 2, down=False)
        assert not slack.cards("C1")


async def test_a_room_that_could_not_be_told_is_told_later() -> None:
    async with watching() as (watch, clock, slack, telegram):
        slack.fail_next("chat.postMessage", rate_limited(1))
        await for_seconds(watch, clock, 10, down=True)
        assert len(slack.cards("C1")) == len(telegram.messages(-1001)) == 1


async def test_a_notice_of_unknown_fate_is_not_repeated(caplog: pytest.LogCaptureFixture) -> None:
    async with watching() as (watch, clock, _, telegram):
        telegram.space.chats[-1001].standing = "kicked"
        await for_seconds(watch, clock, 20, down=True)
        assert len([c for c in telegram.calls if c.method == "sendMessage"]) == 1
        await for_seconds(watch, clock, 3, down=False)
    assert "could not be told" in caplog.text
