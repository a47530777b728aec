"""Times as senders write them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?"
    r"\s?(?:([Zz]|UTC|GMT)|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,12})?", re.ASCII)
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From this number on it counts nano-, micro- or milliseconds; seconds would be year 5138."""


class Moment(NamedTuple):
    """A time that was read."""

    at: datetime
    zone_assumed: bool = False
    """No zone was given and UTC was taken."""


def read_time(value: Any) -> Moment | None:
    """Read a time with any zone, any fraction, or as a number since 1970.

    None when it is no time, out of range, or the zero a sender writes for "not set".
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    written = _MOMENT.fullmatch(text)
    moment = _written(written) if written else _counted(text)
    return None if moment is None or _is_zero(moment.at) else moment


def _is_zero(at: datetime) -> bool:
    return at.year == 1 or at == datetime(1970, 1, 1, tzinfo=UTC)


def _written(found: re.Match[str]) -> Moment | None:
    year, month, day, hour, minute, second, fraction, zulu, sign, ahead_h, ahead_min = (
        found.groups()
    )
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    ahead = timedelta(hours=int(ahead_h or 0), minutes=int(ahead_min or 0))
    try:
        local = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), micros, UTC
        )
        at = local + ahead if sign == "-" else local - ahead
    except (ValueError, OverflowError):
        return None
    return Moment(at, zone_assumed=not (zulu or sign))


def _counted(text: str) -> Moment | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    seconds = number / next((unit for least, unit in _UNITS if number >= least), 1.0)
    try:
        return Moment(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def to_the_millisecond(at: datetime) -> datetime:
    """Cut a time to what every interface of a sender can say.

    Alertmanager's webhook gives nanoseconds and its API milliseconds of the same start; an event
    is told by its start, so both must come out equal.
    """
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
