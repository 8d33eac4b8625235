"""A part: what a slice stores for an aggregate, shared by all queries that need the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

Option = int | float | str


@dataclass(frozen=True)
class Part:
    """One partial aggregate of a slice: a kind, over expressions, of the rows that pass a filter.

    `args` and `where` are normalised SQL, so that equal parts mean the same, and one part serves
    every query that needs it. `where` is the aggregate's own FILTER clause; parts do not depend on
    a query's predicate. `options` are the constants of the kind (how many values, how accurate).

    >>> Part("sum", ("price * volume",)) == Part("sum", ("price * volume",))
    True
    >>> str(Part("sum", ("price",), where="volume > 50"))
    'sum(price) where volume > 50'
    """

    kind: str
    args: tuple[str, ...] = ()
    where: str | None = None
    options: tuple[Option, ...] = ()

    def counted(self) -> Part:
        """The part that counts the rows in this part: zero means that this part is empty.

        A structure that subtracts needs it, because a sum of zero differs from a sum of no rows.

        >>> str(Part("sum", ("price",)).counted())
        'count(price)'
        """
        return replace(self, kind="count", options=())

    def to_dict(self) -> dict[str, Any]:
        """The part as JSON values; `from_dict` reads it back."""
        return {
            "kind": self.kind,
            "args": list(self.args),
            "where": self.where,
            "options": list(self.options),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Part:
        """Read what `to_dict` wrote."""
        return cls(data["kind"], tuple(data["args"]), data["where"], tuple(data["options"]))

    def __str__(self) -> str:
        inner = ", ".join([*(self.args or ("*",)), *(str(option) for option in self.options)])
        return f"{self.kind}({inner})" + (f" where {self.where}" if self.where else "")
