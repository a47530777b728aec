"""Takes secrets out of text: first every secret we hold, exactly; then what has a secret's shape.

Digests, SHAs, UUIDs and pod names stay: a model that sees no names cannot reason. Every rule is
linear in the text, whatever the text is. Strip invisible characters before and cut after: a secret
in two halves is no longer found.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
SHORTEST_SECRET = 6
"""Shorter ones would blank ordinary words."""
_SHORTEST_CORE = 8

_SECRET_NAME = (
    r"(?:passw(?:or)?d|passphrase|pwd|[_-]pass|secret|token|api[_-]?key|access[_-]?key(?![_-]?id)"
    r"|secret[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|account[_-]?key"
    r"|credentials?|authorization|cookie)"
)
_QUOTE = r"""(?:\\{0,4}["'])?"""
_VALUE = (
    r"""(?:\\{0,4}"[^"\\\n]{0,400}\\{0,4}"|'[^'\n]{0,400}'|(?:bearer|basic|token)\s{1,4}"""
    r"""[^\s,;&"'}\\]+|[^\s,;&"'}\\]+)"""
)
_KEY_VALUE = re.compile(
    rf"({_SECRET_NAME}{_QUOTE}\s{{0,4}}(?:=>?|:)\s{{0,4}}){_VALUE}", re.IGNORECASE
)
_KEY = re.compile(rf"{_SECRET_NAME}$", re.IGNORECASE)
_NAMES_AN_OBJECT = frozenset({"secret"})
"""A label of this name holds the name of a Kubernetes Secret, never what is in it."""

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_KEY_VALUE, rf"\1{MASK}"),
    (re.compile(r"\b(bearer\s{1,4})[\w.~+/=-]{16,}", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(basic\s{1,4})(?=[a-z+/]{0,80}[A-Z0-9=])[\w+/]{12,}={0,2}"), rf"\1{MASK}"),
    (re.compile(r"\b(Basic\s{1,4})(?=[a-z+/]{0,80}[A-Z0-9=])[\w+/]{12,}={0,2}"), rf"\1{MASK}"),
    (re.compile(r"(://[^\s/@:?#\"']{0,128}:)[^\s/@?#\"':]{1,256}@"), rf"\1{MASK}@"),
    (re.compile(r"(://)[^\s/@:?#\"']{16,256}@"), rf"\1{MASK}@"),
    (re.compile(r"(/webhooks/[\w.-]{1,64}/)[^\s/?#\"']{6,}"), rf"\1{MASK}"),
    (re.compile(r"(hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/-]{10,}"), rf"\1{MASK}"),
    (re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|npm_)[\w-]{16,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[\w-]{10,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9-])sk-[\w-]{20,}"), MASK),
    (re.compile(r"(?<![A-Za-z0-9])(?:sk|rk)_(?:live|test)_\w{16,}"), MASK),
    (re.compile(r"(?<![\w-])AIza[\w-]{35}(?![\w-])"), MASK),
    (re.compile(r"(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"), MASK),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"), MASK),
)
"""Each starts at a fixed text or where a word begins, and never reads a stretch twice."""

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


class Redactor:
    """Masks the secrets of this installation, and what looks like anybody's."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take every secret there is: configured, generated and received."""
        held = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        forms = {form for secret in held for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """Mask a text; masking twice changes nothing."""
        for form in self._forms:
            text = text.replace(form, MASK)
        text = _without_private_keys(text)
        for rule, mask in _RULES:
            text = rule.sub(mask, text)
        return text

    def mapping(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Mask the values, whole where the name says that it is a secret."""
        return {
            name: MASK if value and _is_secret(name) else self.text(value)
            for name, value in texts.items()
        }


def _is_secret(name: str) -> bool:
    return name.lower() not in _NAMES_AN_OBJECT and bool(_KEY.search(name))


def _without_private_keys(text: str) -> str:
    """Blank private keys; one whose end was cut off goes to the end of the text."""
    kept: list[str] = []
    at = 0
    while begins := _KEY_BEGINS.search(text, at):
        ends = _KEY_ENDS.search(text, begins.end())
        kept += [text[at : begins.start()], MASK]
        at = ends.end() if ends else len(text)
    return "".join([*kept, text[at:]])


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
