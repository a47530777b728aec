"""What a finding can name that evidence either holds or does not."""

from enum import StrEnum

from engine.model.base import Frozen


class IndicatorKind(StrEnum):
    """The kinds of indicator; the words are the label of a counter."""

    IP = "ip"
    HOST = "host"
    POD = "pod"
    NAMESPACE = "ns"
    SERVICE = "svc"
    IMAGE = "image"
    VERSION = "version"
    HEX = "hex"
    """Hashes, commits, trace and span ids."""
    UUID = "uuid"
    URL = "url"
    PATH = "path"
    ACCOUNT = "account"
    METRIC = "metric"
    REASON = "reason"
    """A state or event by its machine name: `OOMKilled`, `IO:WALWrite`."""
    CODE = "code"
    """Exit, status and error codes."""
    CVE = "cve"
    TECHNIQUE = "technique"
    TIMESTAMP = "ts"
    DURATION = "dur"
    PERCENT = "pct"
    QUANTITY = "qty"
    """An amount, with or without a unit, in figures or in words."""
    PAIR = "kv"
    """A name and its value: `ready=1`."""


class Indicator(Frozen):
    """One concrete thing a text names, as it is spelled there."""

    kind: IndicatorKind
    text: str
    derived: bool = False
    """An estimate, a range or a share: worked out from evidence, so it need not stand in it."""
