"""Modals people have open, and the trigger ids that may open more."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from bot.drill.doubles.slack_names import APP, BOT_ID, TEAM, Json


@dataclass
class View:
    """A modal one person has open."""

    id: str
    user: str
    shown: Json
    """What the app asked to be shown."""
    hash: str

    def wire(self, values: Json | None = None) -> Json:
        """Say it as Slack does."""
        usual: Json = {"private_metadata": "", "callback_id": "", "submit": None, "close": None}
        return {
            **usual,
            "clear_on_close": False,
            "notify_on_close": False,
            "external_id": "",
            **self.shown,
            "id": self.id,
            "team_id": TEAM,
            "state": {"values": values or {}},
            "hash": self.hash,
            "previous_view_id": None,
            "root_view_id": self.id,
            "app_id": APP,
            "app_installed_team_id": TEAM,
            "bot_id": BOT_ID,
        }


@dataclass
class Trigger:
    """What a person did; lets the app open one modal for a moment."""

    user: str
    made_at: datetime
    used: bool = False


class Modals:
    """Open modals, and the trigger ids that may open more."""

    def __init__(self) -> None:
        self.open: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}

    def trigger(self, user: str, now: datetime) -> str:
        """Give the id of something a person did now."""
        name = f"{len(self.triggers) + 1}.{TEAM}.{secrets.token_hex(8)}"
        self.triggers[name] = Trigger(user, now)
        return name

    def of(self, user: str) -> View | None:
        """Give the modal a person has open."""
        return next((view for view in self.open.values() if view.user == user), None)

    def show(self, user: str, shown: Json) -> View:
        """Open a modal over what the person sees."""
        view = View(f"V{secrets.token_hex(5).upper()}", user, shown, _hash())
        self.open[view.id] = view
        return view

    def change(self, view: View, shown: Json) -> None:
        """Show something else in an open modal."""
        view.shown, view.hash = shown, _hash()


def _hash() -> str:
    return f"{secrets.randbelow(10**10)}.{secrets.token_hex(4)}"
