"""From one catalogue to the next: which store serves which queries after a change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weft.engine.query_windows import FAR, QueryWindows
from weft.errors import EngineError
from weft.plan.plan import Plan
from weft.plan.time_axis import quote
from weft.query.query import Query
from weft.query.window import Session
from weft.stream.catalogue import Assignment, Catalogue, Entry, Settings
from weft.stream.progress import Progress
from weft.stream.tree_schema import TreeSchema, first_start


def first_catalogue(
    plan: Plan,
    settings: Settings,
    types: Mapping[str, str] | None = None,
    history: Collection[str] = (),
    seam: int | None = None,
) -> Catalogue:
    """The catalogue of a new checkpoint; queries in `history` wait for their rows before `seam`."""
    empty = Catalogue(0, settings, (), (), {})
    return next_catalogue(empty, plan, Progress(), types=types, history=history, seam=seam)


def next_catalogue(
    now: Catalogue,
    plan: Plan,
    progress: Progress,
    backfill: Collection[str] = (),
    types: Mapping[str, str] | None = None,
    hashed: Collection[tuple[str, ...]] = (),
    history: Collection[str] = (),
    seam: int | None = None,
) -> Catalogue:
    """The catalogue with another plan, from the next micro-batch on.

    Queries keep their store if possible. One that moves to another store is answered from the old
    store up to the first window for which the new store is complete, so that no window is lost or
    answered twice. A new query begins with the first window that starts after the latest row seen
    so far; with `backfill`, with the earliest open window whose slices are all still in state.
    `types` are the Spark types of the aggregates' arguments, by name, that are not known yet;
    `hashed` are the sets of keys by which a running stream assigns rows to buckets. New queries in
    `history` wait for rows before the seam, by default just after the latest row seen.
    """
    since = -FAR if progress.max_event_time is None else progress.max_event_time + 1
    frontier = -FAR if progress.frontier is None else progress.frontier
    old = {entry.query.name.lower(): entry for entry in _unchanged(now, plan)}
    served = _Stores(now, old, frontier, types or {}, hashed)
    entries: dict[str, Entry] = {}
    next_query = now.next_query
    past = {name.lower() for name in history} - set(old)
    waits = next((entry.query.name for entry in old.values() if entry.waiting), None)
    if past and waits is not None:  # nothing would distinguish their stores
        raise EngineError(
            f"query {waits!r} still waits for its history: add the next query with history later"
        )
    seam = since if seam is None else max(since, seam)
    for store, queries in served.match(plan):
        wait = [query for query in queries if query.name.lower() in past]
        if wait:
            shared = served.shared_from(seam, store, queries, wait)
            for query in wait:
                assignments = _with_past(query, shared, store, seam, progress.frontier)
                first = assignments[0].since
                entries[query.name.lower()] = Entry(
                    next_query, query, first, assignments, waiting=True
                )
                next_query += 1
        for query in queries:
            if query.name.lower() in past:
                continue
            before = old.get(query.name.lower())
            keep = before.assignments[-1] if before else None
            if keep is not None and keep.store == store:
                entries[query.name.lower()] = before  # type: ignore[assignment]
                continue
            wants_old = before is not None or query.name.lower() in {b.lower() for b in backfill}
            start = served.complete_from(store, query, since, wants_old)
            fresh = Assignment(store, start)
            if before is None:
                number, next_query = next_query, next_query + 1
                complete = None if start <= -FAR else start
                entries[query.name.lower()] = Entry(number, query, complete, (fresh,))
            else:
                assert keep is not None
                handed = replace(keep, until=max(start, keep.since))
                moved = (*before.assignments[:-1], handed, replace(fresh, since=handed.until))
                entries[query.name.lower()] = replace(before, assignments=moved)
    ordered = [entries[query.name.lower()] for query in plan.queries]
    pruned = [_pruned(entry, frontier) for entry in ordered]
    return Catalogue(
        now.number + 1,
        now.settings,
        tuple(pruned),
        served.renewed(pruned, since),
        plan.to_dict(),
        next_query,
        served.next_store,
        progress.batch + 1,
        now.failed,
    )


def _with_past(
    query: Query, past: int, store: int, seam: int, frontier: int | None
) -> tuple[Assignment, ...]:
    """Which store answers which windows of a query with history; `past` gets the history."""
    if isinstance(query.window, Session):
        raise EngineError(
            f"query {query.name!r}: sessions cannot have a history, because an open session may "
            f"begin anywhere in the past; start the stream on a source that has these rows"
        )
    windows = service(query, Assignment(past))
    if frontier is None:  # a window that ends before the seam gets no row, however late
        first = replace(windows, lateness=0).next_start(seam)
    else:
        first = windows.next_start(frontier)
    assert first is not None
    start = first_start(query.window, seam)
    if past == store:
        return (Assignment(past, first),)
    if first >= start:  # no open window starts before the seam
        return (Assignment(store, start),)
    return Assignment(past, first, start), Assignment(store, start)


def with_history(made: Catalogue, places: Mapping[str, str], progress: Progress) -> Catalogue:
    """The catalogue with the history of queries that waited for it, by name in lower case.

    They are answered from the first open window on.
    """
    frontier = -FAR if progress.frontier is None else progress.frontier
    stores = {store.number: store for store in made.stores}
    entries = []
    for entry in made.entries:
        place = places.get(entry.query.name.lower())
        if place is None:
            entries.append(entry)
            continue
        if not entry.waiting:
            raise EngineError(f"query {entry.query.name!r} does not wait for history")
        kept = []
        for assignment in entry.assignments:
            number = assignment.store
            if place.startswith(f"{number}-"):  # it was written for this store
                stores[number] = replace(stores[number], history=(place, made.batch))
            start = service(entry.query, assignment).next_start(frontier)
            if start is not None:
                kept.append(replace(assignment, since=max(start, assignment.since)))
        first = kept[0].since
        entries.append(replace(entry, assignments=tuple(kept), complete_from=first, waiting=False))
    used = {assignment.store for entry in entries for assignment in entry.assignments}
    held = tuple(store for number, store in stores.items() if number in used)
    return replace(made, entries=tuple(entries), stores=held)


def _unchanged(now: Catalogue, plan: Plan) -> Iterator[Entry]:
    """The entries whose queries are in the plan unchanged."""
    asked = {query.name.lower(): query for query in plan.queries}
    for entry in now.entries:
        found = asked.get(entry.query.name.lower())
        if found is entry.query or (found is not None and _text(found) == _text(entry.query)):
            yield entry


def _text(query: Query) -> dict[str, Any]:
    """A query's definition, without limits, displayed text and owner, which change no answer."""
    return {**query.to_dict(), "limits": None, "shown": None, "owner": None}


def _pruned(entry: Entry, frontier: int) -> Entry:
    """The entry without assignments whose windows are all closed; keeps the last one always."""
    kept = [
        assignment
        for assignment in entry.assignments[:-1]
        if service(entry.query, assignment).next_start(frontier) is not None
    ]
    return replace(entry, assignments=(*kept, entry.assignments[-1]))


def service(query: Query, assignment: Assignment) -> QueryWindows:
    """An assignment's windows, for computing with their times only."""
    return QueryWindows.of(
        query.window, since=assignment.since, until=assignment.until, lateness=query.lateness
    )


class _Stores:
    """The stores of a catalogue while they are matched with the trees of another plan."""

    def __init__(
        self,
        now: Catalogue,
        old: dict[str, Entry],
        frontier: int,
        types: Mapping[str, str],
        hashed: Collection[tuple[str, ...]],
    ) -> None:
        self.now, self.old, self.frontier, self.hashed = now, old, frontier, hashed
        self.types = dict(types)
        for store in now.stores:
            self.types |= store.types or {}
        self.known = {store.number: store for store in now.stores}
        self.next_store = now.next_store
        self.new: dict[int, list[Query]] = {}
        self.seams: dict[int, int] = {}

    def match(self, plan: Plan) -> list[tuple[int, list[Query]]]:
        """The store for every tree: the one that serves most of its queries, or a new one."""
        found: list[tuple[int, list[Query]]] = []
        taken: set[int] = set()
        trees = [[plan.queries[int(row)] for row in tree.rows] for tree in plan.trees]
        for queries in sorted(trees, key=len, reverse=True):
            votes: dict[int, int] = {}
            for query in queries:
                entry = self.old.get(query.name.lower())
                if entry is not None:
                    number = entry.assignments[-1].store
                    votes[number] = votes.get(number, 0) + 1
            if isinstance(queries[0].window, Session):
                found += self._sessions(queries)
                continue
            free = {number: count for number, count in votes.items() if number not in taken}
            store = max(free, key=lambda number: (free[number], -number), default=None)
            rest = queries
            if store is not None:
                taken.add(store)
                mine = [query for query in queries if self.known[store].admits(query)]
                rest = [query for query in queries if not self.known[store].admits(query)]
                found.append((store, mine))
            if rest:
                found.append((self._open(rest), rest))
        return found

    def _sessions(self, queries: Sequence[Query]) -> list[tuple[int, list[Query]]]:
        """The stores of sessions, which never move: open sessions cannot be handed over."""
        stay: dict[int, list[Query]] = {}
        new = []
        for query in queries:
            entry = self.old.get(query.name.lower())
            if entry is None:
                new.append(query)
            else:
                stay.setdefault(entry.assignments[-1].store, []).append(query)
        rest: list[Query] = []
        for query in new:
            fit = [number for number in stay if self.known[number].admits(query)]
            place = max(fit, key=lambda number: len(stay[number]), default=None)
            (rest if place is None else stay[place]).append(query)
        return [*stay.items(), *([(self._open(rest), rest)] if rest else [])]

    def _open(self, queries: Sequence[Query]) -> int:
        number, self.next_store = self.next_store, self.next_store + 1
        self.new[number] = list(queries)
        return number

    def shared_from(
        self, seam: int, store: int, queries: Sequence[Query], wait: Sequence[Query]
    ) -> int:
        """The store that gets the history of some queries of a tree: the tree's, if all wait."""
        if store not in self.new or len(wait) < len(queries):
            store = self._open(wait)
        self.seams[store] = seam
        return store

    def complete_from(self, number: int, query: Query, since: int, wants_old: bool) -> int:
        """The first window that the store can answer for a query that it has not served so far."""
        store = self.known.get(number)
        if not wants_old or store is None or isinstance(query.window, Session):
            return first_start(query.window, since)
        extended = store.serving([*self._queries_of(number), query], since, self.types)
        kept = self._kept_from(number)
        start = first_start(query.window, max(extended.complete_since(query), kept))
        still_open = service(query, Assignment(0, start)).next_start(self.frontier)
        return first_start(query.window, since) if still_open is None else still_open

    def _queries_of(self, number: int) -> list[Query]:
        return [
            entry.query
            for entry in self.now.entries
            if any(assignment.store == number for assignment in entry.assignments)
        ]

    def _kept_from(self, number: int) -> int:
        """The time from which slices are still in the state."""
        if self.frontier <= -FAR:
            return -FAR
        starts = [
            service(entry.query, assignment).next_start(self.frontier)
            for entry in self.now.entries
            for assignment in entry.assignments
            if assignment.store == number
        ]
        return min((start for start in starts if start is not None), default=FAR)

    def renewed(self, entries: Sequence[Entry], since: int) -> tuple[TreeSchema, ...]:
        """The stores that have assignments, with the elements that their queries need."""
        time = quote(self.now.settings.time)
        stores = []
        users: dict[int, list[Query]] = {}
        for entry in entries:
            for assignment in entry.assignments:
                users.setdefault(assignment.store, []).append(entry.query)
        for number, queries in sorted(users.items()):
            if number in self.known:
                stores.append(self.known[number].serving(queries, since, self.types))
            else:
                made = TreeSchema.of(number, queries, time, since, self.types, self.hashed)
                stores.append(replace(made, seam=self.seams.get(number)))
        return tuple(stores)
