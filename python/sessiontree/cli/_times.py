"""Times as people write them: ages and dates."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

_DAY = 86_400
_UNITS = {"y": 365 * _DAY, "mo": 30 * _DAY, "w": 7 * _DAY, "d": _DAY, "h": 3_600, "m": 60}
"""Seconds, the greatest unit first."""

WHEN = "2026-01-31, 2026-01-31T12:00 (local time, unless it has a zone) or an age: 90m, 12h, 7d, 2w, 3mo, 1y"
"""What `since` and `until` understand."""


def age(seconds: float) -> str:
    """A time span in its greatest unit: `5m`, `3d`, `2mo`."""
    for name, unit in _UNITS.items():
        if seconds >= unit:
            return f"{int(seconds // unit)}{name}"
    return "now"


def took(seconds: float) -> str:
    """A short time span: `12 ms`, `3.4 s`."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


def local(when: datetime) -> datetime:
    """The moment in local time, without a zone; in UTC where the system cannot tell."""
    with suppress(OverflowError, ValueError, OSError):  # at the calendar's ends, and on Windows before 1970
        when = when.astimezone()
    return when.replace(tzinfo=None)


def since(text: str) -> datetime:
    """A type of argument: a moment, of a date its start."""
    return _moment(text, timedelta())


def until(text: str) -> datetime:
    """A type of argument: a moment, of a date its end."""
    return _moment(text, timedelta(days=1))


def _moment(text: str, of_date: timedelta) -> datetime:
    try:
        ago = re.fullmatch(rf"(\d+)({'|'.join(_UNITS)})", text)
        if ago:
            return datetime.now(UTC) - timedelta(seconds=int(ago[1]) * _UNITS[ago[2]])
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return datetime.fromisoformat(text).astimezone()
        return datetime.combine(day + of_date, time.min).astimezone()  # the zone last: days may have 23 hours
    except (ValueError, OverflowError, OSError) as error:  # the last on Windows, before 1970
        raise argparse.ArgumentTypeError(f"{text!r}: expected {WHEN}") from error
