"""Modals: opened while Slack lets us, filled once it is known what to ask."""

import logging
from enum import StrEnum
from typing import NamedTuple

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.chat import Refused
from bot.chats.slack.errors import asked
from cards.render.slack import Json

log = logging.getLogger(__name__)


class Window(NamedTuple):
    """A modal that is open."""

    id: str
    hash: str
    title: str


class Shut(StrEnum):
    """Why no modal opened."""

    USED = "used"
    """What was pressed opened one before: this is a repeat."""
    LATE = "late"
    """Slack's time for it is over, or nobody knows whether it opened."""


class Windows:
    """Opens and changes modals."""

    def __init__(self, client: AsyncWebClient) -> None:
        """Speak through a client that repeats nothing by itself."""
        self._client = client

    async def open(self, trigger_id: str | None, view: Json) -> Window | Shut:
        """Open a modal; Slack allows one within three seconds of a press."""
        said = await asked(lambda: self._client.views_open(trigger_id=trigger_id or "", view=view))
        if isinstance(said, AsyncSlackResponse):
            shown = said["view"]
            return Window(id=shown["id"], hash=shown["hash"], title=view["title"]["text"])
        if isinstance(said, Refused) and said.reason.startswith("exchanged_trigger_id"):
            return Shut.USED
        log.info("no modal opened: %s", said)
        return Shut.LATE

    async def change(self, window: Window, view: Json) -> bool:
        """Show something else in a modal; False when it was closed or cannot be reached."""
        said = await asked(
            lambda: self._client.views_update(view_id=window.id, hash=window.hash, view=view)
        )
        if isinstance(said, AsyncSlackResponse):
            return True
        log.info("a modal was not changed: %s", said)
        return False
