"""`caveat review`: what people have to look at."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from engine.model.review import ReviewItem

app = typer.Typer(no_args_is_help=True, help="Findings a person has to look at.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


@app.command("list")
def waiting(
    client: Annotated[str | None, typer.Option(help="only this client's")] = None,
    closed: Annotated[bool, typer.Option(help="closed ones too")] = False,
    config: Config = None,
) -> None:
    """What waits for a verdict, newest first; `caveat verdict` closes it."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(one) for one in await tx.reviews.listed(client, closed=closed)]

    print("\n".join(asyncio.run(run())) or "nothing waits")


def line(item: "ReviewItem") -> str:
    """One item on one line."""
    at = item.opened_at.strftime("%Y-%m-%d %H:%M UTC")
    often = f"  seen {item.seen} times" if item.seen > 1 else ""
    ended = f"  closed by {item.closed_by}" if item.closed_by else ""
    reason = item.reason.replace("_", " ")
    return f"{item.client_id}/{item.number}  {at}  {item.rule}  {reason}{often}{ended}"
