"""Sessions with a maximum in plain Spark SQL, with which `verify` compares weft's.

    times of a group, sorted --aggregate: the sessions one after the other--> start, last row, end
    rows --join by group, and start <= time <= last row--> rows with their session

Spark has no such window, and a session depends on the one before it, so that `lag` would not do.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.plan.time_axis import TimeAxis
from weft.query.window import Session

_TIME, _KEY, _GROUP, _SESSION = "weft_time", "weft_key", "weft_group", "weft_session"
_NONE = "CAST(array() AS ARRAY<STRUCT<start: BIGINT, last: BIGINT>>)"


def with_sessions(
    rows: DataFrame, axis: TimeAxis, window: Session, keys: Sequence[str]
) -> tuple[DataFrame, Column]:
    """Rows with their session in the group of `keys` (SQL), and the window's column.

    Rows without a time are in no session.
    """
    mine = [f"{_KEY}_{at}" for at in range(len(keys))]
    theirs = [f"{_GROUP}_{at}" for at in range(len(keys))]
    named = {name: F.expr(key) for name, key in zip(mine, keys, strict=True)}
    rows = rows.withColumns({_TIME: F.expr(axis.units()), **named}).where(f"{_TIME} IS NOT NULL")
    groups = rows.groupBy(*mine).agg(F.sort_array(F.collect_set(_TIME)).alias(_TIME))
    found = groups.select(
        *(F.col(name).alias(group) for name, group in zip(mine, theirs, strict=True)),
        F.explode(F.expr(sessions_sql(_TIME, window))).alias(_SESSION),
    )
    same = " AND ".join(
        [
            *(f"{name} <=> {group}" for name, group in zip(mine, theirs, strict=True)),
            f"{_TIME} BETWEEN {_SESSION}.start AND {_SESSION}.last",
        ]
    )
    start, last = f"{_SESSION}.start", f"{_SESSION}.last"
    end = f"least({last} + {window.gap}L, {_cap(start, window)})"
    return rows.join(found, F.expr(same)), F.expr(axis.session(start, end))


def sessions_sql(times: str, window: Session) -> str:
    """SQL of the sessions of sorted times, an array of longs: start and last time of each.

    A time continues the session if it is at most a gap later and before the check that ends the
    session; if it is at most a gap later but after that check, the next session starts there.

    >>> print(sessions_sql("t", Session.of_micros(5, 10)))
    aggregate(t, named_struct('done', ...), (a, t) -> if(t <= a.last + 5L AND t < ...
    """
    done, empty = "array(named_struct('start', a.start, 'last', a.last))", "CAST(NULL AS BIGINT)"
    begun = f"if(a.start IS NULL, a.done, concat(a.done, {done}))"
    return (
        f"aggregate({times}, named_struct('done', {_NONE}, 'start', {empty}, 'last', {empty}), "
        f"(a, t) -> if(t <= a.last + {window.gap}L AND t < {_cap('a.start', window)}, "
        f"named_struct('done', a.done, 'start', a.start, 'last', t), "
        f"named_struct('done', {begun}, 'start', if(t <= a.last + {window.gap}L, "
        f"{_cap('a.start', window)}, t), 'last', t)), "
        f"a -> concat(a.done, {done}))"
    )


def _cap(start: str, window: Session) -> str:
    """SQL of the latest end of a session with this start."""
    return f"({start} + pmod(-{start}, {window.maximum}L) + {window.maximum}L)"
