"""Which upstream instances make up one instance of a window."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from weft.errors import PlanError
from weft.plan.coverage.relation import Instances, Semantics, feeds
from weft.query.window import Window


@dataclass(frozen=True)
class Link:
    """The upstream instances that make up an instance, relative to its start.

    Piece j, for j = 0 .. count - 1, starts `min(first + j * step, last)` after the instance's own
    start. Law: the union of the pieces is the instance; under partitioned semantics they are
    disjoint. Except for the fewest pieces under covered semantics, whose last step may be shorter,
    `last = first + (count - 1) * step`. `first` is always 0, because the earliest piece must start
    where the instance starts.

    >>> pieces = Link(first=0, step=8, count=3, last=12)
    >>> pieces.offsets(), pieces.starts(100)
    ((0, 8, 12), (100, 108, 112))
    """

    first: int
    step: int
    count: int
    last: int

    def offsets(self) -> tuple[int, ...]:
        """Each piece's start relative to the instance's start, in order."""
        return tuple(min(self.first + j * self.step, self.last) for j in range(self.count))

    def starts(self, start: int) -> tuple[int, ...]:
        """The upstream instances, by their starts, that make up the instance at `start`."""
        return tuple(start + offset for offset in self.offsets())

    def to_dict(self) -> dict[str, int]:
        """The link as JSON values."""
        return asdict(self)


def link(
    upstream: Window, window: Window, *, semantics: Semantics, instances: Instances = "fewest"
) -> Link:
    """The pieces of `upstream` that make up an instance of `window`.

    With `instances="all"` every upstream instance inside is used, `1 + (r - R) / S` of them
    (FactorWindows theorem 3). The fewest are `ceil(floor(r/S) / floor(R/S))` where they may
    overlap, each as late as the one before allows, and `r / R` where they may not.

    >>> hop, long = Window(range=8, slide=2), Window(range=20, slide=2)
    >>> link(hop, long, semantics="covered")
    Link(first=0, step=8, count=3, last=12)
    >>> link(hop, long, semantics="covered", instances="all").count
    7
    """
    if not feeds(upstream, window, semantics, instances):
        raise PlanError(f"{window!r} is not {semantics} by {upstream!r}")
    span = window.range - upstream.range
    if span == 0:
        return Link(first=0, step=upstream.slide, count=1, last=0)
    if instances == "all":
        step = upstream.slide
    elif semantics == "partitioned":
        step = upstream.range
    else:
        step = upstream.range // upstream.slide * upstream.slide
    return Link(first=0, step=step, count=1 - (-span // step), last=span)
