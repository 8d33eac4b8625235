"""What workers execute: trees, the windows that each answers, and the program of a stream."""

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
    """The projected columns of a stream's rows that a tree is computed from, by name."""

    fragments: tuple[str, ...]
    """The columns that the tree's `fragments` depend on."""
    bucket: str | None
    """The column with a row's bucket; None if one bucket holds all rows."""
    keys: tuple[str, ...]
    parts: tuple[tuple[tuple[str, ...], str | None], ...]
    """The columns of every part's arguments, and of its filter."""


@dataclass(frozen=True)
class TreeProgram:
    """A tree as it is executed: what its shards hold, how slices are cut, which windows to answer.

    Keys, parts and predicates are identified by numbers that are never reused. A batch has one
    program per tree, over shards made by Spark's own aggregation; a stream has a sequence of
    programs, over rows (`columns`) and the shards in its state.
    """

    number: int
    schema: ShardSchema
    progressions: tuple[tuple[int, int], ...]
    predicates: tuple[int, ...]
    """The numbers of its predicates, in the order of those of `fragments`."""
    fragments: FragmentPlan | None
    """How a row's fragment is found; None if there is no predicate."""
    services: tuple[QueryWindows, ...]
    columns: RowColumns | None = None
    seam: int | None = None
    """Rows with an earlier time are taken from the history only."""
    history: str | None = None
    """The path of its history's shards, for buckets that have not merged them yet."""

    @classmethod
    def of_layout(cls, layout: Layout, fragments: FragmentPlan, types: pa.Schema) -> TreeProgram:
        """The program of a batch's tree; `types` are those of the columns of its shards.

        Query numbers are the targets of the layout. A single predicate needs no test, because rows
        that do not satisfy it are filtered out. A query without a predicate uses every shard; with
        facets, where a row has a shard in each facet, it uses those of one facet.
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
        """The average length of a slice, in units of the axis."""
        return max(1, round(1.0 / sum(1.0 / step for _, step in self.progressions)))

    @cached_property
    def is_session(self) -> bool:
        """Whether its windows are sessions; a tree has only sessions, or none."""
        return any(service.session for service in self.services)

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Lanes of its windows of fixed length."""
        return lanes([w for w in self.services if w.scale.is_even and not w.session])

    @cached_property
    def uneven(self) -> tuple[Lane, ...]:
        """Lanes of its calendar windows; gathered, because structures need fixed lengths."""
        return lanes([w for w in self.services if not w.scale.is_even])

    @property
    def live_mask(self) -> int:
        """The signature bits of the current predicates."""
        return sum(1 << number for number in self.predicates)

    @cached_property
    def longest(self) -> int:
        """The greatest possible length of its windows."""
        return max((service.longest for service in self.services), default=0)

    def part(self, number: int) -> NumberedPart:
        """The part with this number."""
        return next(part for part in self.schema.parts if part.number == number)

    def slice_start(self, instant: int) -> int:
        """The start of the slice that contains an instant."""
        return max(instant - (instant - offset) % step for offset, step in self.progressions)

    def needed_from(self, frontier: int) -> int | None:
        """The start of the oldest open window; None if all windows are closed for good."""
        every = (*self.lanes, *self.uneven) if not self.is_session else lanes(self.services)
        starts = [start for lane in every for start in lane.oldest_open(frontier).values()]
        return min((start for start in starts if start is not None), default=None)


@dataclass(frozen=True)
class Program:
    """Everything that a worker needs to know; the driver makes it from the catalogue."""

    number: int
    """The number of the catalogue entry that it was made from."""
    stores: tuple[TreeProgram, ...]
    buckets: int
    units_per_ms: int
    """Axis units per millisecond, the unit of Spark's watermark."""
    mode: str
    labels: tuple[int, ...] = ()
    """The shuffle key of each bucket, chosen so that Spark spreads buckets evenly over tasks."""
    bounds: Bounds = field(default_factory=Bounds)
    """The limits that workers enforce on queries."""
    delay: int | None = None
    """On an integer axis, the watermark's delay; None: the watermark is Spark's."""
    eager: int | None = None
    """With eager answers, the delay behind the latest time; None: the watermark closes windows."""
    finals: str = "auto"
    """The structure that answers windows, by name."""
    silent: frozenset[int] = frozenset()
    """The numbers of the paused queries: their rows are kept, their windows not answered."""
