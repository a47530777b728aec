"""Takes secrets out of text: first every secret we hold, exactly; then what has a secret's shape.

Digests, SHAs, UUIDs and pod names stay: a model that sees no names cannot reason. Every rule is
linear in the text, whatever the text is. Strip invisible characters before and cut after: a secret
in two halves is no longer found.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote, quote_plus

from engine.secret_shapes import MASK, SHAPES, names_a_secret, without_private_keys

SHORTEST_SECRET = 6
"""Shorter ones would blank ordinary words."""
_SHORTEST_CORE = 6


class Redactor:
    """Masks the secrets of this installation, and what looks like anybody's."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take every secret there is: configured, generated and received."""
        held = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        forms = {form for secret in held for form in _forms(secret) if form not in MASK}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """Mask a text; masking twice changes nothing."""
        for form in self._forms:
            text = text.replace(form, MASK)
        text = without_private_keys(text)
        lower = text.lower()
        for shape in SHAPES:
            text = shape.masked(text, lower)
        return text

    def mapping(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Mask the values, whole where the name says that it is a secret."""
        return {
            name: MASK if value and names_a_secret(name) else self.text(value)
            for name, value in texts.items()
        }


def _forms(secret: str) -> Iterator[str]:
    """Every way a secret is written down."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield escape(secret)
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    for shift in range(3):
        core = _base64_core(secret, shift)
        if len(core) >= _SHORTEST_CORE:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _base64_core(secret: str, shift: int) -> str:
    """What is always there of a secret in base64 that starts `shift` bytes into a group of three.

    So that it is found inside the base64 of something longer, `user:secret` for one.
    """
    bytes_ = b"\0" * shift + secret.encode()
    whole = base64.b64encode(bytes_).decode().rstrip("=")
    unsure = 1 if len(bytes_) % 3 else 0
    return whole[(0, 2, 3)[shift] : len(whole) - unsure]
