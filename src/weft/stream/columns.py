"""Columns that a stream projects from its rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A projected column."""

    name: str
    sql: str
    guards: frozenset[str] | None
    """The predicates for which it is computed: null on rows that satisfy none of them. None: it is
    computed on every row."""
    normal: bool
    """Whether it is normalised as Spark normalises grouping keys."""
