"""Links: hosts in alerts that cards may not link to."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from bot.cli.checks.line import Line, absent, ok
from bot.config import ClientSettings, Settings
from engine.model.alert import Alert

PART = "links"
MOST = 5


def links(settings: Settings, own: ClientSettings, firing: Iterable[Alert]) -> Line:
    """Compare the hosts alerts link to with those that are listed."""
    unlisted = sorted(_hosts(firing) - _listed(settings, own))
    if not unlisted:
        return ok(PART, "every host that firing alerts link to is listed")
    shown = ", ".join(unlisted[:MOST]) + (
        f" and {len(unlisted) - MOST} more" * (len(unlisted) > MOST)
    )
    cure = f"links: {{hosts: [{', '.join(unlisted[:MOST])}]}} in caveat.yaml, if you trust them"
    return absent(PART, f"not listed: {shown}", cure, "their links are shown as text")


def _hosts(firing: Iterable[Alert]) -> set[str]:
    found: set[str] = set()
    for alert in firing:
        given = [*alert.annotations.values(), alert.generator_url or ""]
        words = (word for text in given for word in text.split())
        found |= {host for word in words if (host := _host(word))}
    return found


def _host(word: str) -> str:
    if not word.startswith(("http://", "https://")):
        return ""
    try:
        return (urlsplit(word).hostname or "").lower()
    except ValueError:
        return ""


def _listed(settings: Settings, own: ClientSettings) -> set[str]:
    backends = (own.prometheus, own.alertmanager, own.loki, own.zabbix)
    public = [backend.public_url for backend in backends if backend is not None]
    given = [*public, settings.http.public_url, *settings.links.hosts]
    return {_host(url) or url.lower() for url in given if url}
