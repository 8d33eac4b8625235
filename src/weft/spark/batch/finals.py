"""Shards to answers in Arrow code, one bucket of keys at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.ops import bind
from weft.algebra.ops.objects import ObjectOp
from weft.algebra.part import Part
from weft.engine.finals.auto import choose
from weft.engine.finals.batch import Answers, Slices, WindowRequest, answer
from weft.engine.fragments.fragments import FragmentPlan
from weft.plan.layout import GroupingSet, Layout
from weft.spark.arrow import arrow_schema

MASKS = 1 << 27
"""Bytes of masks that are held at a time."""
FLUSH = 1 << 16
"""Answers are handed to Spark in batches of about so many rows."""

Int64 = npt.NDArray[np.int64]


def finals(
    shards: DataFrame, layout: Layout, fold: GroupingSet, fragments: FragmentPlan
) -> DataFrame:
    """The combined partials of every window: `target`, `start`, keys, parts.

    Shards go to the Python workers by key, so that a worker has all slices of its keys; Spark
    decides how many buckets there are by how much there is.
    """
    keys = [f"k{position}" for position in fold.keys]
    bucketed = shards.repartition(*keys) if keys else shards.coalesce(1)
    schema = T.StructType(
        [
            T.StructField("target", T.IntegerType(), False),
            T.StructField("start", T.LongType(), False),
            *(shards.schema[name] for name in keys),
            # A part is null in the answers of targets that do not ask for it.
            *(T.StructField(name, shards.schema[name].dataType) for name in layout.part_columns),
        ]
    )
    return bucketed.mapInArrow(Finals.of(layout, fold, fragments), schema)


def final_choices(shards: DataFrame, layout: Layout) -> list[str]:
    """How the slices of each part are combined into answers, and why."""
    arrow = arrow_schema(shards.select(*layout.part_columns).schema)
    asks = max(1, sum(len(fold.targets) for fold in layout.grouping_sets))
    found: dict[str, list[str]] = {}
    for part in layout.parts:
        op = bind(part, [arrow.field(name).type for name in layout.columns(part)])
        numbers = not isinstance(op, ObjectOp)
        choice = choose(op.laws, form="batch", ranges=asks, numbers=numbers)
        found.setdefault(str(choice), []).append(str(part))
    return [f"finals of {', '.join(parts)} by {choice}" for choice, parts in found.items()]


@dataclass(frozen=True)
class Finals:
    """What a worker needs to know; called with the shards of a bucket, it gives their answers."""

    keys: tuple[str, ...]
    parts: tuple[Part, ...]
    columns: tuple[tuple[str, ...], ...]
    """Of each part, its columns."""
    targets: tuple[tuple[int, int, int, int, int], ...]
    """Number, range, slide, phase and predicate."""
    needs: tuple[tuple[int, ...], ...]
    """Of each target, the parts that its queries ask for."""
    fragments: FragmentPlan

    @classmethod
    def of(cls, layout: Layout, fold: GroupingSet, fragments: FragmentPlan) -> Finals:
        """The finals of one fold of a tree."""
        return cls(
            keys=tuple(f"k{position}" for position in fold.keys),
            parts=layout.parts,
            columns=tuple(layout.columns(part) for part in layout.parts),
            targets=tuple(
                (t.number, t.window.range, t.window.slide, t.window.phase, t.predicate)
                for t in fold.targets
            ),
            needs=tuple(layout.needs[target.number] for target in fold.targets),
            fragments=fragments,
        )

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [batch for batch in batches if batch.num_rows]
        if not listed:
            return
        shards = pa.Table.from_batches(listed).combine_chunks()
        code = key_codes([shards[name] for name in self.keys], shards.num_rows)
        start = shards["slice"].to_numpy()
        order = np.lexsort((start, code))
        shards = shards.take(pa.array(order))
        code, start = code[order], start[order]
        parts = [
            (bind(part, [shards.schema.field(name).type for name in names]),
             [shards[name].combine_chunks() for name in names])
            for part, names in zip(self.parts, self.columns, strict=True)
        ]  # fmt: skip
        first = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
        holders = {name: shards[name].combine_chunks().take(pa.array(first)) for name in self.keys}
        writer = Writer(self, shards.schema, holders, code[first])
        slices = Slices(code, start)
        for members, asks in self._asks(shards):
            for found in answer(slices, parts, asks):
                yield from writer.add(members[found.ask], found)
        yield from writer.flush()

    def _asks(self, shards: pa.Table) -> Iterator[tuple[list[int], list[WindowRequest]]]:
        """The targets, some at a time: a mask of the shards for each predicate takes memory."""
        if len(self.fragments.predicates) == 1:
            yield list(range(len(self.targets))), [self._ask(at) for at in range(len(self.targets))]
            return
        number, satisfied = distinct_fragments(shards["fragment"], self.fragments)
        by_predicate: dict[int, list[int]] = {}
        for at, target in enumerate(self.targets):
            by_predicate.setdefault(target[4], []).append(at)
        predicates = list(by_predicate)
        step = max(1, MASKS // len(number))
        for low in range(0, len(predicates), step):
            members: list[int] = []
            asks: list[WindowRequest] = []
            for predicate in predicates[low : low + step]:
                mask = satisfied[:, predicate][number]
                members += by_predicate[predicate]
                asks += [self._ask(at, mask) for at in by_predicate[predicate]]
            yield members, asks

    def _ask(self, at: int, mask: npt.NDArray[np.bool_] | None = None) -> WindowRequest:
        _, range, slide, phase, _ = self.targets[at]
        return WindowRequest(
            range=range, slide=slide, offset=phase, parts=self.needs[at], rows=mask
        )


def distinct_fragments(
    column: pa.ChunkedArray, plan: FragmentPlan
) -> tuple[Int64, npt.NDArray[np.bool_]]:
    """Each row's fragment by number, and of each fragment the predicates that it satisfies."""
    codes = column.combine_chunks()
    if not pa.types.is_struct(codes.type):
        distinct, number = np.unique(codes.to_numpy(), return_inverse=True)
        return number, plan.members((distinct,))
    words = [word.to_numpy() for word in codes.flatten()]
    whole = np.ascontiguousarray(np.stack(words, axis=1)).view(np.dtype((np.void, 8 * len(words))))
    _, first, number = np.unique(whole.ravel(), return_index=True, return_inverse=True)
    return number, plan.members(tuple(word[first] for word in words))


class Writer:
    """Answers gathered into batches worth sending."""

    def __init__(
        self, finals: Finals, schema: pa.Schema, holders: dict[str, pa.Array], codes: Int64
    ) -> None:
        self.finals, self.holders, self.codes = finals, holders, codes
        names = [name for columns in finals.columns for name in columns]
        self.schema = pa.schema(
            [
                pa.field("target", pa.int32(), False),
                pa.field("start", pa.int64(), False),
                *(schema.field(name) for name in finals.keys),
                *(schema.field(name).with_nullable(True) for name in names),
            ]
        )
        self.pieces: list[pa.RecordBatch] = []
        self.rows = 0

    def add(self, target: int, found: Answers) -> Iterator[pa.RecordBatch]:
        """Take a target's answers in; give a batch when there is enough."""
        rows = len(found)
        key = pa.array(np.searchsorted(self.codes, found.key))
        arrays = {
            "target": pa.array(np.full(rows, self.finals.targets[target][0], dtype=np.int32)),
            "start": pa.array(found.start),
            **{name: holder.take(key) for name, holder in self.holders.items()},
        }
        for part, columns in zip(self.finals.needs[target], found.parts, strict=True):
            arrays.update(zip(self.finals.columns[part], columns, strict=True))
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
        """What is left, as one batch."""
        if self.rows:
            yield from pa.Table.from_batches(self.pieces).combine_chunks().to_batches()
        self.pieces, self.rows = [], 0


def key_codes(columns: list[pa.ChunkedArray], rows: int) -> Int64:
    """A number for each row, equal exactly for rows with equal keys (null equals null).

    >>> key_codes([pa.chunked_array([["a", None, "a", None]])], 4).tolist()
    [0, 1, 0, 1]
    """
    code = np.zeros(rows, dtype=np.int64)
    for column in columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        index = encoded.indices.to_numpy().astype(np.int64)
        # Numbered anew after every column: products of many dictionaries could leave 64 bits.
        combined = code * len(encoded.dictionary) + index
        code = np.unique(combined, return_inverse=True)[1] if len(columns) > 1 else combined
    return code
