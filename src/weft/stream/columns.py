"""Columns that a stream projects from its rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A projected column."""

    name: str
    sql: str
    guards: frozenset[str] | None
    """On rows that satisfy one of these it holds its expression; None: on every row."""
    normal: bool
    """Whether it has the form in which Spark groups values."""
