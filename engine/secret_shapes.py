"""What secrets look like when nobody told us about them.

Each shape is found in one pass: it starts at a fixed text or where a word begins, and no stretch
is read twice, so that a megabyte of base64 costs what a megabyte of prose costs.
"""

import re
from typing import NamedTuple

MASK = "[redacted]"


class Shape(NamedTuple):
    """One kind of secret."""

    marks: tuple[str, ...]
    """In lower case; a text with none of them has no such secret and is not searched further."""
    pattern: re.Pattern[str]
    instead: str = MASK

    def masked(self, text: str, lower: str) -> str:
        """The text without secrets of this shape; `lower` is the text in lower case."""
        for mark in self.marks:  # a plain loop: every text of every alert comes through here
            if mark in lower:
                return self.pattern.sub(self.instead, text)
        return text


def _any_case(words: str) -> str:
    """Spell out both cases: five times as fast as the flag, which tries every character."""
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", words)


_NAMED_SO = _any_case(
    r"(?:passw(?:or)?d|passphrase|pwd|_pass|-pass|secret|token|api[_-]?key|access[_-]?key(?![_-]?id)"
    r"|secret[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|account[_-]?key"
    r"|credentials?|authorization|cookie)"
)
_MARKS = ("pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie")
_QUOTE = r"""(?:\\{0,4}["'])?"""
_VALUE = (
    r"""(?:\\{0,4}"[^"\\\n]{0,400}\\{0,4}"|'[^'\n]{0,400}'|(?i:bearer|basic|token)\s{1,4}"""
    r"""[^\s,;&"'}\\]+|["']?[^\s,;&"'}\\]+)"""
)
_KEY_VALUE = re.compile(rf"({_NAMED_SO}{_QUOTE}\s{{0,4}}(?:=>?|:)\s{{0,4}}){_VALUE}")
_NAME = re.compile(rf"{_NAMED_SO}$")
_NAMES_AN_OBJECT = frozenset({"secret"})
"""A label of this name holds the name of a Kubernetes Secret, never what is in it."""


def names_a_secret(name: str) -> bool:
    """Whether a label or field of this name holds a secret, whatever it looks like."""
    return name.lower() not in _NAMES_AN_OBJECT and bool(_NAME.search(name))


_NOT_PROSE = "(?=[a-z._~+/-]{0,80}[A-Z0-9=])"
"""A made-up word has a digit or a capital; `basic authentication` has neither."""


def _after(mark: str, pattern: str, end: str = "") -> Shape:
    """A secret behind something that is kept as group 1."""
    return Shape((mark,), re.compile(pattern), rf"\1{MASK}{end}")


def _word(marks: str, pattern: str) -> Shape:
    """A secret that is told by how the word itself begins."""
    return Shape(tuple(marks.split()), re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})"))


SHAPES: tuple[Shape, ...] = (
    Shape(_MARKS, _KEY_VALUE, rf"\1{MASK}"),
    _after("cookie: ", r"([Cc]ookie: )[^\n]{1,4000}"),
    _after("bearer ", rf"\b([Bb]earer\s{{1,4}}){_NOT_PROSE}[\w.~+/=-]{{16,}}"),
    _after("basic ", rf"\b([Bb]asic\s{{1,4}}){_NOT_PROSE}[\w+/]{{12,}}={{0,2}}"),
    _after("://", r"(://[^\s/@:?#\"']{0,128}:)[^\s/@?#\"']{1,256}@", end="@"),
    _after("://", r"(://)[^\s/@:?#\"']{16,256}@", end="@"),
    _after("/webhooks/", r"(/webhooks/[\w.-]{1,64}/)[^\s/?#\"']{6,}"),
    _after(".slack.com/", r"(hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/-]{10,}"),
    _word("akia asia", r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _word("gh github_pat_ glpat- npm_", r"(?:gh[pousr]_|github_pat_|glpat-|npm_)[\w-]{16,}"),
    _word("xox xapp-", r"(?:xox[a-z]|xapp)-[\w-]{10,}"),
    _word("sk-", r"(?<!-)sk-(?:(?:ant|proj|or|svcacct)-[\w-]{16,}|[A-Za-z0-9]{32,})"),
    _word("_live_ _test_", r"(?:sk|rk|pk)_(?:live|test)_\w{16,}"),
    _word("aiza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
    _word("eyj", r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"),
    Shape((":",), re.compile(r"(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
)
"""Named values, headers, addresses with a password, and tokens whose makers gave them a mark."""

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def without_private_keys(text: str) -> str:
    """Blank private keys; one whose end was cut off goes to the end of the text."""
    kept: list[str] = []
    at = 0
    while begins := _KEY_BEGINS.search(text, at):
        ends = _KEY_ENDS.search(text, begins.end())
        kept += [text[at : begins.start()], MASK]
        at = ends.end() if ends else len(text)
    return "".join([*kept, text[at:]])
