"""Spark SQL that computes the plain query's columns from combined partials."""

from __future__ import annotations

from functools import partial

from weft.errors import PlanError
from weft.plan.layout import Layout
from weft.plan.steps import Project, Steps, Where
from weft.plan.time_axis import TimeAxis, quote
from weft.query.query import Query
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Lambda, Literal, Name, Node, rebuild
from weft.query.syntax.writer import write


def can_lower(layout: Layout, query: Query) -> bool:
    """Whether SQL can compute every answer of the query exactly."""
    return all(layout.answer(call) is not None for call in query.calls)


def lowered_outputs(layout: Layout, query: Query) -> dict[str, str]:
    """SQL of each output, by name, over the columns of combined partials."""
    return {
        output.name: output.render([_answer(layout, query, call) for call in output.calls])
        for output in query.outputs
    }


def lowered(layout: Layout, query: Query, axis: TimeAxis) -> Steps:
    """The plain query's answers, from the combined partials of all targets."""
    _, target = layout.places[layout.queries.index(query)]
    columns = {"window": axis.of_query(query.window)}
    columns |= {key.name: f"k{layout.keys.index(key.expression)}" for key in query.keys}
    columns |= lowered_outputs(layout, query)
    listed = tuple((sql, quote(name)) for name, sql in columns.items())
    condition = having_condition(layout, query, axis)
    having = () if condition is None else (Where(condition),)
    return (Where(f"target = {target}"), *having, Project(listed))


def having_condition(layout: Layout, query: Query, axis: TimeAxis) -> str | None:
    """SQL of HAVING over the columns of combined partials, or None where there is none.

    Names of keys and of the window are replaced by their expressions, because one row of a long
    table serves many queries, each with its own column names.
    """
    having = query.having_filter
    if having is None:
        return None
    makes = {
        f"weft_c{number}": _answer(layout, query, call) for number, call in enumerate(having.calls)
    }
    condition = read_expression(having.render(list(makes)))
    makes["window"] = axis.of_query(query.window)
    makes |= {key.name.lower(): f"k{layout.keys.index(key.expression)}" for key in query.keys}

    def put(node: Node, own: frozenset[str] = frozenset()) -> Node:
        if isinstance(node, Lambda):  # its parameters hide columns of the same name
            params = (param.strip("`").lower() for param in node.params)
            return rebuild(node, partial(put, own=own.union(params)))
        if not isinstance(node, Name):
            return rebuild(node, partial(put, own=own))
        first, *fields = node.parts
        if first.strip("`").lower() in own:
            return node
        return Literal("typed", ".".join([f"({makes[first.strip('`').lower()]})", *fields]))

    return write(put(condition))


def _answer(layout: Layout, query: Query, call: object) -> str:
    sql = layout.answer(call)  # type: ignore[arg-type]
    if sql is None:
        raise PlanError(f"query {query.name!r}: {call} has no exact form in SQL; it runs as it is")
    return sql
