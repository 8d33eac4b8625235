"""The contract of sinks: what a sink gets, and what it guarantees."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from weft.errors import EngineError
from weft.sinks.wire import FIGURES, Decode


@dataclass(frozen=True)
class SinkQuery:
    """What a sink knows about a query."""

    number: int
    """Never reused, even if the name is."""
    name: str
    schema: Any
    """The Spark schema of its answers: that of the plain query."""
    arrow: pa.Schema
    keys: tuple[str, ...] | None
    """The columns that, with the window, identify a row; None if there are none."""

    def identity(self, sink: str) -> tuple[str, ...]:
        """The same, for a sink that needs them; an error if there are none."""
        if self.keys is None:
            raise EngineError(
                f"query {self.name!r}: {sink} identifies rows by window and keys, and these have "
                f"none: SELECT window and all keys under their names, without a second GROUP BY, "
                f"join or UNION, or use a sink of files or tables (parquet, delta, iceberg)"
            )
        return self.keys


@dataclass(frozen=True, eq=False)
class MicroBatch:
    """The answers of all queries in one micro-batch.

    `frame` may be computed only once, because computing it advances the state; `kept()` makes a
    copy that can be read any number of times.
    """

    number: int
    frame: Any
    queries: Mapping[int, SinkQuery]
    mode: str
    stream: str = "weft"
    """The id of the stream: unique to a checkpoint, the same after a restart."""

    def answers(self, number: int) -> Any:
        """One query's answers as a typed DataFrame; only after `kept()`."""
        asked = self.queries[number]
        rows = self.frame.where(f"query = {int(number)}").select("payload")
        return rows.mapInArrow(Decode(asked.arrow), asked.schema)


Figures = list[dict[str, Any]]


class Sink(ABC):
    """Where answers go. `guarantee` says what readers can rely on after a restart."""

    guarantee: ClassVar[str]
    modes: ClassVar[tuple[str, ...]] = ("append", "update")
    needs: ClassVar[tuple[str, ...]] = ()
    """The connectors that Spark needs for it, by name."""

    def check(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        """Refuse queries that it cannot write; has no other effect.

        Called before a change of queries is made, so that a refused change does not affect the
        stream.
        """
        if mode not in self.modes:
            raise EngineError(
                f"output_mode={mode!r}: {type(self).__name__} accepts {', '.join(self.modes)}"
            )

    def open(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        """Called before the stream starts or continues, with the queries that it will answer."""
        self.check(queries, mode)

    def deliver(self, batch: MicroBatch) -> Figures:
        """Write the answers, once; return the buckets' metrics that came with them."""
        kept = batch.frame.persist()
        try:
            rows = kept.where(f"query = {FIGURES}").select("payload").collect()
            counts = kept.where("query >= 0").groupBy("query").sum("rows").collect()
            again = replace(batch, frame=kept)
            self.write(again, {row[0]: row[1] for row in counts if row[0] in batch.queries})
        finally:
            kept.unpersist()
        return [json.loads(bytes(row[0])) for row in rows]

    @abstractmethod
    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        """Write a kept micro-batch; `counts` has the queries with answers, and how many."""


def write_each(
    numbers: Iterable[int],
    write: Callable[[int], None],
    is_well: Callable[[Iterable[Exception]], bool] | None = None,
) -> None:
    """Write the answers of each query; if only some fail, the error names their queries.

    If all fail, the sink itself is taken to have failed, and no query is named. A sink that can
    tell better says by `is_well`, given the errors, whether it can be written to at all.
    """
    errors: dict[int, Exception] = {}
    written = 0
    for number in sorted(numbers):
        try:
            write(number)
            written += 1
        except Exception as error:
            errors[number] = error
    if not errors:
        return
    if not is_well(errors.values()) if is_well is not None else not written:
        raise next(iter(errors.values()))
    raise EngineError(
        "\n".join(
            f"[weft query {number}] its answers cannot be written: "
            f"{' '.join(f'{type(error).__name__}: {error}'.split())[:500]}"
            for number, error in errors.items()
        )
    )
