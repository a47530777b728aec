"""`caveat rooms`: chats, and what they are tied to."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from engine.model.org import Room
    from storage.store import SqlTx

app = typer.Typer(no_args_is_help=True, help="Rooms: which chat is tied to which client or team.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


@app.command("list")
def every(config: Config = None) -> None:
    """Every chat in use."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(*one) for one in await tx.rooms.every()]

    none = "none yet; list them in caveat.yaml, or tie a chat with `caveat rooms code`"
    print("\n".join(asyncio.run(run())) or none)


@app.command()
def code(
    client: Annotated[str | None, typer.Option(help="tie the chat to this client")] = None,
    team: Annotated[str | None, typer.Option(help="tie the chat to this team")] = None,
    config: Config = None,
) -> None:
    """Print a code that ties the chat it is sent in."""
    from bot.cli.errors import CommandError
    from bot.cli.link import new_code
    from bot.cli.opened import opened, operator

    if (client is None) == (team is None):
        raise CommandError("name either --client or --team")
    fresh = new_code()

    async def run() -> None:
        async with opened(config) as tx:
            await keep(tx, fresh, client, team, by=operator())

    asyncio.run(run())
    print(fresh)
    print(
        f"Say `/caveat bind {fresh}` in the Slack channel or `/bind {fresh}` in the Telegram room "
        f"within 15 minutes; it is tied to {client or f'team {team}'} from then on. It works once."
    )


@app.command()
def unbind(room: str, config: Config = None) -> None:
    """Let a chat that was tied by a code go."""
    from bot.cli.errors import CommandError
    from bot.cli.opened import opened, operator

    async def run() -> bool:
        async with opened(config) as tx:
            gone = await tx.rooms.unbind(room)
            if gone:
                await tx.audit.append(None, operator(), "room unbound", {"room": room})
            return gone

    if not asyncio.run(run()):
        raise CommandError(f"no room {room!r} was tied by a code; `caveat rooms list` lists them")
    print(f"{room} is tied to nothing any more")


async def keep(tx: "SqlTx", fresh: str, client: str | None, team: str | None, *, by: str) -> None:
    """Keep a code of a client or a team.

    Raises:
        CommandError: there is none of this name.
    """
    from bot.cli.errors import CommandError

    try:
        await tx.rooms.keep_room_code(fresh, client_id=client, team_id=team)
    except LookupError as error:
        raise CommandError(str(error)) from None
    await tx.audit.append(client, by, "room code made", {"client": client, "team": team})


def line(room: "Room", owner: str, broken: str | None) -> str:
    """One room on one line."""
    topic = f" topic {room.topic}" if room.topic else ""
    state = f"  [{broken}]" if broken else ""
    return f"{room.id}  {room.platform} {room.chat}{topic}  {owner}{state}"
