"""What is executed: trees, the windows that each answers, and all that a stream's workers know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.overload import Bounds
from weft.engine.query_windows import Lane, QueryWindows, lanes
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.plan.layout import Layout


@dataclass(frozen=True)
class RowColumns:
    """Where a stream's rows have what a tree is made of: names of projected columns."""

    fragments: tuple[str, ...]
    """Of what the tree's `fragments` look at."""
    bucket: str | None
    """Of the bucket of a row; None where one bucket holds all."""
    keys: tuple[str, ...]
    parts: tuple[tuple[tuple[str, ...], str | None], ...]
    """Of every part's arguments, and of its filter."""


@dataclass(frozen=True)
class TreeProgram:
    """A tree as it is executed: what its shards hold, how slices are cut, which windows to answer.

    Keys, parts and predicates are known by numbers that are never used again. A batch has one
    program of a tree, over shards that Spark's own aggregation makes; a stream has a sequence of
    them, over rows (`columns`) and the shards in its state.
    """

    number: int
    schema: ShardSchema
    progressions: tuple[tuple[int, int], ...]
    predicates: tuple[int, ...]
    """The numbers of its predicates, in the order of those of `fragments`."""
    fragments: FragmentPlan | None
    """How a row's fragment is found; None where there is no predicate."""
    services: tuple[QueryWindows, ...]
    columns: RowColumns | None = None
    seam: int | None = None
    """Rows before it come from history only."""
    history: str | None = None
    """Where the shards of its history lie, for buckets that have not taken them in yet."""

    @classmethod
    def of_layout(cls, layout: Layout, fragments: FragmentPlan, types: pa.Schema) -> TreeProgram:
        """The program of a batch's tree; `types` are those of the columns of its shards.

        A query stands for a target of the layout. Of a single predicate nothing is left to tell
        apart: rows that do not satisfy it are not there. A query without a predicate takes every
        shard, unless there are facets: then a row has a shard in each, and it takes one facet's.
        """
        told_apart = len(layout.predicates) > 1
        every_shard = [told is None and not fragments.faceted for told in layout.predicates]
        windows = tuple(
            QueryWindows.of(
                target.window,
                query=target.number,
                keys=grouping.keys,
                predicate=target.predicate
                if told_apart and not every_shard[target.predicate]
                else None,
                parts=layout.needs[target.number],
            )
            for grouping in layout.grouping_sets
            for target in grouping.targets
        )
        return cls(
            number=0,
            schema=ShardSchema(
                tuple(
                    NumberedKey(at, types.field(f"k{at}").type) for at in range(len(layout.keys))
                ),
                tuple(
                    NumberedPart(
                        at, part, tuple(types.field(name).type for name in layout.columns(part))
                    )
                    for at, part in enumerate(layout.parts)
                ),
            ),
            progressions=tuple(layout.progressions()),
            predicates=tuple(range(len(layout.predicates))) if told_apart else (),
            fragments=fragments,
            services=windows,
        )

    @cached_property
    def mean_slice(self) -> int:
        """How long a slice is on average, in units of the axis."""
        return max(1, round(1.0 / sum(1.0 / step for _, step in self.progressions)))

    @cached_property
    def is_session(self) -> bool:
        """Whether its windows are sessions; a tree has sessions only, or none."""
        return any(service.session for service in self.services)

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Its windows of a fixed length."""
        return lanes([w for w in self.services if w.scale.is_even and not w.session])

    @cached_property
    def uneven(self) -> tuple[Lane, ...]:
        """Its calendar windows: gathered, because structures are of fixed lengths."""
        return lanes([w for w in self.services if not w.scale.is_even])

    @property
    def live_mask(self) -> int:
        """The signature bits that still mean something."""
        return sum(1 << number for number in self.predicates)

    @cached_property
    def longest(self) -> int:
        """How long the longest window served may be."""
        return max((service.longest for service in self.services), default=0)

    def part(self, number: int) -> NumberedPart:
        """The part with this number."""
        return next(part for part in self.schema.parts if part.number == number)

    def slice_start(self, instant: int) -> int:
        """Where the slice begins in which an instant lies."""
        return max(instant - (instant - offset) % step for offset, step in self.progressions)

    def needed_from(self, frontier: int) -> int | None:
        """The start of the oldest window that is still open; None if no window ever will be."""
        every = (*self.lanes, *self.uneven) if not self.is_session else lanes(self.services)
        starts = [start for lane in every for start in lane.oldest_open(frontier).values()]
        return min((start for start in starts if start is not None), default=None)


@dataclass(frozen=True)
class Program:
    """Everything a worker needs to know; made from the catalogue by the driver."""

    number: int
    """The number of the catalogue entry that it was made from."""
    stores: tuple[TreeProgram, ...]
    buckets: int
    units_per_ms: int
    """Axis units in one of the milliseconds that Spark's watermark is counted in."""
    mode: str
    labels: tuple[int, ...] = ()
    """What each bucket is called when shuffled: numbers that Spark spreads evenly over tasks."""
    bounds: Bounds = field(default_factory=Bounds)
    """How much queries may ask of a worker."""
    delay: int | None = None
    """On an integer axis, how far the watermark is behind the greatest time; None: Spark says."""
    eager: int | None = None
    """How far behind the latest time windows are closed at once; None: by the watermark."""
    finals: str = "auto"
    """The structure that answers windows, by name."""
    silent: frozenset[int] = frozenset()
    """The numbers of the paused queries: their rows are kept, their windows not answered."""
