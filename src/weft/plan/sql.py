"""A plan as a script of Spark SQL: a view for each step, and one for each query's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from weft.errors import PlanError
from weft.plan import sql_steps as select
from weft.plan.layout import Layout
from weft.plan.lower import lowered
from weft.plan.steps import to_select
from weft.plan.time_axis import Kind, TimeAxis, quote
from weft.query.window import Session

if TYPE_CHECKING:
    from weft.plan.plan import Plan
    from weft.plan.tree import Tree

View = tuple[str, str]
"""A view's name (quoted) and its SELECT."""


def to_sql(
    plan: Plan,
    *,
    table: str = "t",
    time: str = "ts",
    kind: Kind | None = None,
    types: Mapping[str, str] | None = None,
) -> str:
    """The script that answers every query of the plan from `table` with Spark SQL alone.

    Its statements, run in order, create a view of each query's answers, with the query's name.
    `types` maps the aggregates' arguments, as normalised SQL, to the names of their Spark types;
    they determine the exact type of sums and means of decimals.

    >>> from weft.plan.optimizer import optimize
    >>> from weft.query.query import Query
    >>> from weft.query.window import Window
    >>> asked = [Query(n, aggs={"hi": "max(price)"}, window=Window(range=r, slide="5 minutes"))
    ...          for n, r in (("a", "10 minutes"), ("b", "15 minutes"))]
    >>> print(to_sql(optimize(asked, strategy="share_all")))
    CREATE OR REPLACE TEMPORARY VIEW `weft_tree1_slices` AS
    SELECT weft_slice AS slice, max(price) AS p0_greatest FROM (...) GROUP BY weft_slice;
    ...
    CREATE OR REPLACE TEMPORARY VIEW `b` AS
    SELECT named_struct('start', timestamp_micros(start), 'end', ...) AS `window`,
    p0_greatest AS `hi` FROM `weft_tree1_windows` WHERE target = 1;
    """
    if not plan.queries:
        raise PlanError("a plan of bare windows has no SQL: plan queries, which have aggregates")
    default: Kind = "integer" if plan.request.table.axis == "integer" else "timestamp"
    axis = TimeAxis(time, kind or default)
    found = [step for tree in plan.trees for step in views(plan, tree, axis, quote(table), types)]
    return "\n\n".join(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n{sql};" for name, sql in found)


def views(
    plan: Plan, tree: Tree, axis: TimeAxis, table: str, types: Mapping[str, str] | None
) -> Iterator[View]:
    """The views of one tree: slices (or windows from windows), then its queries' answers."""
    queries = [plan.queries[int(row)] for row in tree.rows]
    for query in queries:
        if isinstance(query.window, Session):
            raise PlanError(
                f"query {query.name!r}: sessions have no SQL over slices: write_query gives the "
                f"plain statement, or Azure's of sessions with a maximum"
            )
        if not query.window.has_fixed_length:
            raise PlanError(
                f"query {query.name!r}: calendar windows have no SQL over slices: plan it apart, "
                f"and group by date_trunc"
            )
    layout = Layout.of(queries, axis.quoted, types)
    prefix = f"weft_tree{tree.number}_"
    answers = {}
    if tree.coverage is not None:
        roots, levels = select.covered(layout, tree.coverage, axis)
        answers[0] = quote(f"{prefix}windows")
        yield answers[0], "\nUNION ALL ".join(to_select(steps, table) for steps in roots)
        for depth, steps in enumerate(levels, 2):
            upstream, answers[0] = answers[0], quote(f"{prefix}windows{depth}")
            yield answers[0], to_select(steps, upstream)
    else:
        slices = quote(f"{prefix}slices")
        yield slices, to_select(select.slices(layout, axis), table)
        for number, grouping_set in enumerate(layout.grouping_sets):
            suffix = str(number + 1) if len(layout.grouping_sets) > 1 else ""
            kept = slices
            if len(grouping_set.keys) < len(layout.keys):
                kept = quote(f"{prefix}folded{suffix}")
                yield kept, to_select(select.folded(layout, grouping_set), slices)
            answers[number] = quote(f"{prefix}windows{suffix}")
            yield answers[number], to_select(select.windows(layout, grouping_set), kept)
    for query, (fold_number, _) in zip(layout.queries, layout.places, strict=True):
        wanted = lowered(layout, query, axis)
        yield quote(query.name), to_select(wanted, answers[fold_number])
