"""Combines shards into answers in Arrow code, one bucket of keys at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.answer import Combined, DueWindows, combine_groups
from weft.engine.blame import Blamed
from weft.engine.finals.batch.combined import choice
from weft.engine.fragments.fragments import FragmentPlan, distinct_fragments
from weft.engine.program import TreeProgram
from weft.errors import FinalsError
from weft.plan.layout import GroupingSet, Layout
from weft.spark.arrow import arrow_schema

FLUSH = 1 << 16
"""Answers are passed to Spark in batches of about this many rows."""


def finals(
    shards: DataFrame,
    layout: Layout,
    grouping: GroupingSet,
    fragments: FragmentPlan,
    structure: str = "auto",
) -> DataFrame:
    """The combined partials of every window: `target`, `start`, keys, parts.

    Shards are shuffled to the Python workers by key, so that a worker has all slices of its keys;
    Spark decides the number of buckets by the amount of data.
    """
    keys = [f"k{position}" for position in grouping.keys]
    bucketed = shards.repartition(*keys) if keys else shards.coalesce(1)
    schema = T.StructType(
        [
            T.StructField("target", T.IntegerType(), False),
            T.StructField("start", T.LongType(), False),
            *([T.StructField("end", T.LongType(), False)] if layout.has_ends else []),
            *(shards.schema[name] for name in keys),
            # A part is null in the answers of targets that do not need it.
            *(T.StructField(name, shards.schema[name].dataType) for name in layout.part_columns),
        ]
    )
    kept = [name for name in shards.columns if name.startswith(("k", "p"))]
    types = arrow_schema(shards.select(*kept).schema)
    missing = [f"k{at}" for at in range(len(layout.keys)) if f"k{at}" not in kept]
    for name in missing:  # keys that are not in the grouping set
        types = types.append(pa.field(name, pa.null()))
    tree = TreeProgram.of_layout(layout, fragments, types)
    return bucketed.mapInArrow(Finals(tree, grouping.keys, structure), schema)


def final_choices(shards: DataFrame, layout: Layout, structure: str = "auto") -> list[str]:
    """How the slices of each part are combined into answers, and why."""
    if layout.is_session:
        lines = ["sessions by union: those of a gap from those of the next smaller one"]
        if layout.has_maximum:
            lines.append("sessions with a maximum from the slices, one after the other")
        return lines
    arrow = arrow_schema(shards.select(*layout.part_columns).schema)
    asks = max(1, sum(len(grouping.targets) for grouping in layout.grouping_sets))
    found: dict[str, list[str]] = {}
    for part in layout.parts:
        op = bind(part, [arrow.field(name).type for name in layout.columns(part)])
        try:
            chosen = choice(op, asks, structure)
        except FinalsError as error:
            asked = _askers(layout, part)
            raise FinalsError(f"finals={structure!r}: {part} of {asked}: {error}") from None
        found.setdefault(str(chosen), []).append(str(part))
    return [f"finals of {', '.join(parts)} by {chosen}" for chosen, parts in found.items()]


def _askers(layout: Layout, part: Part) -> str:
    at = layout.parts.index(part)
    names = [
        query.name
        for query, (_, target) in zip(layout.queries, layout.places, strict=True)
        if at in layout.needs[target]
    ]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"query {names[0]!r}{more}"


@dataclass(frozen=True)
class Finals:
    """The program of a worker; called with the shards of a bucket, it returns their answers."""

    tree: TreeProgram
    keys: tuple[int, ...]
    structure: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [batch for batch in batches if batch.num_rows]
        if not listed:
            return
        shards = pa.Table.from_batches(listed).combine_chunks()
        lanes = (*self.tree.lanes, *self.tree.uneven)
        dues = [due for lane in lanes if lane.keys == self.keys for due in DueWindows.of(lane)]
        members = Members(shards, self.tree)
        writer = AnswerBatches(self.tree, self.keys, shards.schema)
        parts = {window.query: window.parts for window in self.tree.services}
        try:
            for some in self._combined(shards, dues, members):
                for targets, found in some.each():
                    for target in targets:
                        yield from writer.add(target, parts[target], found)
        except Blamed as error:  # its query numbers have no meaning outside the worker
            raise error.__cause__ or error from None
        yield from writer.flush()

    def _combined(
        self, shards: pa.Table, dues: Sequence[DueWindows], members: Members
    ) -> Iterator[Combined]:
        satisfied = members.satisfied
        if not self.tree.is_session:
            return combine_groups(
                shards, self.tree, self.keys, dues, satisfied, structure=self.structure
            )
        from weft.engine.sessions import combine_sessions

        return combine_sessions(shards, self.tree, self.keys, satisfied)


class Members:
    """Which predicates the fragment of each shard satisfies."""

    def __init__(self, shards: pa.Table, tree: TreeProgram) -> None:
        if tree.predicates:
            assert tree.fragments is not None
            self.number, self.members = distinct_fragments(shards["fragment"], tree.fragments)

    def satisfied(self, predicate: int) -> npt.NDArray[np.bool_]:
        """Whether each shard satisfies a predicate."""
        found: npt.NDArray[np.bool_] = self.members[:, predicate][self.number]
        return found


class AnswerBatches:
    """Collects answers into batches that are large enough to send."""

    def __init__(self, tree: TreeProgram, keys: tuple[int, ...], schema: pa.Schema) -> None:
        self.tree, self.keys = tree, [f"k{number}" for number in keys]
        self.ranges = {window.query: window.range for window in tree.services}
        has_ends = tree.is_session or not all(w.scale.is_even for w in tree.services)
        names = [name for part in tree.schema.parts for name in part.columns]
        self.schema = pa.schema(
            [
                pa.field("target", pa.int32(), False),
                pa.field("start", pa.int64(), False),
                *([pa.field("end", pa.int64(), False)] if has_ends else []),
                *(schema.field(name) for name in self.keys),
                *(schema.field(name).with_nullable(True) for name in names),
            ]
        )
        self.pieces: list[pa.RecordBatch] = []
        self.rows = 0

    def add(self, target: int, parts: tuple[int, ...], found: Combined) -> Iterator[pa.RecordBatch]:
        """Add a target's answers; yields a batch when there are enough."""
        rows = len(found.start)
        arrays = {
            "target": pa.array(np.full(rows, target, dtype=np.int32)),
            "start": pa.array(found.start),
            "end": pa.array(found.start + self.ranges[target] if found.end is None else found.end),
            **dict(zip(self.keys, found.keys, strict=True)),
        }
        for number, columns in zip(parts, found.parts, strict=True):
            arrays.update(zip(self.tree.part(number).columns, columns, strict=True))
        self.pieces.append(
            pa.RecordBatch.from_arrays(
                [
                    arrays[field.name] if field.name in arrays else pa.nulls(rows, field.type)
                    for field in self.schema
                ],
                schema=self.schema,
            )
        )
        self.rows += rows
        if self.rows >= FLUSH:
            yield from self.flush()

    def flush(self) -> Iterator[pa.RecordBatch]:
        """The remaining answers, as one batch."""
        if self.rows:
            yield from pa.Table.from_batches(self.pieces).combine_chunks().to_batches()
        self.pieces, self.rows = [], 0
