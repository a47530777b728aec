"""The chart of an incident, from the alert to both rooms."""

from pathlib import Path

from cards.chart import Picture, Sign
from storage.embedded import EmbeddedPostgres
from tests.e2e.planted import plant_estate
from tests.e2e.play import perform
from tests.e2e.scene import scene
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, open_theatre

PNG = b"\x89PNG\r\n\x1a\n"


async def test_an_incident_has_one_silent_chart_of_what_fired_and_of_the_deploy_before_it(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    drawn: list[Picture] = []

    async def sketch(told: Picture) -> bytes:
        drawn.append(told)
        return PNG + told.title.encode()

    clean = scene("01_clean")
    async with open_theatre(
        playhouse, tmp_path, plant=lambda m: plant_estate(m, clean.estate), draw=sketch
    ) as theatre:
        for act in clean.acts:
            await perform(clean, act, theatre)
        (card,) = theatre.slack.cards(SLACK_ROOM)
        (picture,) = [m for m in theatre.slack.thread(SLACK_ROOM, card.ts) if m.files]
        (photo,) = [m for m in theatre.telegram.messages(TELEGRAM_ROOM) if m.file]
        alt = theatre.slack.space.files[picture.files[0]].alt_text
        left = await theatre.count("select count(*) from dead_letters")
    (told,) = drawn
    assert [one.sign for one in told.uprights] == [Sign.CHANGE, Sign.ONSET, Sign.ALERT]
    assert told.level is not None
    assert told.level.text == "threshold 5%"
    assert "v2.41.0" in alt
    assert alt.startswith("The value behind CheckoutErrors of checkout <1% → ")
    assert "v2.41.0" in photo.text
    assert (photo.silent, photo.reply_to is not None, photo.edits, left) == (True, True, 0, 0)
