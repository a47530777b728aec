"""Times in any spelling are brought to one."""

import pytest

from engine.groundedness.times import moment, span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10:42", ("", "10:42:00")),
        ("10:42Z", ("", "10:42:00")),
        ("10:42z", ("", "10:42:00")),
        ("10:42 Z", None),
        ("25:00", None),
        ("10:42:03.120", ("", "10:42:03.12")),
        ("10:42:03,5Z", ("", "10:42:03.5")),
        ("10:42+02:00", ("", "08:42:00")),
        ("10:42-0230", ("", "13:12:00")),
        ("2026-04-18", ("2026-04-18", "")),
        ("2026/04/18", ("2026-04-18", "")),
        ("2026-04-18T10:42:00Z", ("2026-04-18", "10:42:00")),
        ("2026-04-18_10:42", ("2026-04-18", "10:42:00")),
        ("2026-04-18 10:42+01:00", ("2026-04-18", "09:42:00")),
        ("2026-04-18T23:30:00-01:00", ("2026-04-19", "00:30:00")),
        ("2026-04-18 x", None),
        ("Oct 19 00:13:18", ("10-19", "00:13:18")),
        ("oct 9 00:13", ("10-09", "00:13:00")),
        ("Oct x 00:13", None),
        ("Oct 190 00:13", None),
        ("Oct 19 2026-01-01", None),
        ("Oct 19 x", None),
        ("Foo 19 00:13", None),
        ("2026-02-30", None),
        ("0001-01-01T00:00+05:00", None),
        ("abc", None),
        ("", None),
    ],
)
def test_a_moment_is_its_day_and_its_clock_in_utc(
    text: str, expected: tuple[str, str] | None
) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("15:08-15:12Z", ("15:08Z", "15:12Z")),
        ("15:08Z-15:12", ("15:08Z", "15:12")),
        ("15:08-15:12", ("15:08", "15:12")),
        ("15:08-x", None),
        ("x-15:08", None),
        ("15:08", None),
    ],
)
def test_a_span_has_two_ends_in_one_zone(text: str, ends: tuple[str, str] | None) -> None:
    assert span(text) == ends
