"""A process dies in the middle of a triage; another takes over, and nobody sees it twice."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from bot.drill.doubles.anthropic_replies import Json, Reply
from bot.drill.doubles.faults import ReplyLost
from bot.drill.rehearsal_model import answer as honest
from bot.drill.rehearsal_reading import Reading
from bot.serve import Running
from engine.errors import StoreUnavailableError
from storage.embedded import EmbeddedPostgres
from storage.store import SqlStore, SqlTx
from tests.e2e.moved import move_database
from tests.e2e.planted import plant_estate
from tests.e2e.play import state_of
from tests.e2e.scene import Scene, scenes
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, Theatre, furnished, open_theatre

CLEAN: Scene = next(scene for scene in scenes() if scene.name == "01_clean")
LEASES_OVER_S = 150.0


class Mortal(SqlStore):
    """A store that is cut off at one moment, as that of a killed process is."""

    dead = False

    @asynccontextmanager
    @override
    async def begin(self) -> AsyncIterator[SqlTx]:
        if self.dead:
            raise StoreUnavailableError("killed")
        async with super().begin() as tx:
            yield tx
            if self.dead:
                raise StoreUnavailableError("killed")


async def taken_over(
    postgres: EmbeddedPostgres, home: Path, dies_at: Callable[[Reading], bool]
) -> Theatre:
    """Play the clean scene with a process that dies at a model call and one that takes over."""
    victims: list[Mortal] = []

    def answer(body: Json) -> Reply:
        if victims and dies_at(Reading(body)):
            victims.pop().dead = True
        return honest(body)

    def mortal(store: SqlStore) -> SqlStore:
        victims.append(Mortal(store.engine, b"plays"))
        return victims[0]

    async with open_theatre(
        postgres,
        home,
        answer=answer,
        plant=lambda metrics: plant_estate(metrics, CLEAN.estate),
        through=mortal,
    ) as theatre:
        await theatre.fire(*CLEAN.posted(CLEAN.acts[0], theatre.clock.now()))
        await theatre.quiet()
        theatre.clock.jump(45)
        await move_database(theatre.dsn, theatre.clock.shift)
        await theatre.until(lambda: not victims)
        theatre.clock.jump(45 + LEASES_OVER_S)
        await move_database(theatre.dsn, theatre.clock.shift)
        successor = Running(furnished(theatre.house.settings, theatre.store, theatre.clock))
        async with successor.work(front=False):
            await theatre.quiet()
        return theatre


@pytest.mark.parametrize(
    ("judging", "calls"), [(False, 3), (True, 3)], ids=["in the draft", "in the judgement"]
)
async def test_a_killed_triage_is_finished_by_another_process_on_the_same_card(
    judging: bool, calls: int, playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    theatre = await taken_over(playhouse, tmp_path, lambda r: r.judging is judging)
    states = [state_of(card) for card in theatre.slack.cards(SLACK_ROOM)]
    # The dead process cannot know that it is dead: it may still say its database is away.
    assert [state for state in states if not state.startswith("notice")] == ["verified"]
    telegram = [m.text for m in theatre.telegram.messages(TELEGRAM_ROOM) if m.reply_to is None]
    assert len([text for text in telegram if "database" not in text]) == 1
    assert len(theatre.model.asked) == calls


async def test_a_post_whose_answer_is_lost_is_adopted_and_never_repeated(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with open_theatre(
        playhouse, tmp_path, plant=lambda metrics: plant_estate(metrics, CLEAN.estate)
    ) as theatre:
        theatre.slack.fail_next("chat.postMessage", ReplyLost())
        await theatre.fire(*CLEAN.posted(CLEAN.acts[0], theatre.clock.now()))
        await theatre.jump(45)
        (card,) = theatre.slack.cards(SLACK_ROOM)
        assert state_of(card) == "verified"
        assert card.earlier, "the adopted card is edited, not posted anew"
