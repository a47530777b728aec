"""`caveat quarantine`: bodies nobody could read, and another try at them."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.door import Door
    from storage.quarantine import Quarantined

app = typer.Typer(no_args_is_help=True, help="Bodies that could not be read.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]
MOST_SHOWN = 100


@app.command("list")
def waiting(config: Config = None) -> None:
    """What waits, newest first."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(one) for one in await tx.quarantine.waiting(limit=MOST_SHOWN)]

    print("\n".join(asyncio.run(run())) or "nothing waits")


@app.command()
def replay(quarantine_id: int, config: Config = None) -> None:
    """Read a body again, as if it came now; after an upgrade, or a source that was set up."""
    from bot.compose import House
    from bot.config import load
    from bot.database import database

    settings = load(config)

    async def run() -> str:
        async with database(settings) as store:
            house = House(settings, store, {})
            try:
                return await replayed(house.door, quarantine_id)
            finally:
                for backends in house.backends.values():
                    await backends.close()

    print(asyncio.run(run()))


async def replayed(door: "Door", quarantine_id: int) -> str:
    """Put a kept body through the door once more, and say what came of it.

    Raises:
        CommandError: there is no such body, it was cut, or it still cannot be read.
    """
    from bot.cli.errors import CommandError
    from bot.declare import source_id
    from bot.sources.source import UnreadableError
    from storage.quarantine import MAX_BODY

    async with door.store.begin() as tx:
        kept = await tx.quarantine.get(quarantine_id)
    if kept is None or kept.client_id is None:
        raise CommandError(f"no body {quarantine_id} waits; `caveat quarantine list` lists them")
    if kept.size > MAX_BODY:
        raise CommandError(
            f"body {quarantine_id} had {kept.size:,} characters and was cut; have it sent again"
        )
    try:
        receipt = await door.take(
            kept.source, source_id(kept.client_id, kept.source), whole(kept.body)
        )
    except UnreadableError as error:
        raise CommandError(f"body {quarantine_id} still cannot be read: {error}") from None
    if receipt.quarantined:
        raise CommandError(f"body {quarantine_id}: {receipt.quarantined} still cannot be read")
    async with door.store.begin() as tx:
        await tx.quarantine.replayed(quarantine_id, await tx.now())
    return f"body {quarantine_id}: {receipt.accepted} accepted"


def whole(body: str) -> bytes:
    """The body a door takes: an alert kept alone gets the envelope it came in."""
    try:
        document = json.loads(body)
    except ValueError:
        return body.encode()
    if isinstance(document, dict) and "alerts" not in document and "startsAt" in document:
        return json.dumps({"version": "4", "alerts": [document]}).encode()
    return body.encode()


def line(kept: "Quarantined") -> str:
    """One body on one line."""
    at = kept.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        f"{kept.id}  {at}  {kept.client_id or '-'}/{kept.source}  seen {kept.seen}  {kept.reason}"
    )
