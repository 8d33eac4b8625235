"""What each query of a stream uses, and which queries exceed their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.engine.overload import over, too_much_state
from weft.query.query_limits import Over
from weft.stream.burst import Change
from weft.stream.catalogue import Catalogue, Entry, Failure

_KEPT = 0.95
SETTLED = 10
"""Micro-batches before a share of the time is meaningful."""


@dataclass(frozen=True)
class Usage:
    """What one query uses."""

    state_bytes: int = 0
    """Its share of the state of its trees, in bytes."""
    groups: int = 0
    """The most groups in a window of the last micro-batch."""
    answers: int = 0
    """Answers of the last micro-batch."""
    share: float = 0.0
    """Its share of the operator's time, between 0 and 1."""


@dataclass(frozen=True)
class Excess:
    """A query that exceeds one of its limits, the reason in words, and whether to pause it."""

    number: int
    why: str
    over: Over

    def change(self, entry: Entry, batch: int) -> Change:
        """The change to make because of it, from a micro-batch on."""
        if self.over == "pause":
            return {"op": "pause", "name": entry.query.name, "why": self.why}
        return {"op": "fail", "failure": Failure(entry.number, entry.query, batch, self.why, "")}


@dataclass
class Load:
    """The operator's time by store, and the number of answers of each query."""

    kept: float = 1.0
    """The factor by which each micro-batch discounts earlier ones."""
    merging: dict[int, float] = field(default_factory=dict)
    answering: dict[int, float] = field(default_factory=dict)
    answers: dict[int, float] = field(default_factory=dict)
    batches: int = 0

    @classmethod
    def of_late(cls) -> Load:
        """The load of about the last twenty micro-batches."""
        return cls(kept=_KEPT)

    def add(self, figures: Sequence[Mapping[str, Any]]) -> None:
        """Add the buckets' reports of a micro-batch."""
        self.batches += 1
        for known in (self.merging, self.answering, self.answers):
            for key in known:
                known[key] *= self.kept
        for one in figures:
            for query, count in one["answers"].items():
                self.answers[int(query)] = self.answers.get(int(query), 0) + count
            for number, store in one["stores"].items():
                key = int(number)
                self.merging[key] = self.merging.get(key, 0.0) + store["merging"]
                self.answering[key] = self.answering.get(key, 0.0) + store["answering"]

    def seconds(self, store: int) -> float:
        """The seconds that a store took."""
        return self.merging.get(store, 0.0) + self.answering.get(store, 0.0)

    def shares(self, users: Mapping[int, Sequence[int]]) -> dict[int, float]:
        """Each query's share of the operator's time, between 0 and 1."""
        costs = self.costs(users)
        total = sum(costs.values())
        return {query: cost / total if total else 0.0 for query, cost in costs.items()}

    def costs(self, users: Mapping[int, Sequence[int]]) -> dict[int, float]:
        """Each query's seconds of the operator's time.

        The time of merging a store's shards is split evenly among its queries; the time of
        answering is split by the number of answers.

        >>> load = Load(merging={1: 2.0}, answering={1: 2.0}, answers={7: 3, 8: 1})
        >>> load.costs({1: [7, 8]}), load.shares({1: [7, 8]})
        ({7: 2.5, 8: 1.5}, {7: 0.625, 8: 0.375})
        """
        costs: dict[int, float] = {}
        for store, queries in users.items():
            answers = sum(self.answers.get(query, 0) for query in queries)
            for query in queries:
                even = 1.0 / len(queries)
                part = self.answers.get(query, 0) / answers if answers else even
                cost = self.merging.get(store, 0.0) * even + self.answering.get(store, 0.0) * part
                costs[query] = costs.get(query, 0.0) + cost
        return costs


def users_of(catalogue: Catalogue) -> dict[int, list[int]]:
    """By store, the queries that are answered from it."""
    return {
        store.number: [
            entry.number
            for entry in catalogue.entries
            if any(a.store == store.number for a in entry.assignments)
        ]
        for store in catalogue.stores
    }


def split_by_reach(held: float, reach: Mapping[int, int]) -> dict[int, float]:
    """A tree's state, split among its queries by how far back each of them needs slices.

    The slices of each age are split evenly among the queries that need them.

    >>> split_by_reach(120, {1: 20, 2: 80, 3: 80})
    {1: 10.0, 2: 55.0, 3: 55.0}
    """
    longest = max(reach.values(), default=0)
    reaching, since, part = len(reach), 0, 0.0
    parts: dict[int, float] = {}
    for until, ending in sorted(Counter(reach.values()).items()):
        part += held * (until - since) / longest / reaching
        parts[until] = part
        since, reaching = until, reaching - ending
    return {query: parts[far] for query, far in reach.items()}


def state_of(catalogue: Catalogue, last: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Each query's share of the state in bytes, from the buckets' reports."""
    reach = {e.number: e.query.window.range + e.query.lateness for e in catalogue.entries}
    state = dict.fromkeys(reach, 0.0)
    for store, queries in users_of(catalogue).items():
        held = sum(one["stores"].get(str(store), {}).get("bytes", 0) for one in last)
        for query, part in split_by_reach(held, {q: reach[q] for q in queries}).items():
            state[query] += part
    return state


def answers_of(last: Sequence[Mapping[str, Any]]) -> Counter[int]:
    """The number of answers of each query in a micro-batch, from the buckets' reports."""
    answers: Counter[int] = Counter()
    for one in last:
        answers.update({int(query): count for query, count in one["answers"].items()})
    return answers


def usage_of(
    catalogue: Catalogue, last: Sequence[Mapping[str, Any]], load: Load
) -> dict[int, Usage]:
    """What each query uses, by number; `last` has the buckets' reports of the last micro-batch."""
    answers, shares = answers_of(last), load.shares(users_of(catalogue))
    return {
        number: Usage(
            round(held),
            _fullest([one.get("groups", {}).get(str(number), {}) for one in last]),
            answers[number],
            shares.get(number, 0.0),
        )
        for number, held in state_of(catalogue, last).items()
    }


def _fullest(counts: Sequence[Mapping[str, int]]) -> int:
    """The most groups in any window, given each bucket's counts by window start.

    >>> _fullest([{"0": 3, "60": 5}, {"0": 4}])
    7
    """
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return max(total.values(), default=0)


def excesses_after(
    catalogue: Catalogue, last: Sequence[Mapping[str, Any]], load: Load
) -> list[Excess]:
    """The queries that exceed a limit after a micro-batch; `last` has its buckets' reports."""
    found = []
    if any(catalogue.limits_of(entry.query) is not None for entry in catalogue.entries):
        found = excesses(catalogue, usage_of(catalogue, last, load), load.batches)
    untrusted = too_much_state(last, catalogue.youngest_untrusted())
    return found if untrusted is None else [*found, Excess(*untrusted, "fail")]


def excesses(catalogue: Catalogue, usage: Mapping[int, Usage], batches: int) -> list[Excess]:
    """The queries that exceed one of their limits.

    A paused query keeps its state, so a query with too much state always fails, even if its owner
    chose pausing or it is paused already. Shares add up to 1, so the limit of the share does not
    apply to the last running query.
    """
    found = []
    running = sum(entry.paused is None for entry in catalogue.entries)
    for entry in catalogue.entries:
        limits = catalogue.limits_of(entry.query)
        if limits is None:
            continue
        for what, most in limits.named():
            used = getattr(usage[entry.number], what)
            if what != "state_bytes" and entry.paused is not None:
                continue
            if what == "share" and (batches < SETTLED or running == 1):
                continue
            if used > most:
                then: Over = "fail" if what == "state_bytes" else limits.over
                found.append(Excess(entry.number, over(what, used, most), then))
                break
    return found
