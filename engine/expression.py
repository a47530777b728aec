"""An alert's expression read just far enough to tell what kind of statement it is."""

import re

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`', re.DOTALL)
_NAMED = re.compile(r'__name__\s*=\s*"([^"\\]+)"')
_COMMENT = re.compile(r"#[^\n]*")
_BRACES = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")
_LISTS = re.compile(
    r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)", re.IGNORECASE
)
_NAME = re.compile(r"(?<![\w:])[A-Za-z_:][\w:]*+(?!\s*\()")
_NUMBER = re.compile(r"(?<![\w:])\d[\w.]*")
_KEYWORDS = frozenset(
    {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "atan2"}
    | {"group_left", "group_right", "inf", "nan", "start", "end"}
)
_SPACE = re.compile(r"\s+")


def metrics_of(expression: str) -> frozenset[str]:
    """Names of the metrics an expression reads."""
    named = _NAMED.findall(expression)
    bare = _NUMBER.sub(" ", _LISTS.sub(" ", _bare(expression)))
    return frozenset(n for n in _NAME.findall(bare) if n.lower() not in _KEYWORDS) | set(named)


def _bare(expression: str) -> str:
    """The expression without comments, texts, matchers and ranges."""
    return _BRACES.sub("", _STRING.sub("", _COMMENT.sub("", _STRING.sub('""', expression))))


def shape_of(expression: str) -> str:
    """The expression without texts, matchers, ranges and spaces; what is left is its structure."""
    return _SPACE.sub("", _bare(expression)).lower()


def matchers_of(expression: str) -> str:
    """The expression without spaces, texts kept: to look for one matcher."""
    return _SPACE.sub("", expression)
