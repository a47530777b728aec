"""A press in Telegram, through the whole product."""

from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres
from tests.e2e.planted import Estate, Service, plant_estate
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, Json, open_theatre

ESTATE = Estate(services={"checkout": Service(errors=0.4)})
ALERT: Json = {
    "status": "firing",
    "labels": {
        "alertname": "CheckoutErrors",
        "severity": "critical",
        "namespace": "shop",
        "service": "checkout",
    },
    "annotations": {"summary": "<b>checkout</b> fails @channel"},
    "startsAt": "2026-12-01T03:00:00Z",
    "endsAt": "0001-01-01T00:00:00Z",
}
ADA = 7


def off(raw: Json) -> None:
    raw["ai_triage"] = False


@pytest.mark.proves("S3-13")
async def test_a_press_in_telegram_redraws_every_card_and_a_room_that_is_off_stays_silent(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with open_theatre(
        playhouse, tmp_path, plant=lambda metrics: plant_estate(metrics, ESTATE), change=off
    ) as theatre:
        telegram = theatre.telegram
        telegram.person(ADA, "Ada")
        await theatre.fire(ALERT)
        await theatre.quiet()
        (card,) = telegram.messages(TELEGRAM_ROOM)
        labels = [key["text"] for key in card.buttons]
        assert labels == ["Investigate", "Take", "Mute 1 h", "Until morning", "Same as…"]
        take = card.buttons[labels.index("Take")]["callback_data"]
        await telegram.presses(TELEGRAM_ROOM, card.id, take, ADA)
        await theatre.until(lambda: bool(telegram.space.answers))
        await theatre.quiet()
        assert telegram.space.answers[0]["text"] == "It is yours; the card says so."
        assert "Ada" in card.text
        assert "Ada" in str(theatre.slack.cards(SLACK_ROOM)[0].blocks)
        await telegram.says(TELEGRAM_ROOM, ADA, "@caveat_bot why does checkout fail?")
        await telegram.says(TELEGRAM_ROOM, ADA, "/status")
        await theatre.until(lambda: len(telegram.messages(TELEGRAM_ROOM)) > 1)
        (said,) = telegram.messages(TELEGRAM_ROOM)[1:]
        assert said.text.startswith("Status")
        assert "investigation off" in said.text
        assert telegram.audible(TELEGRAM_ROOM) == [card]
