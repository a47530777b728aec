"""Prompts are text files; code fills their places and words nothing."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "prompts"


@cache
def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def prompt(name: str, **places: str) -> str:
    """Give a prompt with its places filled; what is filled in is never read for places again."""
    parts = _text(name).split("{{")
    filled = [parts[0]]
    for part in parts[1:]:
        place, _, rest = part.partition("}}")
        filled += [places[place], rest]
    return "".join(filled)
