"""A plan in the form that the page draws: trees, threads, edges, coverage, costs, last change."""

from __future__ import annotations

from collections.abc import Iterable

from weft.engine.slicing.edges import TreeEdges
from weft.plan.explain import describe_window
from weft.plan.plan import Plan
from weft.plan.tree import Tree
from weft.serve.costs import query_costs
from weft.serve.models import (
    ChangeView,
    CoverageNode,
    FailureView,
    PlanView,
    QueryView,
    TreeView,
)
from weft.serve.source import Snapshot


def plan_view(snapshot: Snapshot, before: Snapshot | None = None) -> PlanView:
    """The whole plan, and what the last change did, if the previous plan is known."""
    plan = snapshot.plan
    options, costs = plan.request.options, plan.costs
    return PlanView(
        change=snapshot.change,
        axis=plan.request.table.axis,
        unit=plan.request.unit,
        rate=plan.rate,
        strategy=plan.strategy,
        model=options.cost,
        engine=options.engine or "operator",
        cost=plan.cost,
        no_share=costs["no_share"],
        share_all=costs["share_all"],
        notes=list(plan.report.notes),
        queries=_queries(snapshot),
        trees=[_tree(snapshot, tree) for tree in plan.trees],
        last_change=change_view(before, snapshot) if before is not None else None,
        failed=[
            FailureView(
                name=failure.query.name,
                batch=failure.batch,
                message=failure.message,
                expression=failure.expression,
            )
            for failure in (snapshot.catalogue.failed if snapshot.catalogue else ())
        ],
    )


def _queries(snapshot: Snapshot) -> list[QueryView]:
    plan = snapshot.plan
    cost, alone = query_costs(plan)
    found = []
    for row, name in enumerate(plan.request.names):
        query = plan.queries[row] if plan.queries else None
        window = plan.request.table[row] if query is None else query.window
        entry = snapshot.entries.get(name.lower())
        found.append(
            QueryView(
                name=name,
                tree=int(plan.labels[row]) + 1,
                range=window.range,
                slide=window.slide,
                phase=window.phase,
                window=describe_window(window),
                aggs=query.aggs if query else {},
                where=query.where if query else None,
                by=list(query.by) if query else [],
                having=query.having if query else None,
                lateness=query.lateness_given if query else None,
                cost=float(cost[row]),
                alone=float(alone[row]),
                number=entry.number if entry else None,
                paused=entry is not None and entry.paused is not None,
                complete_from=entry.complete_from if entry else None,
            )
        )
    return found


def _tree(snapshot: Snapshot, tree: Tree) -> TreeView:
    stores = {
        assignment.store
        for name in tree.queries
        if (entry := snapshot.entries.get(name.lower())) is not None
        for assignment in entry.assignments
    }
    return TreeView(
        number=tree.number,
        queries=[int(row) for row in tree.rows],
        edge_rate=tree.edge_rate,
        overlap=tree.overlap,
        cost=tree.cost,
        unshared_cost=tree.unshared_cost,
        cuts=cuts(tree) if tree.coverage is None else [],
        stores=sorted(stores),
        coverage=_coverage(snapshot.plan, tree),
    )


def cuts(tree: Tree) -> list[tuple[int, int]]:
    """The tree's edges as progressions, without those that lie in another."""
    edges = TreeEdges.of_windows(dict.fromkeys(tree.table))
    return list(zip(edges.offset.tolist(), edges.step.tolist(), strict=True))


def _coverage(plan: Plan, tree: Tree) -> list[CoverageNode] | None:
    coverage = tree.coverage
    if coverage is None:
        return None
    asked: dict[int, list[int]] = {}
    for row, node in zip(tree.rows, coverage.index, strict=True):
        asked.setdefault(node, []).append(int(row))
    factors = set(coverage.factors)
    return [
        CoverageNode(
            window=describe_window(window),
            range=window.range,
            slide=window.slide,
            upstream=coverage.upstream[node],
            pieces=coverage.pieces[node],
            factor=node in factors,
            cost=coverage.rates[node] * plan.request.unit,
            queries=asked.get(node, []),
        )
        for node, window in enumerate(coverage.windows)
    ]


def change_view(before: Snapshot, after: Snapshot) -> ChangeView:
    """What a change did: queries added, dropped and moved to another store, and the new cost."""
    old, new = before.entries, after.entries
    both = [name for name in new if name in old and new[name].number == old[name].number]

    def names(keys: Iterable[str], entries: Snapshot = after) -> list[str]:
        return [entries.entries[key].query.name for key in keys]

    moved = [
        name for name in both if new[name].assignments[-1].store != old[name].assignments[-1].store
    ]
    held = {name: (old[name].paused is not None, new[name].paused is not None) for name in both}
    return ChangeView(
        number=after.change,
        added=names(name for name in new if name not in both),
        dropped=names((name for name in old if name not in both), before),
        paused=names(name for name, pair in held.items() if pair == (False, True)),
        resumed=names(name for name, pair in held.items() if pair == (True, False)),
        moved=names(moved),
        cost_before=before.plan.cost,
        cost_after=after.plan.cost,
        trees_before=len(before.plan.trees),
        trees_after=len(after.plan.trees),
        note=after.plan.report.notes[0] if after.plan.report.notes else "",
    )
