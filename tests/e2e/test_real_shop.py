"""The whole product behind a real Prometheus and a real Alertmanager."""

from pathlib import Path

import pytest

from bot.drill.doubles.slack_room import Message
from storage.embedded import EmbeddedPostgres
from tests.e2e.play import merge, state_of
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, TOKEN, Theatre, open_theatre
from tests.real_prometheus import free_port, installed, sample_shop

pytestmark = [
    pytest.mark.real,
    pytest.mark.corpus,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not installed(), reason="no Prometheus and Alertmanager from Debian here"),
]
NAMES = ("webhook", "polled", "both")


@pytest.mark.proves("S0-1", "S3-1", "S3-106")
@pytest.mark.parametrize("way", NAMES)
async def test_a_real_alert_is_one_card_in_each_room_whichever_way_it_comes(
    way: str, playhouse: EmbeddedPostgres, tmp_path: Path, shared: Path
) -> None:
    port, home = free_port(), tmp_path / "home"
    hook = f"http://127.0.0.1:{port}/webhooks/alertmanager/{TOKEN}"
    with sample_shop(
        tmp_path,
        shared / "sample",
        webhook_url=None if way == "polled" else hook,
        with_alertmanager=True,
    ) as shop:
        settings = {
            "prometheus": {"url": shop.prometheus_url},
            "alertmanager": None if way == "webhook" else {"url": shop.alertmanager_url, "poll": 1},
            "http": {"port": port},
            "correlation": {"settle_s": 2},
        }
        async with open_theatre(
            playhouse,
            home,
            change=lambda raw: merge(raw, settings),
            live=True,
        ) as theatre:
            await theatre.until(lambda: judged(theatre))
            await theatre.quiet()
            (card,) = about_checkout(theatre)
            states = [state_of(before) for before in (*card.earlier, card)]
            assert states[0] == "facts"
            case = next(c for c in await theatre.cases() if c.finding is not None)
            assert case.finding is not None
            assert case.finding.round is not None
            floor = case.finding.round.results[0]
            assert floor.text.startswith("up ")
            telegram = [
                m
                for m in theatre.telegram.messages(TELEGRAM_ROOM)
                if m.reply_to is None and "CheckoutHighErrorRate" in m.text
            ]
            assert len(telegram) == 1


def about_checkout(theatre: Theatre) -> list[Message]:
    return [c for c in theatre.slack.cards(SLACK_ROOM) if "CheckoutHighErrorRate" in c.text]


def judged(theatre: Theatre) -> bool:
    ended = {"verified", "unconfirmed", "unverified", "abstained", "degraded", "no_finding"}
    return any(state_of(card) in ended for card in about_checkout(theatre))
