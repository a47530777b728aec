"""What a chat lists as commands, where it has such lists."""

from collections.abc import Sequence

ROOM: Sequence[tuple[str, str]] = (
    ("engage", "Look into a question or an incident"),
    ("ask", "The same as engage"),
    ("status", "What is on, connected, and cannot be seen"),
    ("help", "What can be said here"),
)
PRIVATE: Sequence[tuple[str, str]] = (
    ("start", "Begin, or use a code"),
    ("link", "Tie your account with a code"),
    ("help", "What can be said here"),
)
