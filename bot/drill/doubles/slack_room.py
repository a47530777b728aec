"""A Slack workspace as far as a bot sees it: people, channels, messages, files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.drill.doubles.faults import Now
from bot.drill.doubles.slack_modals import Modals
from bot.drill.doubles.slack_names import APP, BOT_ID, BOT_USER, TEAM, Json


@dataclass
class Message:
    """One message as it stands now."""

    ts: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    user: str = BOT_USER
    thread_ts: str | None = None
    broadcast: bool = False
    metadata: Json | None = None
    reactions: list[tuple[str, str]] = field(default_factory=list)
    """Name and user of each."""
    files: list[str] = field(default_factory=list)
    file_names: list[str] = field(default_factory=list)
    earlier: list["Message"] = field(default_factory=list)
    """What it said before its edits, oldest first."""

    @property
    def is_root(self) -> bool:
        """Whether it stands in the channel itself."""
        return self.thread_ts in (None, self.ts) or self.broadcast

    def wire(self, *, with_metadata: bool = True) -> Json:
        """Say it as the Web API does."""
        said: Json = {"type": "message", "user": self.user, "ts": self.ts, "text": self.text}
        if self.user == BOT_USER:
            said |= {"bot_id": BOT_ID, "app_id": APP, "team": TEAM}
        optional = {
            "blocks": self.blocks,
            "thread_ts": self.thread_ts,
            "metadata": self.metadata if with_metadata else None,
            "files": [
                {"id": file, "name": name}
                for file, name in zip(self.files, self.file_names, strict=True)
            ],
        }
        return said | {key: value for key, value in optional.items() if value}


@dataclass
class Channel:
    """A channel with its messages, oldest first."""

    id: str
    name: str
    members: set[str] = field(default_factory=set)
    is_archived: bool = False
    is_private: bool = False
    messages: dict[str, Message] = field(default_factory=dict)

    creator: str = "U0OWNER"

    def wire(self) -> Json:
        """Say it as the Web API does."""
        return {
            "id": self.id,
            "name": self.name,
            "creator": self.creator,
            "is_channel": True,
            "is_private": self.is_private,
            "is_archived": self.is_archived,
            "is_member": BOT_USER in self.members,
            "num_members": len(self.members),
        }

    def roots(self) -> Iterator[Message]:
        """Go through what stands in the channel itself, oldest first."""
        return (message for message in self.messages.values() if message.is_root)

    def replies(self, ts: str) -> list[Message]:
        """Give what hangs under the message `ts`, oldest first."""
        return [m for m in self.messages.values() if m.thread_ts == ts and m.ts != ts]


@dataclass
class File:
    """A file that was announced, and later uploaded and shared."""

    id: str
    name: str
    length: int
    content: bytes | None = None
    title: str = ""
    alt_text: str = ""


@dataclass
class Answerable:
    """Something a person did, and how many answers it takes."""

    channel: str
    user: str
    left: int = 5


class Workspace:
    """Everything the double knows."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.channels: dict[str, Channel] = {}
        self.people: dict[str, str] = {}
        """Display name by user id."""
        self.profiles: dict[str, Json] = {}
        """What `users.info` says of a person beside the usual, by user id."""
        self.usergroups: dict[str, list[str]] = {}
        """User ids by user group."""
        self.modals = Modals()
        self.tickets: set[str] = set()
        """Socket addresses that were handed out and not used yet."""
        self.socket_url: str | None = None
        self.answerable: dict[str, Answerable] = {}
        """What may still be answered without a token, by the name in its address."""
        self.files: dict[str, File] = {}
        self.ephemeral: list[Json] = []
        self._stamps = count(1)

    def stamp(self) -> str:
        """Make a `ts` no other message has; later ones are greater."""
        return f"{int(self.now().timestamp())}.{next(self._stamps):06d}"

    def find(self, channel: str) -> Channel | None:
        """Find a channel by its id, or by its name with or without a hash."""
        name = channel.removeprefix("#")
        return self.channels.get(channel) or next(
            (each for each in self.channels.values() if each.name == name), None
        )
