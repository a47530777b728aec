"""The repair call: broken queries in, corrected ones out, outside the conversation."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.fence import fence
from engine.investigation.prompts import prompt
from engine.investigation.reply import object_in
from engine.model.base import Frozen
from engine.model.llm import Block, ModelRequest, Turn
from engine.promql.caps import MAX_CHARACTERS

NAME = "repair"
_ONE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"index": {"type": "integer"}, "query": {"type": "string"}},
    "required": ["index", "query"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"repairs": {"type": "array", "items": _ONE}},
    "required": ["repairs"],
    "additionalProperties": False,
}


class Broken(Frozen):
    """A query that does not parse, and the parser's sentence."""

    query: str
    why: str


def repairing(
    broken: Sequence[Broken], delimiter: str, *, model: str, max_tokens: int
) -> ModelRequest:
    """Ask for the syntax of all of them at once, outside the conversation and unmarked."""
    fields = {str(n): f"{one.query}\n{one.why}" for n, one in enumerate(broken, start=1)}
    told = Block(text=fence(delimiter, fields))
    return ModelRequest(
        model=model,
        system=(Block(text=prompt("repair")),),
        turns=(Turn(role="user", blocks=(told,)),),
        schema_name=NAME,
        reply_schema=SCHEMA,
        max_tokens=max_tokens,
    )


def read_repairs(text: str, asked: int) -> Mapping[int, str] | None:
    """Give the first text for each number that was asked for; None for a reply that is none."""
    found = object_in(text)
    listed = found.get("repairs") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        return None
    said: dict[int, str] = {}
    for one in listed:
        index, query = _pair(one)
        if 1 <= index <= asked and query:
            said.setdefault(index, query)
    return said


def _pair(one: object) -> tuple[int, str]:
    """Read one row; what is no row is no number."""
    if not isinstance(one, dict):
        return 0, ""
    index, query = one.get("index"), one.get("query")
    if not isinstance(index, int) or isinstance(index, bool) or not isinstance(query, str):
        return 0, ""
    return index, query.strip()[: MAX_CHARACTERS + 1]
