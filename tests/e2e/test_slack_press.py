"""A press in Slack, through the whole product."""

from pathlib import Path

from storage.embedded import EmbeddedPostgres
from tests.e2e.planted import plant_estate
from tests.e2e.test_telegram_press import ALERT, ESTATE, off
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, open_theatre


async def test_a_press_in_slack_redraws_the_cards_of_both_chats(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with open_theatre(
        playhouse, tmp_path, plant=lambda metrics: plant_estate(metrics, ESTATE), change=off
    ) as theatre:
        slack = theatre.slack
        slack.person("UADA", "Ada")
        await theatre.fire(ALERT)
        await theatre.quiet()
        (card,) = slack.cards(SLACK_ROOM)
        delivery = await slack.people.presses(SLACK_ROOM, card.ts, "Take", "UADA")
        await delivery.acknowledged()
        await theatre.until(lambda: bool(slack.whispers("UADA")))
        await theatre.quiet()
        assert slack.whispers("UADA") == ["It is yours; the card says so."]
        assert "Ada" in str(card.blocks)
        assert "Ada" in theatre.telegram.messages(TELEGRAM_ROOM)[0].text
        await slack.people.commands(SLACK_ROOM, "/caveat", "status", "UADA")
        await theatre.until(lambda: len(slack.whispers("UADA")) == 2)
        assert "investigation off" in str(slack.space.ephemeral[-1]["blocks"])
