"""Days and months of a time zone in Spark SQL, over microseconds: `weft.query.scale` for Spark.

Nothing here depends on the session's time zone.
"""

from __future__ import annotations

from weft.query.calendar import Calendar
from weft.query.zone import DAY


def number(window: Calendar, units: str) -> str:
    """SQL of the number of the day or month that contains an instant; both are longs.

    >>> number(Calendar(range="1 week"), "t")
    'CAST(CAST(floor((t) / 86400000000BD) AS INT) AS BIGINT)'
    """
    local = units
    if window.zone != "UTC":
        local = f"unix_micros(from_utc_timestamp(timestamp_micros({units}), '{window.zone}'))"
    day = f"CAST(floor(({local}) / {DAY}BD) AS INT)"
    if window.unit == "day":
        return f"CAST({day} AS BIGINT)"
    date = f"date_from_unix_date({day})"
    return f"CAST(year({date}) * 12 + month({date}) - {1970 * 12 + 1} AS BIGINT)"


def time(window: Calendar, counted: str) -> str:
    """SQL of the first instant of the day or month with a given number; both are longs."""
    day = counted
    if window.unit == "month":
        year = f"CAST(floor(({counted}) / 12BD) AS INT) + 1970"
        month = f"CAST(pmod({counted}, 12L) AS INT) + 1"
        day = f"unix_date(make_date({year}, {month}, 1))"
    local = f"({day}) * {DAY}L"
    if window.zone == "UTC":
        return local
    return f"unix_micros(to_utc_timestamp(timestamp_micros({local}), '{window.zone}'))"
