"""What is executed: trees, the windows that each answers, and all that a stream's workers know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.overload import Bounds
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.plan.layout import Layout
from weft.query.scale import UNITS, Scale
from weft.query.window import Session, Window
from weft.query.zone import FAR as FAR

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class QueryWindows:
    """The windows of one query that one store answers: those that start in `[since, until)`."""

    query: int
    """The query's number; numbers are never used again."""
    range: int
    slide: int
    phase: int
    """Range, slide and phase are counted on `scale`; all times are instants of the axis."""
    since: int
    until: int
    keys: tuple[int, ...]
    """The store's numbers of the query's keys, in the query's order."""
    predicate: int | None
    """The store's number of the query's predicate; None takes every row."""
    parts: tuple[int, ...]
    """The store's numbers of the query's parts, in the query's order."""
    session: bool = False
    """Whether they are sessions, of which `range` is the gap."""
    scale: Scale = UNITS
    lateness: int = 0
    """How much longer than the watermark says its windows stay open, in units of the axis."""
    maximum: int = 0
    """Of sessions, the maximum at whose multiples they end; 0 if they have none."""

    @classmethod
    def of(
        cls,
        window: Window,
        *,
        query: int = 0,
        since: int = -FAR,
        until: int = FAR,
        keys: tuple[int, ...] = (),
        predicate: int | None = None,
        parts: tuple[int, ...] = (),
        lateness: int = 0,
    ) -> QueryWindows:
        """Those of a window."""
        return cls(
            query,
            *window.steps,
            since,
            until,
            keys,
            predicate,
            parts,
            session=isinstance(window, Session),
            scale=window.scale,
            lateness=lateness,
            maximum=(window.maximum or 0) if isinstance(window, Session) else 0,
        )

    def own_frontier(self, frontier: int) -> int:
        """Its windows that end at or before it are closed, `frontier` being the stream's.

        It begins at the epoch, as the watermark of a query with a longer delay does.

        >>> tens = QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, (), lateness=8)
        >>> tens.own_frontier(30), tens.own_frontier(5)
        (22, 0)
        """
        return max(frontier - self.lateness, min(frontier, 0))

    def next_start(self, frontier: int) -> int | None:
        """The start of the first window that is still open, or None if all are closed.

        >>> QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()).next_start(frontier=12)
        5
        """
        scale = self.scale  # the smallest start that is still open
        closed = scale.floor(self.own_frontier(frontier))
        bound = max(closed - self.range + 1, scale.ceil(self.since))
        start = scale.time(bound + (self.phase - bound) % self.slide)
        return start if start < self.until else None

    def starts(self, low: int, high: int, after: int, upto: int) -> Int64:
        """Starts of the windows with slices from `low` to `high` that end in `(after, upto]`.

        >>> QueryWindows(1, 10, 5, 0, -FAR, FAR, (), None, ()).starts(0, 7, after=5, upto=15)
        array([0, 5])
        """
        first, last = self._extent(low, high, after, upto)
        first += (self.phase - first) % self.slide
        return self.scale.times(np.arange(first, last + 1, self.slide, dtype=np.int64))

    def count(self, low: int, high: int, after: int, upto: int) -> int:
        """How many `starts` would be, without making them."""
        first, last = self._extent(low, high, after, upto)
        return max(0, (last - first) // self.slide + 1)

    def _extent(self, low: int, high: int, after: int, upto: int) -> tuple[int, int]:
        """Between which numbers the starts of such windows are."""
        floor, ceil = self.scale.floor, self.scale.ceil
        first = max(floor(low) - self.range + 1, floor(after) - self.range + 1, ceil(self.since))
        return first, min(floor(high), floor(upto) - self.range, ceil(self.until) - 1)

    def ends(self, starts: Int64) -> Int64:
        """Where the windows end that start there."""
        return self.scale.times(self.scale.numbers(starts) + self.range)

    def latest_end(self, instant: int) -> int:
        """Where the last window ends that starts by an instant, or later."""
        return self.scale.time(self.scale.floor(instant) + self.range)

    @property
    def longest(self) -> int:
        """At most how long one of them is, in units of the axis."""
        return self.scale.longest(self.range)

    def is_late(self, slices: Int64, frontier: int) -> npt.NDArray[np.bool_]:
        """Which slices lie in windows of this service, but only in closed ones."""
        numbers = self.scale.numbers(slices)
        latest = numbers - (numbers - self.phase) % self.slide
        starts, ends = self.scale.times(latest), self.scale.times(latest + self.range)
        served = (starts >= self.since) & (starts < self.until)
        closed = ends <= self.own_frontier(frontier)
        return served & (latest + self.range > numbers) & closed


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

    @property
    def is_session(self) -> bool:
        """Whether its windows are sessions; a tree has sessions only, or none."""
        return any(service.session for service in self.services)

    @property
    def live_mask(self) -> int:
        """The signature bits that still mean something."""
        return sum(1 << number for number in self.predicates)

    @property
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
        starts = [service.next_start(frontier) for service in self.services]
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
