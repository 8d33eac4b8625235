"""What every query and every owner has cost on a checkpoint, micro-batch by micro-batch.

A micro-batch's costs are split among the queries that ran then, and stay theirs: a query that comes
later pays nothing for it, and one that has been dropped is still on its owner's bill.
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
"""What the queries of an owner that are gone are listed under, together."""
_FILE, _KIND = "costs.json", "costs"


@dataclass(frozen=True)
class Cost:
    """What a query, or all queries of an owner, have cost in the life of a checkpoint."""

    owner: str
    query: str
    """Its name; `(dropped)` is all queries of the owner that are gone; empty in a sum by owner."""
    seconds: float = 0.0
    """Seconds of the operator: merging rows into its slices, and answering."""
    share: float = 0.0
    """Its part of the seconds of all."""
    state_bytes: int = 0
    """Its part of the state now."""
    state_byte_seconds: float = 0.0
    """Bytes of state held, times how long they were: 3.6e12 is a gigabyte for an hour."""
    answers: int = 0
    queries: int = 1
    """Queries that run, of those in this line."""

    def and_also(self, other: Cost) -> Cost:
        """Both together."""
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
        """By the query's number; what is left of those that are gone by a number below 0."""
        self._batch = batch
        """The last micro-batch whose answers are in it."""
        self._at: float | None = None

    def add(
        self, batch: int, catalogue: Catalogue, figures: Sequence[Mapping[str, Any]], at: float
    ) -> None:
        """Take in what the buckets reported of a micro-batch, which was done at a time in seconds.

        One that is run again after a crash costs again, and its answers are not counted twice.
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
            held = known.state_bytes * passed  # what it held since the micro-batch before
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
        self._costs = costs  # in one step: others read it meanwhile
        self._batch = max(batch, self._batch)

    def costs(self) -> tuple[Cost, ...]:
        """A line for every query, those that cost most first."""
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
    """A copy in which the queries that are gone are on one line of their owner."""
    kept = {number: cost for number, cost in costs.items() if number < 0 or number in known}
    lines = {cost.owner: number for number, cost in kept.items() if number < 0}
    for number in costs.keys() - kept.keys():
        gone = replace(costs[number], query=DROPPED, state_bytes=0, queries=0)
        line = lines.setdefault(gone.owner, -len(lines) - 1)
        kept[line] = kept[line].and_also(gone) if line in kept else gone
    return kept


def shared(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """The lines with the share that each has of all seconds, the greatest first."""
    listed = list(costs)
    total = sum(cost.seconds for cost in listed)
    told = [replace(cost, share=cost.seconds / total if total else 0.0) for cost in listed]
    return tuple(sorted(told, key=lambda cost: (-cost.seconds, cost.owner, cost.query)))


def by_owner(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """A line for every owner, those that cost most first."""
    sums: dict[str, Cost] = {}
    for cost in costs:
        one = replace(cost, query="")
        sums[cost.owner] = sums[cost.owner].and_also(one) if cost.owner in sums else one
    return shared(sums.values())


def as_csv(costs: Iterable[Cost]) -> str:
    """The lines as CSV, with the names of the fields in the first one.

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
    """`<checkpoint>/weft/costs.json`: written with the status, once a second at most.

    A crash loses what was done since. No answer depends on it: a damaged file is begun anew.
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
