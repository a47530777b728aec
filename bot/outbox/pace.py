"""How fast each chat may be written to; one chat that must wait never holds up another."""

from collections import defaultdict, deque
from collections.abc import Mapping

from engine.model.base import Frozen
from engine.model.org import Platform
from storage.outbox import Closed

MINUTE_S = 60.0
SECOND_S = 1.0


class Rate(Frozen):
    """The limits of one platform; None is no limit."""

    gap_s: float = 0
    """Between a message and the next post in a chat."""
    edit_gap_s: float = 0
    """Between an edit and the next one in a chat."""
    posts_per_minute: int | None = None
    """In a group, edits counted."""
    edits_per_minute: int | None = None
    """Edits leave the rest of a group's minute to new cards."""
    per_second: int | None = None
    """In all chats of the platform together."""
    storm_above: int | None = None
    """New cards a minute in a chat before a digest stands for the rest."""


RATES: Mapping[Platform, Rate] = {
    Platform.SLACK: Rate(gap_s=1, edit_gap_s=1.5, storm_above=20),
    Platform.TELEGRAM: Rate(
        gap_s=1,
        edit_gap_s=1,
        posts_per_minute=18,
        edits_per_minute=12,
        per_second=25,
        storm_above=6,
    ),
    Platform.CONSOLE: Rate(),
}


class _Chat:
    """What was lately sent to one chat."""

    def __init__(self) -> None:
        self.posts_at_s = 0.0
        self.edits_at_s = 0.0
        self.lately: deque[float] = deque()


class Pace:
    """When each chat may be written to next, in monotonic seconds."""

    def __init__(self, rates: Mapping[Platform, Rate]) -> None:
        """Keep to `rates`."""
        self._rates = rates
        self._chats: defaultdict[str, _Chat] = defaultdict(_Chat)
        self._paused: dict[Platform, float] = {}
        self._second: defaultdict[Platform, deque[float]] = defaultdict(deque)

    def rate(self, platform: Platform) -> Rate:
        """The limits of a platform."""
        return self._rates.get(platform, Rate())

    def used(self, platform: Platform, chat_key: str, now_s: float, *, edit: bool) -> None:
        """Count a message that was sent."""
        rate, chat = self.rate(platform), self._chats[chat_key]
        chat.posts_at_s = max(chat.posts_at_s, now_s + (0 if edit else rate.gap_s))
        chat.edits_at_s = max(chat.edits_at_s, now_s + (rate.edit_gap_s if edit else rate.gap_s))
        if _is_group(chat_key):
            self._count(chat, rate, now_s)
        second = self._second[platform]
        second.append(now_s)
        while second[0] <= now_s - SECOND_S:
            second.popleft()
        if rate.per_second and len(second) >= rate.per_second:
            self.pause(platform, second[0] + SECOND_S - now_s, now_s)

    def _count(self, chat: _Chat, rate: Rate, now_s: float) -> None:
        lately = chat.lately
        lately.append(now_s)
        while lately[0] <= now_s - MINUTE_S:
            lately.popleft()
        chat.posts_at_s = max(chat.posts_at_s, _room_at_s(lately, rate.posts_per_minute))
        chat.edits_at_s = max(chat.edits_at_s, _room_at_s(lately, rate.edits_per_minute))

    def wait(self, chat_key: str, seconds: float, now_s: float) -> None:
        """Leave one chat alone: its server asked for it."""
        chat = self._chats[chat_key]
        chat.posts_at_s = max(chat.posts_at_s, now_s + seconds)
        chat.edits_at_s = max(chat.edits_at_s, now_s + seconds)

    def pause(self, platform: Platform, seconds: float, now_s: float) -> None:
        """Leave a whole platform alone."""
        self._paused[platform] = max(self._paused.get(platform, 0), now_s + seconds)

    def closed(self, now_s: float, busy: set[str]) -> Closed:
        """What may not be sent to now; `busy` chats are being sent to."""
        posts = {key for key, chat in self._chats.items() if chat.posts_at_s > now_s}
        edits = {key for key, chat in self._chats.items() if chat.edits_at_s > now_s}
        return Closed(
            platforms=tuple(p for p, until_s in self._paused.items() if until_s > now_s),
            posts=tuple(sorted(posts | busy)),
            edits=tuple(sorted(edits | busy)),
        )

    def opens_in_s(self, now_s: float) -> float | None:
        """Seconds until the next chat opens; None when none is closed."""
        times = [t for c in self._chats.values() for t in (c.posts_at_s, c.edits_at_s)]
        later = [t - now_s for t in (*times, *self._paused.values()) if t > now_s]
        return min(later, default=None)


def _is_group(chat_key: str) -> bool:
    """Telegram numbers groups below zero; its private chats have no minute of their own."""
    platform, _, chat = chat_key.partition(":")
    return platform != Platform.TELEGRAM or chat.startswith("-")


def _room_at_s(lately: deque[float], most: int | None) -> float:
    """When a window of a minute has room for one more."""
    return lately[-most] + MINUTE_S if most and len(lately) >= most else 0.0
