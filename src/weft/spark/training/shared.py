"""Values by shared work: rows and spine are shuffled by key and combined in Arrow code.

rows   --predicates, arguments, keys: native-->  time, fragment, k0.., c0..
spine  --keys in the same form: native-->  time, k0.., s0.., v0..
both   --shuffled by key, a bucket in a worker (`engine.point_in_time`)-->  s0.., v0.., partials
       --lowered: native-->  s0.., v0.., and the new values
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.algebra.aggregate import Aggregate
from weft.algebra.ops.order import typed
from weft.algebra.part import Part
from weft.algebra.positional import ordered
from weft.algebra.registry import prepared
from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.point_in_time.interval import Interval
from weft.engine.point_in_time.program import FRAGMENT, TIME, LiftedPart, SpineProgram, Target
from weft.engine.point_in_time.values import spine_values
from weft.engine.shards import NumberedPart, flat
from weft.plan.layout import Layout, parts_of
from weft.plan.lower import lowered_outputs
from weft.plan.sql_steps import partials
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.arrow import arrow_type, nullable
from weft.spark.batch.fragments import FRAGMENT as ROW_FRAGMENT
from weft.spark.batch.fragments import fragment_plan, with_fragments
from weft.spark.streaming.projection import Projection, both, is_compared, normal_key
from weft.spark.training.spine import Spine, SpineKey

_SPINE = "spine"
"""The column that distinguishes the spine's rows from the others."""


def with_shared_values(
    spine: Spine,
    keys: Sequence[SpineKey],
    df: DataFrame,
    axis: TimeAxis,
    queries: Sequence[Query],
    types: Mapping[str, str],
    interval: Callable[[Query], Interval],
) -> DataFrame:
    """The spine's frame with the values of queries that have these keys, output by output."""
    layout = SpineLayout.of(queries, axis.quoted, types)
    fragments = fragment_plan(df, layout.predicates)
    projection = Projection(df, dict(types))
    key_columns = [
        projection.column(key.expression, _guards(layout, queries), normal=True) for key in keys
    ]
    kinds = _partial_types(df, layout)
    parts = tuple(
        _lifted(projection, layout, number, part, kinds) for number, part in enumerate(layout.parts)
    )
    targets, places = _targets(layout, interval)
    program = SpineProgram(
        len(keys), parts, targets, fragments if len(layout.predicates) > 1 else None
    )
    lifted = sorted({name for part in parts for name in part.columns})
    rows = _rows(df, axis, fragments, projection, keys, key_columns, lifted)
    asked = _asked(spine, keys)
    both_sides = rows.unionByName(asked, allowMissingColumns=True)
    names = program.key_columns
    bucketed = both_sides.repartition(*names) if names else both_sides.repartition(1)
    carried = spine.frame.schema.fields
    schema = T.StructType(
        [
            *(T.StructField(f.name, nullable(f.dataType), f.nullable, f.metadata) for f in carried),
            *(T.StructField(t.prefix + name, kinds[name]) for t, name in _made(program)),
        ]
    )
    found = bucketed.mapInArrow(SpineWorker(program, tuple(f.name for f in carried)), schema)
    values = [
        sql
        for query, place in zip(queries, places, strict=True)
        for sql in lowered_outputs(replace(layout, prefix=targets[place].prefix), query).values()
    ]
    new = spine.next_values(len(values))
    return found.select(
        *(F.col(f.name) for f in carried),
        *(F.expr(sql).alias(name) for sql, name in zip(values, new, strict=True)),
    )


class SpineLayout(Layout):
    """A layout in which a set of values is stored as its size if only that is needed."""

    @cached_property
    def counted(self) -> frozenset[Part]:
        """The sets whose values no query needs."""
        users: dict[Part, set[str]] = {}
        for call in (call for query in self.queries for call in query.calls):
            for part in parts_of(call, self.types):
                users.setdefault(part, set()).add(call.function)
        return frozenset(part for part, calls in users.items() if calls == {"count_distinct"})

    def answer(self, call: Aggregate) -> str | None:
        """SQL of a call's answer over the part columns."""
        parts = parts_of(call, self.types)
        if self.counted.issuperset(parts):
            return self.columns(parts[0])[0]
        return super().answer(call)


def _made(program: SpineProgram) -> Iterator[tuple[Target, str]]:
    for target in program.targets:
        for number in target.parts:
            for name in program.parts[number].numbered.columns:
                yield target, name


def _partial_types(df: DataFrame, layout: SpineLayout) -> dict[str, T.DataType]:
    """The Spark type of every part column, which is that of Spark's own aggregate."""
    frame = df.agg(*(F.expr(sql).alias(name) for sql, name in partials(layout)))
    kinds = {field.name: nullable(field.dataType) for field in frame.schema.fields}
    sizes = {name: T.LongType() for part in layout.counted for name in layout.columns(part)}
    return kinds | sizes


def _guards(layout: Layout, asking: Sequence[Query], where: str | None = None) -> list[str | None]:
    """The conditions under which an expression of some queries is evaluated, with its filter."""
    if len(layout.predicates) == 1:  # other rows were filtered out
        return [where]
    return [q.predicate if where is None else both(q.predicate, where) for q in asking]


def _lifted(
    projection: Projection,
    layout: SpineLayout,
    number: int,
    part: Part,
    kinds: Mapping[str, T.DataType],
) -> LiftedPart:
    asking = [q for q in layout.queries if part in _parts(layout, q)]
    arguments = tuple(
        projection.column(sql, _guards(layout, asking, part.where), normal=is_compared(part))
        for sql in prepared(part)
    )
    where = projection.column(part.where, _guards(layout, asking)) if part.where else None
    arrow = tuple(arrow_type(kinds[name]) for name in layout.columns(part))
    numbered = NumberedPart(number, part, arrow)
    return LiftedPart(numbered, arguments, where, part in layout.counted)


def _parts(layout: Layout, query: Query) -> list[Part]:
    """A query's parts in the stored form, each once."""
    kept = (ordered(p, by=layout.time) for c in query.calls for p in parts_of(c, layout.types))
    return list(dict.fromkeys(kept))


def _targets(
    layout: Layout, interval: Callable[[Query], Interval]
) -> tuple[tuple[Target, ...], list[int]]:
    """The targets to combine, and the number of each query's target.

    Queries that differ only in their aggregates share a target.
    """
    users: dict[tuple[Interval, int], list[Query]] = {}
    for query in layout.queries:
        place = interval(query), layout.predicates.index(query.predicate)
        users.setdefault(place, []).append(query)
    told_apart = len(layout.predicates) > 1
    targets = tuple(
        Target(
            number=number,
            interval=span,
            predicate=at if told_apart and layout.predicates[at] is not None else None,
            parts=tuple(
                sorted({layout.parts.index(part) for q in some for part in _parts(layout, q)})
            ),
            queries=tuple(q.name for q in some),
        )
        for number, ((span, at), some) in enumerate(users.items())
    )
    numbers = {q.name: number for number, some in enumerate(users.values()) for q in some}
    return targets, [numbers[query.name] for query in layout.queries]


def _rows(
    df: DataFrame,
    axis: TimeAxis,
    fragments: FragmentPlan,
    projection: Projection,
    keys: Sequence[SpineKey],
    key_columns: Sequence[str],
    lifted: Sequence[str],
) -> DataFrame:
    """The rows that satisfy some query: time, fragment, keys, and the arguments of parts."""
    marked = with_fragments(df.where(F.col(axis.quoted).isNotNull()), fragments)
    projected = marked.selectExpr(
        f"{axis.units()} AS {TIME}", f"{ROW_FRAGMENT} AS {FRAGMENT}", *projection.expressions()
    )
    told_apart = len(fragments.predicates) > 1
    return projected.select(
        F.lit(False).alias(_SPINE),
        TIME,
        *([FRAGMENT] if told_apart else []),
        *(
            F.col(name).cast(nullable(key.kind)).alias(f"k{at}")
            for at, (key, name) in enumerate(zip(keys, key_columns, strict=True))
        ),
        *lifted,
    )


def _asked(spine: Spine, keys: Sequence[SpineKey]) -> DataFrame:
    """The spine's rows: the instant, the keys in the form of the rows' keys, and all columns."""
    cast = spine.frame.select(
        F.lit(True).alias(_SPINE),
        F.expr(spine.at.units()).alias(TIME),
        *(
            F.col(key.column).cast(nullable(key.kind)).alias(f"k{at}")
            for at, key in enumerate(keys)
        ),
        *(F.col(name) for name in spine.frame.columns),
    )
    normal = {
        f"k{at}": F.expr(normal_key(f"k{at}", nullable(key.kind))) for at, key in enumerate(keys)
    }
    return cast.withColumns(normal) if normal else cast


@dataclass(frozen=True)
class SpineWorker:
    """The program of a worker; called with the rows and the spine of a bucket of keys."""

    program: SpineProgram
    carried: tuple[str, ...]
    """The spine's own columns, which are passed through."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        apart = self._apart(batches)
        if apart is None:
            return
        rows, spine = apart
        made = self.program.fields
        carried = spine.select(list(self.carried))
        schema = pa.schema([*carried.schema, *made])
        for found in spine_values(rows, spine, self.program):
            some = carried.take(pa.array(found.rows))
            arrays = [flat(some, name) for name in self.carried]
            arrays += [typed(a, f.type) for a, f in zip(found.columns, made, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _apart(self, batches: Iterator[pa.RecordBatch]) -> tuple[pa.Table, pa.Table] | None:
        """The rows and the spine of a bucket, separated; None if it has no spine rows."""
        lifted = {name for part in self.program.parts for name in part.columns}
        lifted |= {FRAGMENT} if self.program.fragments is not None else set()
        shared = [TIME, *self.program.key_columns]
        names = [*shared, *sorted(lifted)], [*shared, *self.carried]
        kept: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = [], []
        schema = None
        for batch in batches:
            schema = batch.schema
            is_spine = batch.column(_SPINE)
            count = pc.sum(is_spine).as_py() or 0
            for side, size in enumerate((batch.num_rows - count, count)):
                if size:
                    some = batch.select(names[side])
                    if size < batch.num_rows:
                        some = some.filter(is_spine if side else pc.invert(is_spine))
                    kept[side].append(some)
        if schema is None or not kept[1]:
            return None
        rows, spine = (
            pa.Table.from_batches(kept[side], pa.schema([schema.field(n) for n in names[side]]))
            for side in (0, 1)
        )
        return rows.combine_chunks(), spine.combine_chunks()
