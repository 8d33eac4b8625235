"""Compares two DataFrames row by row inside Spark, and returns only the differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

RELATIVE = 1e-9
"""The tolerance for floating-point answers, relative to the greater one."""
SAMPLES = 5


@dataclass(frozen=True, eq=False)
class Pair:
    """The answers of two engines to one query.

    `keys` name the columns that identify a row. `scales` name, for a floating-point column, a
    column of `expected` (which is not compared) with the magnitude of its summands: where numbers
    cancel out, the error is relative to that magnitude and not to the result.
    """

    name: str
    keys: Sequence[str]
    expected: DataFrame
    actual: DataFrame
    scales: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """The result of comparing the rows of one query; `ok` if they are equal."""

    name: str
    rows: int
    """The number of rows expected."""
    missing: int
    extra: int
    differing: int
    schema: str = ""
    """The differences in columns, their order or their types; empty if there are none."""
    samples: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all rows and types are equal."""
        return not (self.missing or self.extra or self.differing or self.schema)

    def __str__(self) -> str:
        if self.ok:
            return f"{self.name}: {self.rows:,} rows, equal"
        counts = f"{self.missing:,} missing, {self.extra:,} extra, {self.differing:,} differing"
        lines = [f"{self.name}: {self.rows:,} rows, {counts}"]
        lines += [f"  {self.schema}"] if self.schema else []
        return "\n".join([*lines, *(f"  {sample}" for sample in self.samples)])


def compare(pairs: Sequence[Pair]) -> list[Difference]:
    """Compare every pair in one Spark job, in the order given."""
    schemas = {pair.name: _schema_difference(pair) for pair in pairs}
    comparable = [pair for pair in pairs if not schemas[pair.name]]
    found: dict[str, Row] = {}
    if comparable:
        # Pairs of equal shape are compared in one aggregation, so that the plan stays small.
        shapes: dict[str, list[Pair]] = {}
        for pair in comparable:
            shapes.setdefault(_shape(pair), []).append(pair)
        counted = reduce(DataFrame.unionByName, [_counts(some) for some in shapes.values()])
        for row in counted.collect():
            found[row["name"]] = row
    nothing = Row(rows=0, missing=0, extra=0, differing=0, samples=[])
    differences = []
    for pair in pairs:
        row = found.get(pair.name, nothing)
        differences.append(
            Difference(
                pair.name,
                rows=row["rows"],
                missing=row["missing"],
                extra=row["extra"],
                differing=row["differing"],
                schema=schemas[pair.name],
                samples=tuple(row["samples"]),
            )
        )
    return differences


def _counts(pairs: Sequence[Pair]) -> DataFrame:
    """Counts of rows, missing, extra and differing ones, and samples, for pairs of equal shape."""
    first = pairs[0]
    keys = list(first.keys)
    values = [name for name in first.actual.columns if name not in keys]
    scales = [first.scales.get(name) for name in values]
    both = reduce(
        DataFrame.unionAll,
        [_side(pair, side) for pair in pairs for side in ("expected", "actual")],
    )
    grouped = both.groupBy("name", *(f"k{i}" for i in range(len(keys)))).agg(
        *(
            aggregate
            for side, flag in (("e", "expected"), ("a", "actual"))
            for aggregate in (
                F.expr(f"count_if(side = '{flag}')").alias(f"n{side}"),
                F.expr(f"any_value(vals) FILTER (WHERE side = '{flag}')").alias(side),
                F.expr(f"any_value(scales) FILTER (WHERE side = '{flag}')").alias(f"s{side}"),
            )
        )
    )
    types = [first.actual.schema[name].dataType for name in values]
    same = " AND ".join(
        _same(f"e.v{i}", f"a.v{i}", kind, f"se.v{i}" if scales[i] else None)
        for i, kind in enumerate(types)
    )
    judged = grouped.selectExpr(
        "*",
        "CASE WHEN na = 0 THEN 'missing' WHEN ne = 0 THEN 'extra' WHEN ne > 1 OR na > 1 "
        f"OR NOT ({same or 'true'}) THEN 'differing' END AS verdict",
    )
    # Uses the column names of the first pair: pairs of equal shape may have different names.
    shown = _struct([(f"k{i}", name) for i, name in enumerate(keys)])
    sides = [_struct([(f"{s}.v{i}", name) for i, name in enumerate(values)]) for s in "ea"]
    sample = (
        f"concat(verdict, ' at ', to_json({shown}), ': expected ', "
        f"IF(ne = 0, 'no row', to_json({sides[0]})), ', found ', "
        f"IF(na = 0, 'no row', to_json({sides[1]})))"
    )
    return judged.groupBy("name").agg(
        F.expr("coalesce(sum(ne), 0L)").alias("rows"),
        *(F.expr(f"count_if(verdict = '{v}')").alias(v) for v in VERDICTS),
        F.expr(
            f"slice(collect_list(CASE WHEN verdict IS NOT NULL THEN {sample} END), 1, {SAMPLES})"
        ).alias("samples"),
    )


VERDICTS = ("missing", "extra", "differing")
_PLAIN = {"weft.compared": True}
"""Replaces the metadata of Spark's session columns, with which it would merge touching sessions."""


def _side(pair: Pair, side: str) -> DataFrame:
    values = [name for name in pair.actual.columns if name not in pair.keys]
    frame = pair.expected if side == "expected" else pair.actual
    vals = [F.col(_quoted(name)).alias(f"v{i}") for i, name in enumerate(values)]
    scales = [
        (F.col(_quoted(pair.scales[name])) if name in pair.scales and side == "expected"
         else F.lit(None)).cast("double").alias(f"v{i}")
        for i, name in enumerate(values)
    ]  # fmt: skip
    nothing = F.lit(0).alias("v")
    return frame.select(
        F.lit(pair.name).alias("name"),
        F.lit(side).alias("side"),
        *(F.col(_quoted(n)).alias(f"k{i}", metadata=_PLAIN) for i, n in enumerate(pair.keys)),
        F.struct(*(vals or [nothing])).alias("vals"),
        F.struct(*(scales or [nothing])).alias("scales"),
    )


def _same(a: str, b: str, kind: T.DataType, scale: str | None = None, depth: int = 0) -> str:
    """SQL of whether two values of a type count as the same answer."""
    if isinstance(kind, (T.DoubleType, T.FloatType)):
        bound = f"{RELATIVE} * greatest(abs({a}), abs({b}))"
        if scale:
            bound = f"greatest({bound}, {RELATIVE} * coalesce({scale}, 0D))"
        if isinstance(kind, T.FloatType):
            return f"({a} <=> {b})"  # floats are only copied, never computed with
        return f"({a} <=> {b} OR coalesce(abs({a} - {b}) <= {bound}, false))"
    if isinstance(kind, T.ArrayType) and _floating(kind.elementType):
        x, y = f"x{depth}", f"y{depth}"
        inner = _same(x, y, kind.elementType, None, depth + 1)
        return (
            f"({a} <=> {b} OR coalesce(size({a}) = size({b}) AND "
            f"forall(zip_with({a}, {b}, ({x}, {y}) -> {inner}), s -> s), false))"
        )
    if isinstance(kind, T.StructType) and _floating(kind):
        inner = " AND ".join(
            _same(f"{a}.`{f.name}`", f"{b}.`{f.name}`", f.dataType, None, depth + 1)
            for f in kind.fields
        )
        return f"({a} <=> {b} OR coalesce({inner}, false))"
    return f"({a} <=> {b})"


def _floating(kind: T.DataType) -> bool:
    if isinstance(kind, T.ArrayType):
        return _floating(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_floating(field.dataType) for field in kind.fields)
    return isinstance(kind, T.DoubleType)


def _schema_difference(pair: Pair) -> str:
    hidden = set(pair.scales.values())
    expected = [
        (f.name, f.dataType.simpleString()) for f in pair.expected.schema if f.name not in hidden
    ]
    actual = [(f.name, f.dataType.simpleString()) for f in pair.actual.schema]
    if expected == actual:
        return ""
    return f"columns {_columns(actual)} where {_columns(expected)} are expected"


def _columns(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns)


def _shape(pair: Pair) -> str:
    scaled = [name in pair.scales for name in pair.actual.columns]
    types = [field.dataType.simpleString() for field in pair.actual.schema]
    keys = [name in pair.keys for name in pair.actual.columns]
    return f"{types} {keys} {scaled}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _struct(columns: list[tuple[str, str]]) -> str:
    listed = ", ".join(f"{sql} AS {_quoted(name)}" for sql, name in columns)
    return f"struct({listed or '0 AS nothing'})"
