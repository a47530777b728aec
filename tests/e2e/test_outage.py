"""Our own database goes away and comes back."""

import asyncio
import time
from pathlib import Path

import psycopg
import pytest

from storage.embedded import EmbeddedPostgres
from tests.e2e.scene import Alert
from tests.e2e.theatre import SLACK_ROOM, TELEGRAM_ROOM, Theatre, alertmanager, open_theatre

ALERT = Alert(rule="Late", labels={"namespace": "shop", "service": "checkout"})
BODY = alertmanager([ALERT.body(1, None, None)])


async def close_database(postgres: EmbeddedPostgres, theatre: Theatre, *, closed: bool) -> None:
    """Let nobody in, and throw out who is; or let everybody in again."""
    name = theatre.store.engine.url.database
    dsn = postgres.dsn("postgres")
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as one:
        allowed = "false" if closed else "true"
        await one.execute(f'alter database "{name}" with allow_connections {allowed}')
        if closed:
            out = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
            await one.execute(out, (name,))


@pytest.mark.timeout(90)
async def test_senders_come_again_and_the_rooms_know_while_the_database_is_down(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with open_theatre(playhouse, tmp_path) as theatre:
        await close_database(playhouse, theatre, closed=True)
        begun_s = time.monotonic()
        reply = await theatre.post(BODY)
        assert reply.status_code == 503
        assert time.monotonic() - begun_s < 2.5
        async with asyncio.timeout(10 - (time.monotonic() - begun_s)):
            while not (notices(theatre) and theatre.telegram.messages(TELEGRAM_ROOM)):
                await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        assert len(notices(theatre)) == 1, "one notice, however long it lasts"
        assert len(theatre.telegram.messages(TELEGRAM_ROOM)) == 1

        await close_database(playhouse, theatre, closed=False)
        async with asyncio.timeout(15):
            while (await theatre.post(BODY)).status_code != 202:
                await asyncio.sleep(0.5)
        await theatre.quiet()
        said = [card.text for card in theatre.slack.cards(SLACK_ROOM)]
        assert len(said) == 2
        assert "Late" in said[1]


def notices(theatre: Theatre) -> list[str]:
    """What Slack was told about the database."""
    return [c.text for c in theatre.slack.cards(SLACK_ROOM) if "database" in c.text]
