"""Steps that make one relation from another; each can be SQL text or a DataFrame call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Columns = tuple[tuple[str, str], ...]
"""SQL expressions, and the names of their columns."""


@dataclass(frozen=True)
class Where:
    """Keep the rows that satisfy a condition."""

    condition: str


@dataclass(frozen=True)
class Extend:
    """Add columns to the existing ones; one may be `explode(...)`, which multiplies rows."""

    columns: Columns


@dataclass(frozen=True)
class Project:
    """Keep only these columns."""

    columns: Columns


@dataclass(frozen=True)
class Group:
    """Aggregate by keys."""

    keys: Columns
    aggregates: Columns


Step = Where | Extend | Project | Group
Steps = tuple[Step, ...]


def to_select(steps: Sequence[Step], source: str) -> str:
    """The steps as one SELECT over a relation.

    >>> to_select([Where("x > 1"), Extend((("x % 2", "odd"),)),
    ...            Group((("odd", "odd"),), (("sum(x)", "total"),))], "t")
    'SELECT odd, sum(x) AS total FROM (SELECT *, x % 2 AS odd FROM t WHERE x > 1) GROUP BY odd'
    """
    text, where = source, ""
    for step in steps:
        if isinstance(step, Where):
            if where:
                text = f"(SELECT * FROM {text}{where})"
            where = f" WHERE {step.condition}"
            continue
        if isinstance(step, Group):
            columns = _listed((*step.keys, *step.aggregates))
            keys = ", ".join(sql for sql, _ in step.keys)
            text = f"(SELECT {columns} FROM {text}{where} GROUP BY {keys})"
        else:
            star = "*, " if isinstance(step, Extend) else ""
            text = f"(SELECT {star}{_listed(step.columns)} FROM {text}{where})"
        where = ""
    if where or not text.startswith("("):
        return f"SELECT * FROM {text}{where}"
    return text[1:-1]


def _listed(columns: Columns) -> str:
    return ", ".join(sql if sql == name else f"{sql} AS {name}" for sql, name in columns)
