"""Lowers combined partials to a query's answers, in Arrow, with the plain query's types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra.aggregate import Aggregate
from weft.algebra.ops.order import typed
from weft.engine.answer import Combined
from weft.errors import EngineError

Int64 = npt.NDArray[np.int64]
Partials = tuple[tuple[pa.Array, ...], ...]


@dataclass(frozen=True)
class Lowering:
    """Makes answers from the combined partials of one query.

    Outputs that are a single aggregate call are lowered here. For a query with expressions over
    calls, or with HAVING, `calls` is None: the operator emits its partials, and Spark SQL lowers
    them later.
    """

    name: str
    schema: pa.Schema
    range: int
    calls: tuple[tuple[Aggregate, tuple[int, ...]], ...] | None
    """Each output's call, and the positions of its parts among the query's parts."""

    @property
    def kind(self) -> Hashable:
        """Equal for queries whose answers are lowered in the same way."""
        return self.schema, self.calls

    def __call__(self, found: Combined, spans: Int64 | int | None = None) -> pa.Table:
        """The answers; `spans` are the lengths of the windows, by default the query's range."""
        if self.calls is None:
            columns = [column for part in found.parts for column in part]
            bounds = [found.start, *([] if found.end is None else [found.end])]
            arrays = [*map(pa.array, bounds), *found.keys, *columns]
            return pa.table(
                [a.cast(f.type) for a, f in zip(arrays, self.schema, strict=True)],
                schema=self.schema,
            )
        window = self.schema.field(0).type
        end = found.end
        if end is None:
            end = found.start + (self.range if spans is None else spans)
        edges = [
            pa.array(edge).view(window.field(at).type) for at, edge in enumerate((found.start, end))
        ]
        arrays = [pa.StructArray.from_arrays(edges, fields=list(window))]
        arrays += [typed(key, self.schema.field(at + 1).type) for at, key in enumerate(found.keys)]
        outputs = list(self.schema)[len(arrays) :]
        for (call, places), field in zip(self.calls, outputs, strict=True):
            partials = tuple(found.parts[at] for at in places)
            arrays.append(self._lower(call, partials, field.type))
        return pa.table(arrays, schema=self.schema)

    def _lower(self, call: Aggregate, partials: Partials, type_: pa.DataType) -> pa.Array:
        try:
            lower: Callable[..., pa.Array] = _LOWER.get(call.function, _by_python)
            lowered = lower(call, partials, type_)
            return typed(lowered, type_)
        except pa.ArrowInvalid as error:
            raise EngineError(
                f"query {self.name!r}: {call.function} gave a value that is not {type_}: {error}"
            ) from error


@dataclass(frozen=True)
class Lowerings:
    """The lowerings of all queries of a stream, by number."""

    by_query: dict[int, Lowering]

    @cached_property
    def _kinds(self) -> dict[int, int]:
        """By query, the number of its kind: comparing kinds for every answer would be slow."""
        numbers: dict[Hashable, int] = {}
        return {
            query: numbers.setdefault(lowering.kind, len(numbers))
            for query, lowering in self.by_query.items()
        }

    def only(self, queries: Iterable[int]) -> Lowerings:
        """The lowerings of some queries."""
        return Lowerings({query: self.by_query[query] for query in queries})

    def answers(self, found: Combined) -> Iterator[tuple[tuple[int, ...], pa.Table]]:
        """The answers of every query; those of one kind are lowered together.

        An error names the query that it concerns.
        """
        by_kind: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for place, (queries, _) in enumerate(found.asked):
            for kind in dict.fromkeys(self._kinds[query] for query in queries):
                mine = tuple(query for query in queries if self._kinds[query] == kind)
                by_kind.setdefault(kind, []).append((place, mine))
        for shares in by_kind.values():
            some = found if len(shares) == len(found.asked) else found.only(p for p, _ in shares)
            counts = [count for _, count in some.asked]
            ranges = [self.by_query[queries[0]].range for _, queries in shares]
            try:
                table = self.by_query[shares[0][1][0]](some, np.repeat(ranges, counts))
            except EngineError:
                for (_, queries), (_, own) in zip(shares, some.each(), strict=True):
                    self._lowered(own, queries[0])
                raise
            low = 0
            for (_, queries), count in zip(shares, counts, strict=True):
                yield queries, table.slice(low, count)
                low += count

    def _lowered(self, found: Combined, query: int) -> None:
        try:
            self.by_query[query](found)
        except EngineError as error:
            raise EngineError(f"[weft query {query}] {error}") from error


def _component(index: int) -> Callable[..., pa.Array]:
    return lambda call, partials, type_: partials[0][index]


def _mean(call: Aggregate, partials: Partials, type_: pa.DataType) -> pa.Array:
    total, n = partials[0][0], partials[1][0]
    if not pa.types.is_floating(type_) or pa.types.is_decimal(total.type):
        return _by_python(call, partials, type_)
    divisor = pc.if_else(pc.equal(n, 0), pa.scalar(None, pa.int64()), n)
    # An unsafe cast: a long total past 2**53 is rounded, as in Spark.
    return pc.divide(total.cast(pa.float64(), safe=False), divisor.cast(pa.float64(), safe=False))


def _variance(ddof: int, root: bool) -> Callable[..., pa.Array]:
    def variance(call: Aggregate, partials: Partials, type_: pa.DataType) -> pa.Array:
        n, _, m2 = (c.to_numpy(zero_copy_only=False).astype(np.float64) for c in partials[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            value = m2 / (n - ddof)
            value = np.sqrt(value) if root else value
        return pa.array(value, mask=n <= ddof, from_pandas=False)

    return variance


def to_python(column: pa.Array) -> list[Any]:
    """Values in the form that monoids use: lists and structs as tuples.

    >>> to_python(pa.array([[{"at": 1, "value": "a"}], None]))
    [((1, 'a'),), None]
    """
    values = column.to_pylist()
    return [_tuples(value) for value in values] if pa.types.is_nested(column.type) else values


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_tuples(item) for item in value.values())
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _by_python(call: Aggregate, partials: Partials, type_: pa.DataType) -> pa.Array:
    """The aggregate's own `lower`, answer by answer."""
    rows = [list(zip(*(to_python(column) for column in part), strict=True)) for part in partials]
    values = [call.lower(answer) for answer in zip(*rows, strict=True)]
    try:
        return pa.array(values, type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values).cast(type_, safe=False)


_LOWER: dict[str, Callable[..., pa.Array]] = {
    "count": _component(0),
    "sum": _component(0),
    "min": _component(0),
    "max": _component(0),
    "bool_and": _component(0),
    "bool_or": _component(0),
    "first_at": _component(1),
    "last_at": _component(1),
    "first_valid_at": _component(1),
    "last_valid_at": _component(1),
    "min_by": _component(1),
    "max_by": _component(1),
    "collect_set": _component(0),
    "avg": _mean,
    "try_avg": _mean,
    "var_pop": _variance(0, root=False),
    "var_samp": _variance(1, root=False),
    "stddev_pop": _variance(0, root=True),
    "stddev_samp": _variance(1, root=True),
}
