"""Times as senders write them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.sources.times import read_time, to_the_millisecond

AT = datetime(2026, 11, 30, 19, 49, 2, tzinfo=UTC)
MICRO = AT.replace(microsecond=372693)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-30T19:49:02Z", AT),
        ("2026-11-30T19:49:02.372693Z", MICRO),
        ("2026-11-30T19:49:02.3726934Z", MICRO),
        ("2026-11-30T19:49:02.372693451Z", MICRO),
        ("2026-11-30T19:49:02.37269345+00:00", MICRO),
        ("2026-11-30T19:49:02+0000", AT),
        ("2026-11-30T22:49:02+03:00", AT),
        ("2026-11-30T14:19:02-0530", AT),
        ("2026-11-30 19:49:02 UTC", AT),
        ("2026-11-30t19:49:02z", AT),
        (AT.timestamp(), AT),
        (int(AT.timestamp() * 1e3), AT),
        (int(AT.timestamp() * 1e6), AT),
        (str(int(AT.timestamp()) * 10**9), AT),
    ],
)
def test_a_time_is_read(written: Any, expected: datetime) -> None:
    moment = read_time(written)
    assert moment is not None
    assert moment.at == expected
    assert not moment.zone_assumed


@pytest.mark.parametrize("written", ["2026-11-30T19:49:02", "2026-11-30 19:49:02.000"])
def test_a_time_without_a_zone_is_taken_for_utc(written: str) -> None:
    moment = read_time(written)
    assert moment is not None
    assert (moment.at, moment.zone_assumed) == (AT, True)


@pytest.mark.parametrize(
    "written",
    [
        *("", "now", "2026-13-30T19:49:02Z", "2026-11-30T25:00:00Z", "12345-01-01T00:00:00Z"),
        *("9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+01:00", "1e400", "-5", "٢٠٢٦"),
        *(True, None, [], {}, 10**25, float("inf"), float("nan")),
    ],
)
def test_what_is_no_time_is_none(written: Any) -> None:
    assert read_time(written) is None


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", 0, "0"])
def test_a_zero_means_that_nobody_set_it(written: Any) -> None:
    assert read_time(written) is None


def test_a_start_is_cut_and_not_rounded_to_the_millisecond() -> None:
    assert to_the_millisecond(MICRO.replace(microsecond=372999)).microsecond == 372000
