"""The native projection of a stream: each expression once, in the form and on the rows it needs.

Spark evaluates everything here, so that types, casts, nulls and errors are Spark's own:

- an argument, filter or key that can fail on some row is evaluated only on rows that one of its
  queries takes: `sum(100 / x) ... WHERE x <> 0` becomes `CASE WHEN x <> 0 THEN 100 / x END`;
- keys and distinct values are in the form in which Spark groups them: one NaN, one zero, maps
  sorted by key, at any depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.engine.fragments.safety import may_raise, shielded
from weft.plan.time_axis import quote
from weft.query.syntax.reader import read_expression
from weft.query.syntax.writer import write
from weft.spark.arrow import nullable

NORMAL = ("k", "d")
"""Prefixes of what is compared for being equal: keys, and what is counted as distinct."""


@dataclass
class Projection:
    """Expressions over the stream's rows, each computed once, under short names."""

    df: DataFrame
    inner: Mapping[str, str]
    """Spark's names of the types of expressions, and of what they are made of."""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    columns: dict[tuple[str, str], str] = field(default_factory=dict)
    """Of an expression as the query has it, a column that holds it (perhaps on some rows only)."""
    given: dict[str, T.DataType] = field(default_factory=dict)
    """The type that Spark gives each column, which may have fields that are never null."""

    def column(self, prefix: str, sql: str, guards: Sequence[str | None] = ()) -> str:
        """The column that holds an expression, evaluated only where one of the guards is true.

        A guard of None is a query that takes every row.
        """
        text = sql
        if guards and None not in guards and may_raise(read_expression(sql), self.inner.get):
            conditions = [guard for guard in dict.fromkeys(guards) if guard is not None]
            # A guard that can fail keeps its order: Spark takes what occurs twice out of AND.
            shields = [write(shielded(read_expression(g), self.inner.get)) for g in conditions]
            taken = " OR ".join(f"coalesce({shield}, false)" for shield in shields)
            text = f"CASE WHEN {taken} THEN {sql} END"
        name = self.names.setdefault((prefix, text), f"{prefix}{len(self.names)}")
        self.columns.setdefault((prefix, sql), name)
        return name

    def known(self, prefix: str, sql: str) -> str:
        """A column that was asked for before."""
        return self.columns[prefix, sql]

    def types(self) -> dict[str, T.DataType]:
        """The Spark type of every column."""
        columns = [F.expr(sql).alias(name) for (_, sql), name in self.names.items()]
        if not columns:
            return {}
        found = {f.name: f.dataType for f in self.df.select(*columns).schema.fields}
        self.given.update(found)
        return {name: nullable(kind) for name, kind in found.items()}

    def expressions(self, types: dict[str, T.DataType]) -> list[str]:
        """SQL of every column, of these types."""
        made = []
        for (prefix, sql), name in self.names.items():
            text = f"({sql})" if types[name] == self.given[name] else _cast(sql, types[name])
            text = normal_key(text, types[name]) if prefix in NORMAL else text
            made.append(f"{text} AS {name}")
        return made


def normal_key(sql: str, kind: T.DataType, depth: int = 0) -> str:
    """SQL of a value as Spark groups it: every NaN is one, -0.0 is 0.0, maps are sorted by key.

    At any depth.

    >>> normal_key("k", T.StringType())
    'k'
    >>> normal_key("k", T.ArrayType(T.FloatType()))
    "transform(k, e0 -> CASE WHEN isnan(e0) THEN CAST('NaN' AS float) WHEN e0 = 0 THEN ..."
    """
    if isinstance(kind, (T.DoubleType, T.FloatType)):
        name = kind.simpleString()
        return (
            f"CASE WHEN isnan({sql}) THEN CAST('NaN' AS {name}) "
            f"WHEN {sql} = 0 THEN CAST(0 AS {name}) ELSE {sql} END"
        )
    if isinstance(kind, T.MapType):
        key, value = (
            normal_key(f"e{depth}.{part}", inner, depth + 1)
            for part, inner in (("key", kind.keyType), ("value", kind.valueType))
        )
        entries = f"array_sort(map_entries({sql}), {_BY_KEY})"
        return f"map_from_entries(transform({entries}, e{depth} -> struct({key}, {value})))"
    if isinstance(kind, T.ArrayType) and _needs_normal_form(kind):
        inner = normal_key(f"e{depth}", kind.elementType, depth + 1)
        return f"transform({sql}, e{depth} -> {inner})"
    if isinstance(kind, T.StructType) and _needs_normal_form(kind):
        fields = ", ".join(
            f"{_text(part.name)}, {normal_key(f'{sql}.{quote(part.name)}', part.dataType, depth)}"
            for part in kind.fields
        )
        return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({fields}) END"
    return sql


_BY_KEY = "(a, b) -> CASE WHEN a.key < b.key THEN -1 WHEN a.key > b.key THEN 1 ELSE 0 END"


def _needs_normal_form(kind: T.DataType) -> bool:
    """Whether equal values of a type may look different."""
    if isinstance(kind, T.ArrayType):
        return _needs_normal_form(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_needs_normal_form(part.dataType) for part in kind.fields)
    return isinstance(kind, (T.DoubleType, T.FloatType, T.MapType))


def _cast(sql: str, kind: T.DataType) -> str:
    return f"CAST(({sql}) AS {_written(kind)})"


def _written(kind: T.DataType) -> str:
    """A type in SQL; what is not said to be without nulls may have some.

    >>> _written(T.ArrayType(T.StructType([T.StructField("a b", T.IntegerType())])))
    'ARRAY<STRUCT<`a b`: int>>'
    """
    if isinstance(kind, T.StructType):
        fields = (f"{quote(part.name)}: {_written(part.dataType)}" for part in kind.fields)
        return f"STRUCT<{', '.join(fields)}>"
    if isinstance(kind, T.ArrayType):
        return f"ARRAY<{_written(kind.elementType)}>"
    if isinstance(kind, T.MapType):
        return f"MAP<{_written(kind.keyType)}, {_written(kind.valueType)}>"
    return kind.simpleString()


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
