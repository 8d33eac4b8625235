"""When the instances of one window can be computed from those of another."""

from __future__ import annotations

from typing import Literal

from weft.errors import PlanError
from weft.query.window import Window

Semantics = Literal["covered", "partitioned"]
"""`covered`: pieces may overlap (idempotent aggregates only); `partitioned`: they may not."""

Instances = Literal["fewest", "all"]
"""Which upstream instances an instance is computed from: the `fewest` that cover it, or `all`
that lie in it (the paper's covering set, FactorWindows definition 2)."""

SEMANTICS: tuple[Semantics, ...] = ("covered", "partitioned")
INSTANCES: tuple[Instances, ...] = ("fewest", "all")


def covers(upstream: Window, window: Window) -> bool:
    """Whether every instance of `window` is a union of instances of `upstream`.

    Law: with R, S, P the upstream's range, slide and phase and r, s, p the window's,
    S divides s, p - P and r - R; R <= r; and R = r or S <= R.
    The first three put an upstream instance at both ends of every instance, the last leaves
    no gap between them (where R = r one instance is enough). Without phases and gaps this is
    FactorWindows theorem 1; reflexive, antisymmetric and transitive as there (theorem 2).

    >>> covers(Window(range=8, slide=2), Window(range=10, slide=2))
    True
    >>> covers(Window(range=8, slide=2), Window(range=10, slide=2, offset=1))
    False
    """
    span = window.range - upstream.range
    return (
        _aligned(upstream, window)
        and span >= 0
        and span % upstream.slide == 0
        and (span == 0 or upstream.slide <= upstream.range)
    )


def partitions(upstream: Window, window: Window, *, instances: Instances = "fewest") -> bool:
    """Whether every instance of `window` is a disjoint union of instances of `upstream`.

    Law: with R, S, P the upstream's range, slide and phase and r, s, p the window's,
    S divides s and p - P; R divides r; and R = r or S divides R.
    Consecutive pieces meet, so each starts R after the one before, which must be a start of the
    upstream: every R/S-th instance is used, and the others are left out. With `instances="all"` no
    instance inside may be left out (definition 5), which requires R = r or R = S: FactorWindows
    theorem 4, plus the case of a single piece, which that theorem omits.

    >>> partitions(Window(range=4, slide=2), Window(range=8, slide=2))
    True
    >>> partitions(Window(range=4, slide=2), Window(range=8, slide=2), instances="all")
    False
    >>> partitions(Window(range=2), Window(range=8, slide=2), instances="all")
    True
    """
    if not _aligned(upstream, window) or window.range % upstream.range:
        return False
    if upstream.range == window.range:
        return True
    if instances == "all":
        return upstream.range == upstream.slide
    return upstream.range % upstream.slide == 0


def feeds(
    upstream: Window, window: Window, semantics: Semantics, instances: Instances = "fewest"
) -> bool:
    """Whether `window` can be computed from `upstream` under these semantics.

    >>> feeds(Window(range=8, slide=2), Window(range=10, slide=2), "covered")
    True
    >>> feeds(Window(range=8, slide=2), Window(range=10, slide=2), "partitioned")
    False
    """
    if semantics == "covered":
        return covers(upstream, window)
    return partitions(upstream, window, instances=instances)


def check_semantics(semantics: str, instances: str) -> None:
    """Refuse unknown values of `semantics` or `instances`."""
    for name, value, accepted in (
        ("semantics", semantics, SEMANTICS),
        ("instances", instances, INSTANCES),
    ):
        if value not in accepted:
            raise PlanError(f"{name}={value!r} is unknown: accepted are {', '.join(accepted)}")


def _aligned(upstream: Window, window: Window) -> bool:
    """Whether every start of `window` is a start of `upstream`."""
    return (
        upstream.axis == window.axis
        and window.slide % upstream.slide == 0
        and (window.phase - upstream.phase) % upstream.slide == 0
    )
