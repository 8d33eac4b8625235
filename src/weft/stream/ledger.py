"""What every query and every owner has cost on a checkpoint, micro-batch by micro-batch.

A micro-batch's costs are split among the queries that ran then and never reassigned: queries added
later pay nothing for it, and the costs of a dropped query stay with its owner.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from weft.errors import CheckpointError
from weft.query.names import UNOWNED
from weft.sinks.files import Folder
from weft.stream.catalogue import Catalogue
from weft.stream.usage import Load, answers_of, state_of, users_of

DROPPED = "(dropped)"
"""The name under which the dropped queries of an owner are listed together."""
_FILE, _KIND = "costs.json", "costs"


@dataclass(frozen=True)
class Cost:
    """The costs of a query, or of all queries of an owner, over the life of a checkpoint."""

    owner: str
    query: str
    """Its name; `(dropped)` for all dropped queries of the owner; empty in a sum by owner."""
    seconds: float = 0.0
    """Seconds of the operator: merging rows into its slices, and answering."""
    share: float = 0.0
    """Its share of the seconds of all queries."""
    state_bytes: int = 0
    """Its share of the current state, in bytes."""
    state_byte_seconds: float = 0.0
    """Bytes of state times the seconds they were held: 3.6e12 is a gigabyte for an hour."""
    answers: int = 0
    queries: int = 1
    """The running queries among those in this line."""

    def and_also(self, other: Cost) -> Cost:
        """The sum of both."""
        return replace(
            self,
            seconds=self.seconds + other.seconds,
            share=self.share + other.share,
            state_bytes=self.state_bytes + other.state_bytes,
            state_byte_seconds=self.state_byte_seconds + other.state_byte_seconds,
            answers=self.answers + other.answers,
            queries=self.queries + other.queries,
        )


class Ledger:
    """Costs by query, added up.

    >>> costs = [Cost("ann", "a", 3.0, answers=5), Cost("bob", "b", 1.0), Cost("ann", "c", 0.5)]
    >>> [(cost.owner, cost.seconds, cost.queries) for cost in by_owner(costs)]
    [('ann', 3.5, 2), ('bob', 1.0, 1)]
    """

    def __init__(self, costs: Mapping[int, Cost] | None = None, batch: int = -1) -> None:
        self._costs = dict(costs or {})
        """By the query's number; the sums of dropped queries have numbers below 0."""
        self._batch = batch
        """The last micro-batch whose answers are counted."""
        self._at: float | None = None

    def add(
        self, batch: int, catalogue: Catalogue, figures: Sequence[Mapping[str, Any]], at: float
    ) -> None:
        """Add the buckets' reports of a micro-batch that was done at time `at`, in seconds.

        A micro-batch that is repeated after a crash costs again, but its answers count once.
        """
        load = Load()
        load.add(figures)
        spent = load.costs(users_of(catalogue))
        state, answers = state_of(catalogue, figures), answers_of(figures)
        passed = 0.0 if self._at is None else max(0.0, at - self._at)
        self._at = at
        names = {f.number: f.query for f in catalogue.failed}
        names |= {entry.number: entry.query for entry in catalogue.entries}
        costs = _without(self._costs, set(names))
        for number, query in names.items():
            known = costs.get(number) or Cost("", "")
            held = known.state_bytes * passed  # for the time since the previous micro-batch
            now = state.get(number)
            given = answers[number] if now is not None and batch > self._batch else 0
            costs[number] = replace(
                known,
                owner=query.owner or UNOWNED,
                query=query.name,
                seconds=known.seconds + spent.get(number, 0.0),
                state_bytes=0 if now is None else round(now),
                state_byte_seconds=known.state_byte_seconds + held,
                answers=known.answers + given,
                queries=int(now is not None),
            )
        self._costs = costs  # replaced atomically, because other threads read it
        self._batch = max(batch, self._batch)

    def costs(self) -> tuple[Cost, ...]:
        """A line for every query, the most expensive first."""
        return shared(self._costs.values())

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        lines = {str(number): dict(cost.__dict__) for number, cost in self._costs.items()}
        return {"batch": self._batch, "costs": lines}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ledger:
        """Read what `to_dict` wrote."""
        costs = {int(number): Cost(**cost) for number, cost in data["costs"].items()}
        return cls(costs, data["batch"])


def _without(costs: Mapping[int, Cost], known: set[int]) -> dict[int, Cost]:
    """A copy in which each owner's dropped queries are summed in one line."""
    kept = {number: cost for number, cost in costs.items() if number < 0 or number in known}
    lines = {cost.owner: number for number, cost in kept.items() if number < 0}
    for number in costs.keys() - kept.keys():
        gone = replace(costs[number], query=DROPPED, state_bytes=0, queries=0)
        line = lines.setdefault(gone.owner, -len(lines) - 1)
        kept[line] = kept[line].and_also(gone) if line in kept else gone
    return kept


def shared(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """The lines with each one's share of all seconds, the greatest first."""
    listed = list(costs)
    total = sum(cost.seconds for cost in listed)
    told = [replace(cost, share=cost.seconds / total if total else 0.0) for cost in listed]
    return tuple(sorted(told, key=lambda cost: (-cost.seconds, cost.owner, cost.query)))


def by_owner(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """A line for every owner, the most expensive first."""
    sums: dict[str, Cost] = {}
    for cost in costs:
        one = replace(cost, query="")
        sums[cost.owner] = sums[cost.owner].and_also(one) if cost.owner in sums else one
    return shared(sums.values())


def as_csv(costs: Iterable[Cost]) -> str:
    """The lines as CSV, with a header line.

    >>> print(as_csv([Cost("ann, inc", "a", 1.5, 1.0, 10, 200.0, 3)]), end="")
    owner,query,seconds,share,state_bytes,state_byte_seconds,answers,queries
    "ann, inc",a,1.500000,1.000000,10,200,3,1
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Cost))
    for cost in costs:
        told = {**cost.__dict__, "seconds": f"{cost.seconds:.6f}", "share": f"{cost.share:.6f}"}
        told["state_byte_seconds"] = round(cost.state_byte_seconds)
        writer.writerow(told.values())
    return text.getvalue()


class LedgerFile:
    """`<checkpoint>/weft/costs.json`: written with the status, at most once a second.

    A crash loses the costs since the last write. No answer depends on it, so a damaged file is
    replaced by an empty ledger.
    """

    def __init__(self, checkpoint: str) -> None:
        self._folder = Folder(checkpoint).sub("weft")
        self._written: dict[str, Any] | None = None

    def read(self) -> Ledger:
        """The ledger; an empty one if there is none."""
        try:
            return Ledger.from_dict(self._folder.read(_FILE, _KIND))
        except (CheckpointError, KeyError, TypeError, ValueError):
            return Ledger()

    def write(self, ledger: Ledger) -> None:
        """Replace it, if anything has changed."""
        body = ledger.to_dict()
        if body != self._written:
            self._folder.write(_FILE, _KIND, body)
            self._written = body
