"""Sessions with and without a maximum from the same slices match their plain definition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.algebra.part import Part
from weft.engine.program import TreeProgram
from weft.engine.query_windows import QueryWindows
from weft.engine.sessions import combine_sessions
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.query.progressions import cleaned
from weft.query.window import Session

PARTS = (
    NumberedPart(0, Part("sum", ("x",)), (pa.int64(),)),
    NumberedPart(1, Part("count"), (pa.int64(),)),
)
BIG = 0
"""The number of the predicate x > 5."""

Row = tuple[int, str, str, int]


def chain(times: list[int], gap: int, maximum: int | None) -> Iterator[tuple[int, int, int]]:
    """The sessions of one group's times: start, last time, end."""
    found: list[list[int]] = []
    for at in sorted(times):
        if not found or at - found[-1][1] > gap:
            found.append([at, at])
        elif at < cap(found[-1][0], maximum):
            found[-1][1] = at
        else:
            found.append([cap(found[-1][0], maximum), at])
    for start, last in found:
        yield start, last, min(last + gap, cap(start, maximum))


def cap(start: int, maximum: int | None) -> int:
    """The first multiple of the maximum that is at least a maximum after the start."""
    return 1 << 62 if maximum is None else -(-start // maximum) * maximum + maximum


def expected(rows: list[Row], session: Session, keys: tuple[int, ...], big: bool) -> list[tuple]:
    mine = [row for row in rows if not big or row[3] > 5]
    groups = sorted({tuple(row[1 + key] for key in keys) for row in mine})
    found = []
    for group in groups:
        own = [row for row in mine if tuple(row[1 + key] for key in keys) == group]
        for first, last, end in chain([row[0] for row in own], session.gap, session.maximum):
            values = [row[3] for row in own if first <= row[0] <= last]
            found.append((first, end, *group, sum(values), len(values)))
    return sorted(found)


def shards_of(rows: list[Row], step: int) -> tuple[pa.Table, np.ndarray]:
    """Shards of rows by slice, keys and size (big or not), and which shards are big."""
    found: dict[tuple, list[Row]] = {}
    for row in rows:
        found.setdefault((row[0] // step, row[1], row[2], row[3] > 5), []).append(row)
    columns = {
        "k0": [key[1] for key in found],
        "k1": [key[2] for key in found],
        "first": [min(row[0] for row in some) for some in found.values()],
        "last": [max(row[0] for row in some) for some in found.values()],
        PARTS[0].columns[0]: [sum(row[3] for row in some) for some in found.values()],
        PARTS[1].columns[0]: [len(some) for some in found.values()],
    }
    return pa.table(columns), np.array([key[3] for key in found])


def lengths(gap: int, times: int | None) -> Session:
    return Session.of_micros(gap, None if times is None else gap + times)


SESSION = st.builds(lengths, st.integers(1, 60), st.none() | st.integers(0, 200))
ASKED = st.tuples(SESSION, st.sampled_from([(0, 1), (0,), ()]), st.booleans())
ROW = st.tuples(
    st.integers(-400, 400), st.sampled_from("ab"), st.sampled_from("cd"), st.integers(0, 9)
)


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=60),
    asked=st.lists(ASKED, min_size=1, max_size=6),
)
@example(
    rows=[(at, "a", "c", 1) for at in range(-100, 100, 3)],
    asked=[(lengths(10, 30), (0,), False), (lengths(10, None), (0,), False)],
)
@example(  # slices of the gap alone would span the ends of sessions
    rows=[(at, "a", "c", 1) for at in range(-100, 100, 3)],
    asked=[(lengths(10, 13), (0,), False), (lengths(30, 11), (), False)],
)
def test_sessions_of_any_gap_and_maximum_are_those_of_the_definition(rows, asked) -> None:
    windows = [
        QueryWindows.of(session, query=at, keys=keys, predicate=BIG if big else None, parts=(0, 1))
        for at, (session, keys, big) in enumerate(asked)
    ]
    edges = cleaned(edge for session, _, _ in asked for edge in session.progressions())
    ((offset, step),) = edges  # the finest slices are cut where all others are
    assert offset == 0
    schema = ShardSchema(tuple(NumberedKey(at, pa.string()) for at in (0, 1)), PARTS)
    tree = TreeProgram(0, schema, edges, (BIG,), None, tuple(windows))
    shards, are_big = shards_of(rows, step)
    found: dict[int, list[tuple]] = {at: [] for at in range(len(asked))}
    for keys in {keys for _, keys, _ in asked}:
        for some in combine_sessions(shards, tree, keys, lambda _: are_big):
            columns = [some.start, some.end, *(key.to_pylist() for key in some.keys)]
            columns += [part[0].to_pylist() for part in some.parts]
            for query in some.asked[0][0]:
                found[query] += [
                    (int(start), int(end), *rest)
                    for start, end, *rest in zip(*columns, strict=True)
                ]
    for at, (session, keys, big) in enumerate(asked):
        assert sorted(found[at]) == expected(rows, session, keys, big), session


def test_a_session_ends_at_the_first_multiple_a_maximum_after_its_first_row() -> None:
    """As Azure documents: a session lasts up to twice the maximum; the next begins at its end."""
    rows = [(at, "a", "c", 1) for at in (-14, -10, -5, -1, 2, 6, 11, 15, 19, 20, 25, 36, 40)]
    mine = expected(rows, Session.of_micros(5, 10), (), False)
    found = [(start, end) for start, end, *_ in mine]
    assert found == [(-14, 0), (0, 10), (10, 20), (20, 30), (36, 45)]
