"""The native projection of a stream: each expression once, in the form and on the rows it needs.

Spark evaluates everything here, so that types, casts, nulls and errors are Spark's own:

- an argument, filter or key that can fail on some row is evaluated only on rows that satisfy one of
  its queries: `sum(100 / x) ... WHERE x <> 0` becomes `CASE WHEN x <> 0 THEN 100 / x END`;
- keys and distinct values are normalised as Spark's grouping does: one NaN, one zero, maps sorted
  by key, at any depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.algebra.part import Part
from weft.engine.fragments.safety import may_raise, shielded
from weft.plan.time_axis import quote
from weft.query.syntax.reader import read_expression
from weft.query.syntax.writer import write
from weft.spark.arrow import nullable
from weft.stream.columns import Column
from weft.stream.places import projected_at


@dataclass
class Projection:
    """Expressions over the stream's rows, each computed once, under short names."""

    df: DataFrame
    inner: dict[str, str]
    """The names of the Spark types of expressions and of their subexpressions."""
    columns: list[Column] = field(default_factory=list)
    held: dict[tuple[str, bool], list[Column]] = field(default_factory=dict)
    """By expression and form, the columns that hold it, possibly only on some rows."""
    given: dict[str, T.DataType] = field(default_factory=dict)
    """The type that Spark gives each column, which may have non-nullable fields."""
    probes: tuple[Column, ...] = ()
    """Unused columns that are evaluated before the others to find out which of them fails."""

    def copy(self) -> Projection:
        """A copy for trying out what else must be projected; both share the types."""
        held = {place: list(columns) for place, columns in self.held.items()}
        return Projection(self.df, self.inner, list(self.columns), held, dict(self.given))

    def column(self, sql: str, guards: Sequence[str | None] = (), *, normal: bool = False) -> str:
        """The column that holds an expression, evaluated only where one of the guards is true.

        A guard of None is a query without a predicate; `normal` is for values that are compared for
        equality: keys, and values that are counted as distinct.
        """
        wanted = None
        if guards and None not in guards and self.may_raise(sql):
            wanted = frozenset(guard for guard in guards if guard is not None)
        form = normal and self._has_forms(sql)
        held = self.held.setdefault((sql, form), [])
        for column in held:
            # A column that is evaluated on more rows will do: queries ignore the other rows.
            if column.guards is None or (wanted is not None and wanted <= column.guards):
                return column.name
        held.append(Column(f"c{len(self.columns)}", sql, wanted, form))
        self.columns.append(held[-1])
        return held[-1].name

    def may_raise(self, sql: str) -> bool:
        """Whether an expression can fail on some row."""
        return may_raise(read_expression(sql), self.inner.get)

    def _has_forms(self, sql: str) -> bool:
        kind = self.inner.get(sql)
        return kind is None or any(sign in kind for sign in ("float", "double", "map<"))

    def known(self, sql: str, *, normal: bool = False) -> str:
        """A column that was requested before."""
        return self.held[sql, normal and self._has_forms(sql)][0].name

    def types(self) -> dict[str, T.DataType]:
        """The Spark type of every column, each analysed once."""
        new = [column for column in self.columns if column.name not in self.given]
        if new:
            frame = self.df.select(*(F.expr(self._guarded(c)).alias(c.name) for c in new))
            self.given.update({f.name: f.dataType for f in frame.schema.fields})
        return {column.name: nullable(self.given[column.name]) for column in self.columns}

    def _guarded(self, column: Column) -> str:
        if column.guards is None:
            return column.sql
        # A guard that can fail keeps its order: Spark moves repeated subexpressions out of AND.
        shields = (shielded(read_expression(g), self.inner.get) for g in sorted(column.guards))
        taken = " OR ".join(f"coalesce({write(shield)}, false)" for shield in shields)
        return f"CASE WHEN {taken} THEN {column.sql} END"

    def expressions(self) -> list[str]:
        """SQL of every column."""
        made = [
            projected_at(number, f"{self._guarded(probe)} AS {probe.name}")
            for number, probe in enumerate(self.probes, start=len(self.columns))
        ]
        types = self.types()
        for number, column in enumerate(self.columns):
            sql, kind = self._guarded(column), types[column.name]
            text = f"({sql})" if kind == self.given[column.name] else _cast(sql, kind)
            text = f"{normal_key(text, kind) if column.normal else text} AS {column.name}"
            made.append(projected_at(number, text) if self.may_raise(column.sql) else text)
        return made


def is_compared(part: Part) -> bool:
    """Whether a part's arguments are compared for equality."""
    return part.kind in ("set", "counts")


def both(guard: str | None, where: str) -> str:
    """A filter that is evaluated only where the guard is true.

    >>> both("x <> 0", "1 / x > 2")
    'CASE WHEN x <> 0 THEN 1 / x > 2 END'
    """
    return where if guard is None else f"CASE WHEN {guard} THEN {where} END"


def normal_key(sql: str, kind: T.DataType, depth: int = 0) -> str:
    """SQL of a value normalised for grouping: one NaN, -0.0 as 0.0, maps sorted by key.

    This applies at any depth.

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
    """Whether equal values of a type may have different representations."""
    if isinstance(kind, T.ArrayType):
        return _needs_normal_form(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_needs_normal_form(part.dataType) for part in kind.fields)
    return isinstance(kind, (T.DoubleType, T.FloatType, T.MapType))


def _cast(sql: str, kind: T.DataType) -> str:
    return f"CAST(({sql}) AS {_written(kind)})"


def _written(kind: T.DataType) -> str:
    """A type in SQL, without NOT NULL, so that everything is nullable.

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
