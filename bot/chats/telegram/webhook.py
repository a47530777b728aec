"""Being told by Telegram what is new, at an address people outside can reach."""

import hashlib
import logging

from pydantic import SecretStr
from telegram import Bot, WebhookInfo
from telegram.error import TelegramError

from bot.chats.telegram.polling import WANTED
from bot.http.telegram import PATH
from engine.ports import Clock

log = logging.getLogger(__name__)

LOOK_S = 600.0
AGAIN_S = 10.0


def address(public_url: str, secret: SecretStr) -> str:
    """Where Telegram posts; it changes with the secret, which Telegram never tells."""
    mark = hashlib.sha256(secret.get_secret_value().encode()).hexdigest()[:8]
    return f"{public_url.rstrip('/')}{PATH}?v={mark}"


class Webhook:
    """Keeps the webhook set."""

    def __init__(self, bot: Bot, clock: Clock, public_url: str, secret: SecretStr) -> None:
        """Have updates posted to us."""
        self._bot = bot
        self._clock = clock
        self._secret = secret
        self._address = address(public_url, secret)

    async def run(self) -> None:
        """Look after it until cancelled."""
        while True:
            try:
                await self.keep()
                await self._clock.sleep(LOOK_S)
            except TelegramError as error:
                log.warning("the webhook was not set: %s; trying again", type(error).__name__)
                await self._clock.sleep(AGAIN_S)

    async def keep(self) -> None:
        """Set it where it is not as we want it; setting it is limited, so never otherwise."""
        found = await self._bot.get_webhook_info()
        if found.last_error_message:
            log.warning("telegram could not post to us: %s", found.last_error_message)
        if not self._is_set(found):
            await self._bot.set_webhook(
                self._address,
                secret_token=self._secret.get_secret_value(),
                allowed_updates=WANTED,
                drop_pending_updates=False,
            )
            log.info("telegram posts its updates to us now")

    def _is_set(self, found: WebhookInfo) -> bool:
        return found.url == self._address and set(found.allowed_updates) == set(WANTED)
