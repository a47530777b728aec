"""One send, from rich to plain: a refusal of what was said goes one rung down."""

from collections.abc import Awaitable, Callable

from bot.chats.chat import Refused, SendResult, Shape
from cards.render.links import Allowed


def rungs(links: Allowed, *, plain: bool = False) -> tuple[Shape, ...]:
    """The shapes to try, richest first."""
    last = Shape(plain=True)
    return (last,) if plain else (Shape(links=links), Shape(smaller=True, links=links), last)


async def climb_down(
    shapes: tuple[Shape, ...], send: Callable[[Shape], Awaitable[SendResult]]
) -> tuple[SendResult, Shape, str]:
    """Send in the first shape that is not refused.

    Returns:
        How it ended, in which shape, and why the richer ones were refused.
    """
    refusals: list[str] = []
    *richer, plainest = shapes
    for shape in richer:
        result = await send(shape)
        if not isinstance(result, Refused):
            return result, shape, "; ".join(refusals)
        refusals.append(result.reason)
    return await send(plainest), plainest, "; ".join(refusals)
