"""Attributes an aggregation error (such as an overflow) to the queries that caused it.

A worker raises the error with the numbers of these queries, so that the driver can continue
without them (`weft.engine.overload.blamed` reads them from the message).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.groups import group_rows
from weft.engine.program import TreeProgram
from weft.engine.shards import FRAGMENT, NumberedPart, flat, merged
from weft.errors import AggregateError, EngineError

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Blamed(EngineError):
    """An error whose message gives the numbers of the queries that caused it."""


def named(queries: Iterable[int], error: Exception) -> Blamed:
    """The error, naming these queries by number.

    >>> str(named([3, 5, 3], AggregateError("sum overflows"))).splitlines()
    ['[weft query 3] sum overflows', '[weft query 5] sum overflows']
    """
    text = " ".join(str(error).split())
    return Blamed("\n".join(f"[weft query {query}] {text}" for query in dict.fromkeys(queries)))


def by_fragment(
    tree: TreeProgram,
    fragments: Int64,
    signature: Callable[[int], int],
    attempt: Callable[[int, NumberedPart, Bools], object],
    error: AggregateError,
) -> Exception:
    """The error, naming the queries that use the part and the fragments in which it occurs.

    The operation that failed for all parts and rows is repeated for each part and the rows of each
    fragment; `signature` gives the predicates that a fragment satisfies.
    """
    queries: list[int] = []
    for at, part in enumerate(tree.schema.parts):
        users = [window for window in tree.services if part.number in window.parts]
        for fragment in np.unique(fragments).tolist():
            try:
                attempt(at, part, fragments == fragment)
            except AggregateError:
                taken = signature(fragment)
                queries += [
                    window.query
                    for window in users
                    if window.predicate is None or taken >> window.predicate & 1
                ]
    return named(queries, error) if queries else error


def merge_blamed(
    tree: TreeProgram,
    table: pa.Table,
    by: Sequence[str],
    signature: Callable[[int], int],
    error: AggregateError,
) -> Exception:
    """An error of merging shards, naming the queries that caused it."""

    def attempt(at: int, part: NumberedPart, rows: Bools) -> object:
        few = table.filter(pa.array(rows)).combine_chunks()
        return merged(few, by, [part], group_rows([flat(few, name) for name in by], few.num_rows))

    return by_fragment(tree, flat(table, FRAGMENT).to_numpy(), signature, attempt, error)
