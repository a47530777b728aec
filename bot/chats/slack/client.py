"""Slack's client as we want it: it repeats nothing, and reads nothing from the environment."""

from slack_sdk.web.async_client import AsyncWebClient

from bot.config import SlackSettings

TIMEOUT_S = 10


def connect(settings: SlackSettings, *, token: str | None = None) -> AsyncWebClient:
    """Make a client; nothing is asked yet.

    Args:
        settings: where Slack is, and how it is reached.
        token: what it speaks with; None: without.
    """
    client = AsyncWebClient(
        token,
        base_url=settings.base_url.rstrip("/") + "/",
        timeout=TIMEOUT_S,
        retry_handlers=[],
        trust_env_in_session=False,
    )
    client.proxy = settings.proxy  # the library reads the environment where it is given none
    return client


def bot_token(settings: SlackSettings) -> str | None:
    """The bot's own token."""
    return settings.bot_token.get_secret_value() if settings.bot_token else None
