"""Names of hosts and pods by their shape."""

import re

from engine.groundedness.kinds import IndicatorKind
from engine.groundedness.vocabulary import DOMAINS, NO_MEMBERS

_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251})[A-Za-z0-9]")
_HYPHENED = re.compile(r"[a-z][a-z0-9.-]{1,250}[a-z0-9]")
_ROLE_HOST = re.compile(
    r"[a-z][a-z0-9-]{0,200}-(?:worker|master|control-plane|controlplane|node|standby)\d{0,4}"
)
_MEMBER = re.compile(r"[a-z][a-z0-9-]{0,200}-\d{1,3}")
_CLOUD_ID = re.compile(r"(?:i|vol|eni|sg|subnet|vpc|ami|snap|igw|nat|rtb|acl)-[0-9a-f]{8,17}")
_NUMBERED_HOST = re.compile(r"(?:ip|host|node|vm|srv|web|db|app|gw|lb|rack)-?\d[\d-]{0,40}[a-z]?")
_POD_HASH = re.compile(r"[a-z0-9]{5,10}")
_POD_END = re.compile(r"[a-z0-9]{5}")
_SECRET_LETTERS = frozenset("bcdfghjklmnpqrstvwxz2456789")
"""What Kubernetes makes random suffixes of: no vowels, no 0, 1 or 3."""
_REGION = re.compile(r"(?:us|eu|ap|sa|ca|me|af|il|asia|europe|australia)-[a-z-]{2,20}-?\d[a-z]?")


def pod(word: str) -> IndicatorKind | None:
    """Recognise what controllers make names of: a template's hash, a random end, an ordinal."""
    if not _HYPHENED.fullmatch(word) or "." in word:
        return None
    head, _, end = word.rpartition("-")
    name, _, middle = head.rpartition("-")
    if name and _POD_HASH.fullmatch(middle) and _is_random(middle):
        return IndicatorKind.POD if _POD_END.fullmatch(end) or _is_random(end) else None
    if head and _POD_END.fullmatch(end) and _is_random(end):
        return IndicatorKind.POD
    ordinal = end.isdigit() and len(end) == 3 and any(c.isdigit() for c in middle)  # noqa: PLR2004
    return IndicatorKind.POD if name and ordinal else None


def _is_random(part: str) -> bool:
    digits = sum(c.isdigit() for c in part)
    if len(part) < 5 or digits == len(part):  # noqa: PLR2004 shorter ones are words
        return False
    return digits > 0 or (_SECRET_LETTERS.issuperset(part) and len(part) > 5)  # noqa: PLR2004


def host(word: str) -> IndicatorKind | None:
    """Recognise a domain name, a numbered machine or one named after its role."""
    name, _, port = word.partition(":")
    if (port and not port.isdigit()) or not _HOST.fullmatch(name):
        return None
    if "." in name:
        labels = name.lower().split(".")
        last = labels[-1] in DOMAINS and all(labels) and any(c.isalpha() for c in labels[0])
        return IndicatorKind.HOST if last and not name.isupper() else None
    if _REGION.fullmatch(name):
        return None
    if _CLOUD_ID.fullmatch(name) or _NUMBERED_HOST.fullmatch(name) or _ROLE_HOST.fullmatch(name):
        return IndicatorKind.HOST
    member = _MEMBER.fullmatch(name) and name.partition("-")[0] not in NO_MEMBERS
    return IndicatorKind.HOST if member else None
