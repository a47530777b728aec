"""A part of a card as a plug-in: one file, one constant, listed in cards/layout.py."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cards.card import Block, Line, Section
from engine.model.base import Frozen
from engine.model.run import CaseFile


class Body(Frozen):
    """What a section says about one case."""

    title: Line = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class CardSection:
    """Where a section stands and how its words are found."""

    name: str
    rank: int
    keep: int
    build: Callable[[CaseFile, datetime], Body | None]
    """None when there is nothing to say."""
    muted: bool = False

    def section(self, case: CaseFile, now: datetime) -> Section | None:
        """Say it about `case`."""
        body = self.build(case, now)
        if body is None or not (body.title or body.blocks):
            return None
        return Section(
            name=self.name,
            title=body.title,
            blocks=body.blocks,
            rank=self.rank,
            keep=self.keep,
            muted=self.muted,
        )
