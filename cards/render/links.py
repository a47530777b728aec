"""Which links may be shown as links: those to listed hosts, and no other."""

from collections.abc import Callable
from urllib.parse import urlsplit

from cards.render.limits import MOST_URL, inert

Allowed = Callable[[str], bool]
"""Whether a URL may be a link."""


def nowhere(url: str) -> bool:
    """No link is a link: the default where no host is listed."""
    del url
    return False


def listed(*hosts: str) -> Allowed:
    """Links over http or https to these hosts only; a name before `@` never passes.

    A host may be given by any URL on it.
    """
    known = frozenset(host_of(host) if "://" in host else host.lower() for host in hosts) - {""}
    return lambda url: host_of(url) in known


def host_of(url: str) -> str:
    """The host a browser would go to; empty for anything that is not a plain web address."""
    if len(url) > MOST_URL or inert(url) != url or any(mark in url for mark in " \\<>\"'|`"):
        return ""
    try:
        parts = urlsplit(url)
        host, named = parts.hostname, parts.username or parts.password
    except ValueError:
        return ""
    return host.lower() if host and named is None and parts.scheme in ("http", "https") else ""
