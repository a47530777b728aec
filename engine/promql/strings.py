"""String literals of PromQL: written, and read back."""

import re

_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = re.compile(r'[\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffd]')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))")
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LAST_CODE_POINT = 0x10FFFF


def quote(value: str) -> str:
    """Write any text as a literal; a lone surrogate, which no server takes, becomes U+FFFD."""
    return f'"{_UNSAFE.sub(_escaped, value)}"'


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if "\ud800" <= char <= "\udfff":
        char = "\ufffd"  # which itself stands in no literal of the server's unless escaped
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def unquote(literal: str) -> str:
    """Read a closed literal of any of the three quotes; an unknown escape stays as it stands."""
    body = literal[1:-1]
    return body if literal.startswith("`") else _ESCAPE.sub(_character, body)


def _character(match: re.Match[str]) -> str:
    x, u, long, octal, single = match.groups()
    if single is not None:
        return _NAMED.get(single, single if single in "\\\"'" else match[0])
    code = int(octal, 8) if octal else int(x or u or long, 16)
    return chr(code) if code <= _LAST_CODE_POINT else match[0]
