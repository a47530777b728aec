"""Why a call that should have read the prompt cache did not, and when marking ends."""

from typing import Any

import pytest

from engine.investigation.cache import MISSES, CacheWatch, Seen
from engine.model.llm import Block, ModelRequest, Turn
from engine.model.run import Usage

LONG = "evidence " * 3000
WROTE, READ = Usage(cache_creation_input_tokens=6000), Usage(cache_read_input_tokens=6000)
NOTHING = Usage(input_tokens=6000)


def turn(text: str, *, cache: bool = True) -> Turn:
    return Turn(role="user", blocks=(Block(text=text, cache=cache),))


def request(**changes: Any) -> ModelRequest:
    usual = {
        "model": "m",
        "system": (Block(text="rules", cache=True),),
        "turns": (turn(LONG),),
        "schema_name": "s",
        "reply_schema": {"type": "object"},
        "max_tokens": 10,
    }
    return ModelRequest(**{**usual, **changes})


@pytest.mark.proves("S0-74")
@pytest.mark.parametrize(
    ("before", "after", "usage", "later_s", "cause"),
    [
        ({}, {"turns": (turn(LONG), turn("and?"))}, READ, 60, None),
        ({}, {"system": (Block(text="others"),)}, WROTE, 60, "system changed"),
        ({}, {"reply_schema": {}}, WROTE, 60, "reply_schema changed"),
        ({}, {"turns": (turn("other"),)}, WROTE, 60, "turn 1 changed"),
        ({}, {"max_tokens": 99, "turns": (turn(LONG, cache=False),)}, WROTE, 60, "dropped"),
        ({}, {}, WROTE, 301, "more than 5 minutes"),
        ({}, {}, NOTHING, 60, "says nothing of having cached"),
        ({"turns": (turn("few"),)}, {"turns": (turn("few"),)}, NOTHING, 60, "shorter than"),
    ],
)
def test_a_miss_has_its_likely_cause(
    before: dict[str, Any], after: dict[str, Any], usage: Usage, later_s: float, cause: str | None
) -> None:
    first = NOTHING if usage is NOTHING else WROTE
    second = READ if usage is READ else NOTHING
    said = CacheWatch().saw(
        Seen(request(**before), first, 0), Seen(request(**after), second, later_s)
    )
    assert (said is None) if cause is None else cause in (said or "")


@pytest.mark.parametrize(
    "before", [{"model": "other"}, {"system": (), "turns": (turn(LONG, cache=False),)}]
)
def test_another_model_or_nothing_marked_is_no_miss(before: dict[str, Any]) -> None:
    watch = CacheWatch()
    assert watch.saw(Seen(request(**before), WROTE, 0), Seen(request(), NOTHING, 1)) is None
    assert watch.misses == {}


@pytest.mark.proves("S0-75")
def test_five_misses_in_a_row_end_the_marks_of_that_model_and_a_read_begins_anew() -> None:
    watch, missed = CacheWatch(), Seen(request(), NOTHING, 1)
    for _ in range(MISSES - 1):
        watch.saw(Seen(request(), WROTE, 0), missed)
    watch.saw(Seen(request(), WROTE, 0), Seen(request(), READ, 1))
    for _ in range(MISSES - 1):
        watch.saw(Seen(request(), WROTE, 0), missed)
    assert watch.pays("m")
    watch.saw(Seen(request(), WROTE, 0), missed)
    assert not watch.pays("m")
    assert watch.pays("other")
