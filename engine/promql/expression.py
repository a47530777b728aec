"""An expression read once: its tokens with their roles, shared by everything that judges it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.promql.scan import Role, roles
from engine.promql.tokens import Token, significant


@dataclass(frozen=True)
class Expression:
    """A text and its significant tokens."""

    text: str

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens without spaces and comments."""
        return significant(self.text)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """What each of them does."""
        return roles(self.tokens)

    @cached_property
    def _places(self) -> dict[Role, list[int]]:
        places: dict[Role, list[int]] = defaultdict(list)
        for at, role in enumerate(self.roles):
            places[role].append(at)
        return places

    def places(self, role: Role) -> list[int]:
        """Give the indexes of the tokens of one role, in order."""
        return self._places.get(role, [])

    def having(self, *wanted: Role) -> Iterator[Token]:
        """Give the tokens of these roles, role by role."""
        return (self.tokens[at] for role in wanted for at in self.places(role))

    def regions(self, role: Role) -> Iterator[tuple[int, int]]:
        """Give the index ranges of neighbours of one role; a new opener starts a new range."""
        start = before = -1
        for at in self.places(role):
            if start >= 0 and (at != before + 1 or self.tokens[at].text == "{"):
                yield start, before + 1
                start = at
            start, before = (at if start < 0 else start), at
        if start >= 0:
            yield start, before + 1
