"""What a single word is by its shape alone. Every pattern is flat and sees one bounded word."""

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

from engine.groundedness.kinds import Indicator, IndicatorKind
from engine.groundedness.machines import host, pod
from engine.groundedness.vocabulary import (
    ACTIONS,
    ERROR_NAMES,
    FILE_ENDS,
    JUDGED,
    MEASURES,
    PRODUCTS,
    SERIES_ENDS,
    SERIES_STARTS,
    SIGNALS,
    TAINTS,
)

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:sha(?:1|256|512):)?(?:0x)?([0-9a-f]{7,128})", re.IGNORECASE)
_VERSION = re.compile(r"v?\d{1,5}\.\d{1,5}\.\d{1,7}(?:[-+][\w.+-]{1,60})?|v\d{1,5}\.\d{1,5}")
_TAGGED_VERSION = re.compile(r"v\d{1,5}(?:\.\d{1,5}){0,3}-[\w.+-]{1,60}")
_CVE = re.compile(r"CVE-\d{4}-\d{4,7}", re.IGNORECASE)
_TECHNIQUE = re.compile(r"T[A]?\d{4}(?:\.\d{3})?")
_ERROR_ID = re.compile(r"[A-Z]{2,8}-\d{3,6}")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]{1,40}_[A-Z0-9_]{2,60}")
_HUMPS = re.compile(r"[A-Z][A-Za-z0-9]{3,80}")
_WAIT = re.compile(r"[A-Z]\w{1,40}:[A-Z]\w{1,60}")
_SERIES = re.compile(r"[a-z][a-z0-9]*_[a-z0-9_:]{2,200}")
_EMAIL = re.compile(r"[\w.+-]{1,80}@[A-Za-z][\w.-]{1,200}")
_ARN = re.compile(r"arn:[a-z-]{2,20}:[\w:/+=,.@*-]{3,400}")
_DOMAIN_USER = re.compile(r"[A-Za-z][\w.-]{0,29}[\w-]\\[A-Za-z][\w.-]{1,60}\$?")
_LEAST_LOWER = 3


@lru_cache(maxsize=8192)
def by_shape(word: str) -> Indicator | None:
    """Name what a word is; None for the words of ordinary language."""
    for reads in _READERS:
        kind = reads(word)
        if kind is not None:
            return Indicator(kind=kind, text=word)
    return None


def _url(word: str) -> IndicatorKind | None:
    scheme, sep, rest = word.partition("://")
    return IndicatorKind.URL if sep and scheme.isalnum() and rest else None


def address(word: str) -> str | None:
    """Give the canonical spelling of an address, with a port or prefix cut off; None if none."""
    bare = word.partition("/")[0].strip("[]")
    if bare.count(".") == 3:  # noqa: PLR2004 an IPv4 address has three dots
        bare = bare.partition(":")[0]
    elif bare.count(":") < 2:  # noqa: PLR2004 an IPv6 address has at least two colons
        return None
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None


def _ip(word: str) -> IndicatorKind | None:
    return IndicatorKind.IP if address(word) else None


def _id(word: str) -> IndicatorKind | None:
    if _UUID.fullmatch(word):
        return IndicatorKind.UUID
    if _CVE.fullmatch(word):
        return IndicatorKind.CVE
    if _TECHNIQUE.fullmatch(word):
        return IndicatorKind.TECHNIQUE
    if _VERSION.fullmatch(word) or _TAGGED_VERSION.fullmatch(word):
        return IndicatorKind.VERSION
    found = _HEX.fullmatch(word)
    mixed = found and not found[1].isdigit() and any(c.isdigit() for c in found[1])
    return IndicatorKind.HEX if mixed else None


def _account(word: str) -> IndicatorKind | None:
    if "@" in word and _EMAIL.fullmatch(word):
        return IndicatorKind.ACCOUNT
    if word.startswith("system:serviceaccount:") or _ARN.fullmatch(word):
        return IndicatorKind.ACCOUNT
    return IndicatorKind.ACCOUNT if "\\" in word and _DOMAIN_USER.fullmatch(word) else None


def _code(word: str) -> IndicatorKind | None:
    if word in ERROR_NAMES or _ERROR_ID.fullmatch(word):
        return IndicatorKind.CODE
    if word in SIGNALS:
        return IndicatorKind.REASON
    return IndicatorKind.CODE if is_constant(word) else None


def is_constant(word: str) -> bool:
    """Whether a word is in capitals with an underscore."""
    return _CONSTANT.fullmatch(word) is not None


def _humps(word: str) -> IndicatorKind | None:
    if _WAIT.fullmatch(word):
        return IndicatorKind.REASON
    if not _HUMPS.fullmatch(word) or not PRODUCTS.isdisjoint({word, word.removesuffix("s")}):
        return None
    if not _has_humps(word):
        return None
    measures = word.endswith(MEASURES) and not JUDGED.search(word)
    return IndicatorKind.METRIC if measures else IndicatorKind.REASON


def _has_humps(word: str) -> bool:
    lower = sum(c.islower() for c in word)
    upper = sum(c.isupper() for c in word)
    return lower >= _LEAST_LOWER and upper > 1


def _series(word: str) -> IndicatorKind | None:
    if not _SERIES.fullmatch(word):
        return None
    first = word.partition("_")[0]
    if first in ACTIONS:
        return None
    known = word.endswith(SERIES_ENDS) and word.count("_") > 1
    known = known or word.startswith(SERIES_STARTS) or word.endswith("_total")
    return IndicatorKind.METRIC if known or word.count("_") > 2 else None  # noqa: PLR2004


def _image(word: str) -> IndicatorKind | None:
    name, colon, tag = word.rpartition(":")
    if not colon or not name or "/" in tag or tag.isdigit() or not name.islower():
        return None
    if tag in TAINTS:
        return None
    if "@sha256" in name or ("/" in name and "." in name.partition("/")[0]):
        return IndicatorKind.IMAGE
    plain = name.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    tagged = tag == "latest" or _VERSION.fullmatch(tag) or _TAGGED_VERSION.fullmatch(tag)
    return IndicatorKind.IMAGE if plain and tagged else None


def _path(word: str) -> IndicatorKind | None:
    if word[:1] in "/~" and len(word) > 2:  # noqa: PLR2004 a slash and a name
        named = any(c.isalpha() for c in word) and "//" not in word and not word.endswith("$/")
        return IndicatorKind.PATH if named else None
    if word[1:3] == ":\\":
        return IndicatorKind.PATH
    name, _, line = word.partition(":")
    stem, dot, end = name.rpartition(".")
    is_file = (
        dot
        and end in FILE_ENDS
        and not (name[0] == "." and "." in stem[1:] and "/" not in name)
        and stem.replace("/", "").replace("_", "").replace("-", "").replace(".", "").isalnum()
    )
    return IndicatorKind.PATH if is_file and (not line or line.isdigit()) else None


_READERS: tuple[Callable[[str], IndicatorKind | None], ...] = (
    _url,
    _ip,
    _id,
    _account,
    _code,
    _humps,
    _series,
    _image,
    _path,
    pod,
    host,
)
