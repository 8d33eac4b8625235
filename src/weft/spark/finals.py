"""Shards to answers in Arrow code, one bucket of keys at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.finals.batch import Answers, Ask, Slices, answer
from weft.finals.ops import bind
from weft.plan.layout import Fold, Layout
from weft.query.aggregates.part import Part

FLUSH = 1 << 16
"""Answers are handed to Spark in batches of about so many rows."""

Int64 = npt.NDArray[np.int64]


def finals(shards: DataFrame, layout: Layout, fold: Fold) -> DataFrame:
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
    return bucketed.mapInArrow(Finals.of(layout, fold), schema)


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
    predicates: int

    @classmethod
    def of(cls, layout: Layout, fold: Fold) -> Finals:
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
            predicates=len(layout.predicates),
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
        masks = self._masks(shards)
        asks = [
            Ask(
                range=range,
                slide=slide,
                offset=phase,
                parts=needed,
                rows=masks[predicate] if masks else None,
            )
            for (_, range, slide, phase, predicate), needed in zip(
                self.targets, self.needs, strict=True
            )
        ]
        first = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
        holders = {name: shards[name].combine_chunks().take(pa.array(first)) for name in self.keys}
        writer = Writer(self, shards.schema, holders, code[first])
        for found in answer(Slices(code, start), parts, asks):
            yield from writer.add(found)
        yield from writer.flush()

    def _masks(self, shards: pa.Table) -> list[npt.NDArray[np.bool_]] | None:
        """Of each predicate, which shards satisfy it; None where there is one predicate only."""
        if self.predicates == 1:
            return None
        fragments = shards["fragment"].combine_chunks()
        length = fragments.value_lengths().to_numpy()
        row = np.repeat(np.arange(len(fragments)), length)
        member = np.zeros((self.predicates, len(fragments)), dtype=np.bool_)
        member[fragments.flatten().to_numpy(), row] = True
        return list(member)


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

    def add(self, found: Answers) -> Iterator[pa.RecordBatch]:
        """Take answers in; give a batch when there is enough."""
        rows = len(found)
        key = pa.array(np.searchsorted(self.codes, found.key))
        arrays = {
            "target": pa.array(np.full(rows, self.finals.targets[found.ask][0], dtype=np.int32)),
            "start": pa.array(found.start),
            **{name: holder.take(key) for name, holder in self.holders.items()},
        }
        for part, columns in zip(self.finals.needs[found.ask], found.parts, strict=True):
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
