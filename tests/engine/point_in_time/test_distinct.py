"""Counts of distinct values in ascending ranges, compared with sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engine.point_in_time.distinct import DistinctCounts

VALUES = st.none() | st.sampled_from("abc")


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.tuples(VALUES, VALUES, st.booleans()), min_size=1, max_size=30), st.data())
def test_counts_are_the_sizes_of_sets(rows, data):
    ends = st.lists(st.integers(0, len(rows)), max_size=12)
    low, high = sorted(data.draw(ends)), sorted(data.draw(ends))
    ranges = [(a, b) for a, b in zip(low, high, strict=False) if a < b]
    first, second = (pa.array([row[at] for row in rows], pa.string()) for at in (0, 1))
    where = np.array([row[2] for row in rows])
    bounds = np.array([a for a, _ in ranges], int), np.array([b for _, b in ranges], int)
    alone = DistinctCounts([first], None).over(*bounds)[0].tolist()
    assert alone == [len({r[0] for r in rows[a:b]} - {None}) for a, b in ranges]
    pairs = DistinctCounts([first, second], where).over(*bounds)[0].tolist()
    assert pairs == [
        len({r[:2] for r in rows[a:b] if r[2] and None not in r[:2]}) for a, b in ranges
    ]
