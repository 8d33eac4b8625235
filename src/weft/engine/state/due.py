"""Answers the due windows of a bucket: by a structure in the state, or from gathered slices.

Each window is answered once, finally, when the watermark passes its end (append), or again
whenever rows are added to it (update).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.engine.answer import Combined, DueWindows, combine_groups
from weft.engine.blame import named
from weft.engine.groups import group_rows
from weft.engine.program import TreeProgram
from weft.engine.query_windows import Lane
from weft.engine.shards import FRAGMENT, SLICE, flat
from weft.engine.state.bucket import Bucket
from weft.engine.state.frames import Frame
from weft.engine.state.lanes import LaneState, lane_choice, slices_in
from weft.engine.state.sliding import Closing, Sliding
from weft.errors import AggregateError

Int64 = npt.NDArray[np.int64]


def closing_answers(bucket: Bucket, tree: TreeProgram, watermark: int) -> Iterator[Combined]:
    """The final answers of the windows that the watermark closes, each once."""
    stretches, held = bucket.stretches(tree), bucket.slice_counts(tree)

    def closing(lane: Lane) -> list[tuple[DueWindows, Int64]]:
        after, upto = lane.own_frontier(bucket.frontier), lane.own_frontier(watermark)
        silent, bounds = bucket.program.silent, bucket.program.bounds
        dues = DueWindows.of(lane, after, upto, silent=silent, stretches=stretches)
        return [(due, due.starts(stretches, bounds)) for due in dues]

    gathered = [due for lane in tree.uneven for due in closing(lane)]
    for lane in tree.lanes:
        state, dues = bucket.lane(tree, lane), closing(lane)
        windows = sum(len(starts) for _, starts in dues)
        structure = _structure(bucket, tree, state, windows, slices_in(tree, lane, held))
        if structure is None:
            gathered += dues
        elif windows:
            sliding = state.open(structure)
            if sliding.upto is not None and sliding.upto > lane.own_frontier(bucket.frontier):
                state.close_down()  # it is past the ends of some due windows: build a new one
                sliding = state.open(structure)
            state.begin(sliding, bucket.frontier)
            yield from _from_structure(bucket, tree, lane, sliding, dues)
    yield from gathered_answers(bucket, tree, gathered)


def _structure(
    bucket: Bucket, tree: TreeProgram, state: LaneState, windows: int, slices: int
) -> str | None:
    """The structure that answers a lane in this micro-batch; None to gather its slices."""
    finals = bucket.program.finals
    chosen = lane_choice(tree, state.lane, finals, slices).structure
    if chosen in ("blocks", "naive") and finals != "naive":
        state.close_down()
        return None
    if finals == "auto" and windows and not state.is_calm(windows, slices):
        return None
    return chosen


def _from_structure(
    bucket: Bucket,
    tree: TreeProgram,
    lane: Lane,
    sliding: Sliding,
    dues: Sequence[tuple[DueWindows, Int64]],
) -> Iterator[Combined]:
    closing = [
        Closing(start + due.service.range, start, at)
        for at, (due, starts) in enumerate(dues)
        for start in starts.tolist()
    ]
    found: dict[int, list[tuple[int, Frame]]] = {}
    for window, frame in sliding.close(closing):
        found.setdefault(window.asker, []).append((window.start, frame))
    for at, answers in found.items():
        due, bounds = dues[at][0], bucket.program.bounds
        for query in bounds.queries.intersection(due.askers):
            bounds.check(query, "groups", max(len(f) for _, f in answers))
            bounds.check(query, "windows", sum(len(f) for _, f in answers))
        yield _combined(lane, sliding, due, answers)


def _combined(
    lane: Lane, sliding: Sliding, due: DueWindows, answers: Sequence[tuple[int, Frame]]
) -> Combined:
    frames, queries = sliding.frames, due.askers
    joined = Frame(
        np.concatenate([frame.groups for _, frame in answers]),
        tuple(
            op.concat([frame.parts[at] for _, frame in answers]) for at, op in enumerate(frames.ops)
        ),
    )
    needed = due.service.parts
    try:
        decoded = {
            number: frames.decode_part(joined, at)
            for at, number in enumerate(lane.parts)
            if number in needed
        }
    except AggregateError as error:
        raise named(queries, error) from error
    lengths = [len(frame) for _, frame in answers]
    return Combined.of(
        queries,
        np.repeat(np.array([start for start, _ in answers], dtype=np.int64), lengths),
        tuple(frames.keys.columns(joined.groups)),
        tuple(tuple(decoded[number]) for number in needed),
    )


def gathered_answers(
    bucket: Bucket,
    tree: TreeProgram,
    dues: Sequence[tuple[DueWindows, Int64]],
    *,
    renew_totals: bool = True,
) -> Iterator[Combined]:
    """Every due window that contains a row, for every group, from the slices that it spans.

    Each entry of `dues` comes with the starts of the windows that may contain rows.
    """
    dues = [(due, starts) for due, starts in dues if len(starts)]
    if not dues:
        return
    edges = [edge for due, starts in dues for edge in (starts, due.service.ends(starts))]
    if renew_totals:
        bucket.sum_up(tree)
    shards = bucket.gather(tree, np.unique(np.concatenate(edges)))
    if shards.num_rows:
        yield from _by_keys(bucket, tree, shards, [due for due, _ in dues])


def _by_keys(
    bucket: Bucket, tree: TreeProgram, shards: pa.Table, dues: Sequence[DueWindows]
) -> Iterator[Combined]:
    fragments = flat(shards, FRAGMENT).to_numpy()
    finals = bucket.program.finals
    for keys in dict.fromkeys(due.service.keys for due in dues):
        yield from combine_groups(
            shards,
            tree,
            keys,
            [due for due in dues if due.service.keys == keys],
            lambda predicate: bucket.satisfied(predicate)[fragments],
            structure=finals,
            bounds=bucket.program.bounds,
        )


def changed_answers(
    bucket: Bucket, tree: TreeProgram, delta: pa.Table | None
) -> Iterator[Combined]:
    """Early answers: every group of an open window to which the micro-batch added a row."""
    if delta is None or delta.num_rows == 0:
        return
    low, high = pc.min_max(delta.column(SLICE)).as_py().values()
    silent, dues = bucket.program.silent, []
    for lane in (*tree.lanes, *tree.uneven):
        after = max(lane.own_frontier(bucket.frontier), low)
        for window, queries in lane.alike:
            asking = tuple(query for query in queries if query not in silent)
            if asking:
                dues.append(DueWindows(window, after, window.latest_end(high), asking))
    changed: dict[tuple[int, ...], list[Combined]] = {}
    for some in _by_keys(bucket, tree, delta, dues):
        for queries, found in some.each():
            changed.setdefault(queries, []).append(found)
    stretches, bounds = bucket.stretches(tree), bucket.program.bounds
    placed = [(due, due.starts(stretches, bounds)) for due in dues]
    for some in gathered_answers(bucket, tree, placed):
        for queries, found in some.each():
            kept = _among(found, changed.get(queries, []))
            if len(kept.start):
                yield kept


def _among(found: Combined, changed: Sequence[Combined]) -> Combined:
    """The answers whose window and group are among the changed ones."""
    bounds = [np.concatenate([found.start, *(some.start for some in changed)])]
    if found.end is not None:
        ends = [some.end for some in (found, *changed) if some.end is not None]
        bounds.append(np.concatenate(ends))
    keys = [
        pa.concat_arrays([column, *(some.keys[at] for some in changed)])
        for at, column in enumerate(found.keys)
    ]
    groups = group_rows([*bounds, *keys], len(bounds[0]))
    here = groups.ids[: len(found.start)]
    rows = np.flatnonzero(np.isin(here, groups.ids[len(found.start) :]))
    at = pa.array(rows)
    return Combined.of(
        found.asked[0][0],
        found.start[rows],
        tuple(column.take(at) for column in found.keys),
        tuple(tuple(column.take(at) for column in part) for part in found.parts),
        None if found.end is None else found.end[rows],
    )
