"""Which rooms a card goes to."""

from collections.abc import Iterable, Mapping, Sequence

from engine.model.org import Platform, Room


def fits(room: Room, labels: Mapping[str, str]) -> bool:
    """Whether an alert with these labels belongs in a room."""
    return all(labels.get(name) == value for name, value in room.match.items())


def route(rooms: Iterable[Room], labels: Mapping[str, str]) -> Sequence[Room]:
    """Choose one room per platform: the first that fits, in the order of the configuration."""
    chosen: dict[Platform, Room] = {}
    for room in rooms:
        if room.platform not in chosen and fits(room, labels):
            chosen[room.platform] = room
    return tuple(chosen.values())
