"""How updates reach the bot: it asks and waits, or a webhook is told."""

import asyncio
import re
from itertools import count
from urllib.parse import urlsplit

import httpx

from bot.drill.doubles.arguments import nested
from bot.drill.doubles.telegram_words import Json, RefusedError, bad_request

SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
NOT_BY_DEFAULT = {"chat_member", "message_reaction", "message_reaction_count"}
"""Updates that come only to who names them."""


class Updates:
    """The updates that wait, and the way they leave."""

    def __init__(self) -> None:
        self.waiting: list[Json] = []
        self.allowed: list[str] = []
        self.webhook = ""
        self.secret = ""
        self.last_error = ""
        self._ids = count(1)
        self._poll = 0
        self._changed = asyncio.Condition()

    async def push(self, kind: str, content: Json) -> Json | None:
        """Hand an update to the bot; None if it did not ask for this kind."""
        if not self._wants(kind):
            return None
        update = {"update_id": next(self._ids), kind: content}
        await self.push_again(update)
        return update

    async def push_again(self, update: Json) -> None:
        """Deliver an update, maybe not for the first time."""
        if self.webhook and await self._told(update):
            return
        async with self._changed:
            self.waiting.append(update)
            self._changed.notify_all()

    async def get(self, given: Json) -> list[Json]:
        """The method getUpdates: an offset confirms everything below it."""
        if self.webhook:
            reason = "Conflict: can't use getUpdates method while webhook is active; "
            raise RefusedError(409, reason + "use deleteWebhook to delete the webhook first")
        self._poll = poll = self._poll + 1
        if "allowed_updates" in given:
            self.allowed = list(nested(given["allowed_updates"]))
        offset, limit = int(given.get("offset") or 0), int(given.get("limit") or 100)
        async with self._changed:
            self._changed.notify_all()
            self.waiting = [each for each in self.waiting if each["update_id"] >= offset]
            await self._wait(poll, float(given.get("timeout") or 0))
        return self.waiting[:limit]

    async def _wait(self, poll: int, timeout_s: float) -> None:
        """Wait for an update, at most so long; another poll ends this one."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait_for(lambda: self.waiting or poll != self._poll)
        except TimeoutError:
            return
        if poll != self._poll:
            reason = "Conflict: terminated by other getUpdates request; "
            raise RefusedError(409, reason + "make sure that only one bot instance is running")

    def set_webhook(self, given: Json) -> bool:
        """The method setWebhook: https, except on loopback as a local Bot API server allows."""
        url, secret = str(given.get("url") or ""), str(given.get("secret_token") or "")
        parts = urlsplit(url)
        if url and parts.scheme != "https" and parts.hostname != "127.0.0.1":
            raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
        if secret and not SECRET.fullmatch(secret):
            raise bad_request("secret token contains unallowed characters")
        self.webhook, self.secret = url, secret
        if "allowed_updates" in given:
            self.allowed = list(nested(given["allowed_updates"]))
        if given.get("drop_pending_updates") in {True, "true", "True"}:
            self.waiting.clear()
        return True

    def webhook_info(self) -> Json:
        """The method getWebhookInfo."""
        said: Json = {
            "url": self.webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
        }
        optional = {"allowed_updates": self.allowed, "last_error_message": self.last_error}
        return said | {key: value for key, value in optional.items() if value}

    def _wants(self, kind: str) -> bool:
        return kind in self.allowed if self.allowed else kind not in NOT_BY_DEFAULT

    async def _told(self, update: Json) -> bool:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.secret} if self.secret else {}
        certified = self.webhook.startswith("https:")
        async with httpx.AsyncClient(timeout=10, verify=certified) as client:
            try:
                reply = await client.post(self.webhook, json=update, headers=headers)
            except httpx.TransportError as error:
                self.last_error = type(error).__name__
                return False
        if reply.is_error:
            self.last_error = f"Wrong response from the webhook: {reply.status_code}"
        return not reply.is_error
