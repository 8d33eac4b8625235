"""The spine of a training set: its rows, with their instants and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import EngineError, ExpressionError
from weft.plan.time_axis import TimeAxis
from weft.query.keys import Key
from weft.query.query import Query
from weft.spark.arrow import arrow_type, nullable
from weft.spark.schema import time_axis


@dataclass(frozen=True, eq=False)
class Spine:
    """The rows of a spine, with its columns renamed by position (`s0`, `s1`, ...), then values.

    By position, because the column names of a spine are arbitrary, and two may even be equal.
    """

    frame: DataFrame
    names: tuple[str, ...]
    """The names of its own columns."""
    at: TimeAxis
    """The column of the instants."""
    values: tuple[str, ...] = ()
    """The names of the values added so far."""

    @classmethod
    def of(cls, df: DataFrame, at: str, axis: TimeAxis) -> Spine:
        """A spine whose instants are in column `at`, on the time axis of the rows."""
        if df.isStreaming:
            raise EngineError(
                "the spine is a stream, but a training set is a batch: use spark.read"
            )
        kind = time_axis(df.schema, at, "at").kind
        if kind != axis.kind and {kind, axis.kind} != {"timestamp", "date"}:
            raise EngineError(
                f"at={at!r} of the spine is of kind {kind}, and the time column {axis.column!r} of "
                f"kind {axis.kind}: cast one of them"
            )
        names = tuple(df.columns)
        place = _place(names, at, f"at={at!r}")
        assert place is not None  # the axis was found
        frame = df.toDF(*(f"s{number}" for number in range(len(names))))
        return cls(frame, names, TimeAxis(f"s{place}", kind))

    def with_values(self, frame: DataFrame, names: Sequence[str]) -> Spine:
        """The spine with further values, the last columns of a frame."""
        return replace(self, frame=frame, values=(*self.values, *names))

    def next_values(self, count: int) -> list[str]:
        """The names of the next `count` columns of values."""
        return [f"v{len(self.values) + number}" for number in range(count)]

    def named(self, order: Sequence[str]) -> DataFrame:
        """The rows with the final column names; values are in this order."""
        places = {name: f"v{number}" for number, name in enumerate(self.values)}
        own = [F.col(f"s{number}").alias(name) for number, name in enumerate(self.names)]
        return self.frame.select(*own, *(F.col(places[name]).alias(name) for name in order))

    def check_carried(self) -> None:
        """Refuse columns that Arrow cannot represent, because every spine row passes through it."""
        for name, field in zip(self.names, self.frame.schema.fields, strict=False):
            try:
                arrow_type(field.dataType)
            except PySparkException:
                raise EngineError(
                    f"column {name!r} of the spine is of type {field.dataType.simpleString()}, "
                    f"which Arrow does not hold: cast it, or leave it out and join it afterwards"
                ) from None


@dataclass(frozen=True)
class SpineKey:
    """A key of queries, and the spine's column with its values."""

    expression: str
    column: str
    kind: T.DataType
    """The common type in which both are compared."""


def spine_keys(
    spine: Spine, df: DataFrame, queries: Sequence[Query]
) -> dict[str, tuple[SpineKey, ...]]:
    """For each query, by name, the spine's column for each of its keys."""
    texts = list(dict.fromkeys(key.expression for query in queries for key in query.keys))
    frame = df.select(*(F.expr(sql).alias(f"k{at}") for at, sql in enumerate(texts)))
    fields = frame.schema.fields  # read once, because Spark's analysis is slow
    kinds = {sql: field.dataType for sql, field in zip(texts, fields, strict=True)}
    return {query.name: _keys_of(spine, df, query, kinds) for query in queries}


def _keys_of(
    spine: Spine, df: DataFrame, query: Query, kinds: Mapping[str, T.DataType]
) -> tuple[SpineKey, ...]:
    found = []
    own = spine.frame.schema
    for key in query.keys:
        ours = kinds[key.expression]
        place = _place(spine.names, key.name, f"query {query.name!r}: key {key.name!r}")
        if place is None:
            raise ExpressionError(
                f"query {query.name!r}: the spine has no column {key.name!r}, which is a key of "
                f"the query; it has {', '.join(map(repr, spine.names))}"
            )
        theirs = own[f"s{place}"].dataType
        kind = _common_type(df, ours, theirs)
        if kind is None:
            raise ExpressionError(_mismatch(query, key, ours, theirs))
        found.append(SpineKey(key.expression, f"s{place}", kind))
    return tuple(found)


def _mismatch(query: Query, key: Key, ours: T.DataType, theirs: T.DataType) -> str:
    return (
        f"query {query.name!r}: key {key.name!r} is of type {ours.simpleString()}, and the "
        f"spine's column of type {theirs.simpleString()}: cast one of them"
    )


def _place(names: Sequence[str], name: str, what: str) -> int | None:
    """The position of a column; names are compared without regard to case."""
    places = [at for at, known in enumerate(names) if known.casefold() == name.casefold()]
    if len(places) > 1:
        raise ExpressionError(f"{what}: the spine has {len(places)} columns of this name")
    return places[0] if places else None


def _common_type(df: DataFrame, ours: T.DataType, theirs: T.DataType) -> T.DataType | None:
    """The type in which Spark compares values of two types; None if the user must cast.

    Numbers are compared as numbers. Comparisons for which Spark would parse strings are refused,
    because they fail row by row.
    """
    if nullable(ours) == nullable(theirs):
        return ours
    if not (isinstance(ours, T.NumericType) and isinstance(theirs, T.NumericType)):
        return None
    either = F.coalesce(F.lit(None).cast(ours), F.lit(None).cast(theirs))
    return df.select(either.alias("k")).schema["k"].dataType
