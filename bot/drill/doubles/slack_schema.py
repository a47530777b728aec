"""Shapes of JSON with limits, and complaints that point at the fault as Slack's do."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[Any, str], Iterator[str]]
"""Takes a value and its JSON pointer, gives complaints."""


def complain(reason: str, pointer: str) -> str:
    """Say one complaint in Slack's form."""
    return f"{reason} [json-pointer:{pointer}]"


def anything(_value: Any, _pointer: str) -> Iterator[str]:
    """Accept any value."""
    yield from ()


def boolean(value: Any, pointer: str) -> Iterator[str]:
    """Accept true and false."""
    if not isinstance(value, bool):
        yield complain("must provide a boolean", pointer)


def number(value: Any, pointer: str) -> Iterator[str]:
    """Accept a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield complain("must provide a number", pointer)


def string(longest: int, shortest: int = 1) -> Check:
    """Accept text of `shortest` to `longest` characters."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield complain("must provide a string", pointer)
        elif len(value) < shortest:
            yield complain(f"must be more than {shortest - 1} characters", pointer)
        elif len(value) > longest:
            yield complain(f"must be less than {longest + 1} characters", pointer)

    return check


def one_of(*allowed: str) -> Check:
    """Accept one of some words."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if value not in allowed:
            yield complain("must be a valid enum value", pointer)

    return check


def array(item: Check, longest: int, shortest: int = 1) -> Check:
    """Accept a list of `shortest` to `longest` items."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield complain("must provide an array", pointer)
            return
        if len(value) < shortest:
            yield complain(f"no fewer than {shortest} items required", pointer)
        if len(value) > longest:
            yield complain(f"no more than {longest} items allowed", pointer)
        for index, entry in enumerate(value):
            yield from item(entry, f"{pointer}/{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Accept an object of known keys; `type` is checked by whoever chose the shape."""
    known = {**required, **(optional or {})}

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield complain("must provide an object", pointer)
            return
        for key in required.keys() - value.keys():
            yield complain(f"missing required field: {key}", pointer)
        for key in value.keys() - known.keys() - {"type"}:
            yield complain(f"invalid additional property: {key}", pointer)
        for key in sorted(value.keys() & known.keys()):
            yield from known[key](value[key], f"{pointer}/{key}")

    return check


def by_type(shapes: Mapping[str, Check]) -> Check:
    """Accept an object whose `type` chooses its shape."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        kind = str(value.get("type")) if isinstance(value, dict) else None
        if kind is None or kind not in shapes:
            yield complain(f"unsupported type: {kind}", f"{pointer}/type")
        else:
            yield from shapes[kind](value, pointer)

    return check


def every(*checks: Check) -> Check:
    """Accept what all of `checks` accept."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        for each in checks:
            yield from each(value, pointer)

    return check
