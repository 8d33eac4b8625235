"""Compiles a catalogue over a DataFrame: to a native projection, and to the workers' program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of, prepared
from weft.algebra.types import component_types
from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.lowering import Lowering, Lowerings
from weft.engine.overload import Bounds
from weft.engine.program import Program, RowColumns, TreeProgram
from weft.engine.query_windows import QueryWindows, lanes
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state.lanes import explain_lanes, lane_choice
from weft.errors import EngineError, FinalsError
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.duration import parse_duration
from weft.query.output import Output
from weft.query.query import Query
from weft.sinks.contract import SinkQuery
from weft.spark.arrow import arrow_type
from weft.spark.as_written import as_written
from weft.spark.check import check_queries
from weft.spark.finishing import Form
from weft.spark.only_spark import refuse_unfit
from weft.spark.streaming.menu import Menu
from weft.spark.streaming.output_sql import OutputSql, output_sql
from weft.spark.streaming.projection import both, is_compared
from weft.stream.catalogue import Catalogue, Entry, Settings
from weft.stream.check_windows import check_windows
from weft.stream.evolve import first_catalogue
from weft.stream.tree_schema import TreeSchema


@dataclass(frozen=True, eq=False)
class Finishing:
    """A query whose answers are SQL over the answers of itself and of its parts."""

    numbers: tuple[int, ...]
    """The query's number, and those of its parts, in the order of the SQL's tables."""
    form: Form


@dataclass(frozen=True, eq=False)
class Compiled:
    """The compiled form of one catalogue: everything that a stream needs to run it."""

    program: Program
    lowerings: Lowerings
    answered: dict[int, SinkQuery]
    lowered_in_sql: dict[int, OutputSql]
    """Queries of which the operator emits partials, which Spark SQL lowers."""
    finishes: dict[int, Finishing]
    """Queries whose answers are SQL over answers."""
    menu: Menu
    """The stream's projection, which includes what this catalogue needs."""
    askers: dict[str, dict[str | None, set[str]]]
    """By expression and by the predicate of the rows it is evaluated on, the queries' names."""

    @property
    def holding(self) -> tuple[int, ...]:
        """The queries whose answers are held until their outer windows are complete."""
        return _holding(self.finishes)

    @property
    def deployed(self) -> tuple[Program, Lowerings]:
        """What workers need: the program and the lowerings."""
        return self.program, self.lowerings

    def bounded(self, catalogue: Catalogue) -> Compiled:
        """The same for a catalogue that differs only in limits and pauses."""
        settled = {"number": catalogue.number, **_bounds(catalogue, self.holding)}
        return replace(self, program=replace(self.program, **settled))

    @property
    def narrow(self) -> bool:
        """Whether every aggregated value has a fixed width, so that rows cannot be large."""
        types = self.menu.projection.types()
        return not any(_grows(arrow_type(types[name])) for name in self.menu.wide)


def argument_types(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> dict[str, str]:
    """The names of the Spark types of the queries' arguments; an error if a query cannot run."""
    with as_written(df.sparkSession):
        return check_queries(df, axis, queries)


def compile_catalogue(
    catalogue: Catalogue, df: DataFrame, axis: TimeAxis, menu: Menu | None = None
) -> Compiled:
    """Compute the workers' program and the types of the answers.

    Expressions to project are added to the menu. An error names a query that cannot run on the
    DataFrame.
    """
    with as_written(df.sparkSession):
        return _compiled(catalogue, menu or Menu.of(df, axis))


def _compiled(catalogue: Catalogue, menu: Menu) -> Compiled:
    menu.check(catalogue.queries)
    check_windows(catalogue)
    finishes = _finishes(catalogue, menu)
    parts = {number for made in finishes.values() for number in made.numbers[1:]}
    if catalogue.settings.engine == "operator":
        refuse_unfit(menu.df, catalogue.queries, menu.projection.inner)
    askers: dict[str, dict[str | None, set[str]]] = {}
    columns = {
        store.number: _columns(store, _users(store, catalogue.entries), menu, askers)
        for store in catalogue.stores
    }
    types = menu.projection.types()
    arrow = {name: arrow_type(kind) for name, kind in types.items()}
    stores = [_store(store, columns[store.number], arrow, catalogue) for store in catalogue.stores]
    settings = catalogue.settings
    program = Program(
        catalogue.number,
        tuple(stores),
        len(settings.buckets),
        1 if settings.kind == "integer" else 1000,
        settings.mode,
        settings.buckets,
        delay=int(settings.watermark) if settings.kind == "integer" else None,
        eager=_eager(settings),
        finals=settings.finals,
        **_bounds(catalogue, _holding(finishes)),
    )
    _check_finals(program, catalogue)
    lowerings: dict[int, Lowering] = {}
    answered: dict[int, SinkQuery] = {}
    lowered_in_sql: dict[int, OutputSql] = {}
    for entry in catalogue.entries:
        schema, answers = menu.answers(entry.query)
        store = next(s for s in catalogue.stores if s.number == entry.assignments[-1].store)
        number, name = entry.number, entry.query.name
        lowerings[number], sql = _lowering(entry, store, answers, arrow, types, menu)
        keys = tuple(key.name for key in entry.query.keys)
        if number in finishes:
            form = finishes[number].form
            answered[number] = SinkQuery(number, name, form.schema, form.arrow, form.keys)
        elif number not in parts:
            answered[number] = SinkQuery(number, name, schema, answers, keys)
        if sql is not None:
            lowered_in_sql[number] = sql
    return Compiled(program, Lowerings(lowerings), answered, lowered_in_sql, finishes, menu, askers)


def _finishes(catalogue: Catalogue, menu: Menu) -> dict[int, Finishing]:
    """The queries whose answers are SQL over answers; an error if this stream cannot have any."""
    entries = {entry.query.name.casefold(): entry for entry in catalogue.entries}
    queries = {name: entry.query for name, entry in entries.items()}
    found = {}
    for entry in catalogue.entries:
        finish, settings = entry.query.finish, catalogue.settings
        if finish is None:
            continue
        if settings.mode != "append" or settings.engine != "operator":
            given = "output_mode='update'" if settings.mode != "append" else "engine='rewrite'"
            raise EngineError(
                f"query {entry.query.name!r} is SQL over the answers of whole windows, which "
                f"{given} does not give: start with output_mode='append' and engine='operator'"
            )
        form = menu.finished(entry.query, queries)
        parts = [entries[name.casefold()].number for name in finish.parts]
        found[entry.number] = Finishing((entry.number, *parts), form)
    return found


def _eager(settings: Settings) -> int | None:
    if settings.emit != "eager":
        return None
    if settings.kind == "integer":
        return int(settings.watermark)
    return parse_duration(settings.watermark, "watermark") // 1000 * 1000


def _holding(finishes: Mapping[int, Finishing]) -> tuple[int, ...]:
    held = (one for one in finishes.values() if one.form.outer is not None)
    return tuple(sorted(number for one in held for number in one.numbers))


def _bounds(catalogue: Catalogue, holding: Collection[int]) -> dict[str, Any]:
    """The limits and the silent queries; queries whose answers are held compute them if paused."""
    queries = {entry.number: entry.query for entry in catalogue.entries}
    return {
        "bounds": Bounds.of(queries, catalogue.settings.limits),
        "silent": catalogue.silent(catalogue.batch) - set(holding),
    }


def explain_finals(plan: Plan, df: DataFrame, axis: TimeAxis, finals: str) -> list[str]:
    """The structures with which a new stream of this plan would answer its windows, and why."""
    watermark = "0" if axis.kind == "integer" else "0 seconds"
    settings = Settings(axis.column, axis.kind, watermark, (0,), 1, "append", finals=finals)
    types = argument_types(df, axis, plan.queries)
    program = compile_catalogue(first_catalogue(plan, settings, types), df, axis).program
    return explain_lanes(program.stores, finals)


def _check_finals(program: Program, catalogue: Catalogue) -> None:
    """Refuse a structure that cannot serve some query; the error names the query."""
    names = {entry.number: entry.query.name for entry in catalogue.entries}
    for tree in program.stores:
        for lane in () if tree.is_session else lanes(tree.services):
            try:
                lane_choice(tree, lane, program.finals, 1 << 20)
            except FinalsError as error:
                asked = ", ".join(sorted({repr(names[w.query]) for w in lane.windows}))
                raise FinalsError(f"finals={program.finals!r}: of {asked}: {error}") from None


def _grows(kind: pa.DataType) -> bool:
    """Whether values of a type have no size limit.

    >>> [_grows(kind) for kind in (pa.float64(), pa.bool_(), pa.string(), pa.list_(pa.int8()))]
    [False, False, True, True]
    """
    return bool(pa.types.is_nested(kind)) or kind in (pa.string(), pa.binary())


@dataclass(frozen=True)
class _StoreColumns:
    keys: tuple[str, ...]
    parts: tuple[tuple[tuple[str, ...], str | None], ...]
    fragments: FragmentPlan | None
    fragment_columns: tuple[str, ...]
    bucket: str | None


def _users(store: TreeSchema, entries: Sequence[Entry]) -> list[Query]:
    """The queries that are answered from a store, at least for some of their windows."""
    return [
        entry.query
        for entry in entries
        if any(assignment.store == store.number for assignment in entry.assignments)
    ]


def _columns(
    store: TreeSchema,
    users: Sequence[Query],
    menu: Menu,
    askers: dict[str, dict[str | None, set[str]]],
) -> _StoreColumns:
    projection = menu.projection
    predicates = [predicate.value for predicate in store.predicates]
    fragments = menu.fragments(predicates) if predicates else None

    def column(
        sql: str, asking: Sequence[Query], where: str | None = None, *, normal: bool = False
    ) -> str:
        """The column of an expression that some queries need, on the rows that satisfy them."""
        guards = [q.predicate if where is None else both(q.predicate, where) for q in asking]
        for guard, query in zip(guards, asking, strict=True):
            askers.setdefault(sql, {}).setdefault(guard, set()).add(query.name)
        return projection.column(sql, guards, normal=normal)

    def key(expression: str) -> str:
        asking = [q for q in users if expression in {k.expression for k in q.keys}]
        return column(expression, asking, normal=True)

    def part(kept: Part) -> tuple[tuple[str, ...], str | None]:
        asking = [q for q in users if kept in store.parts_of(q)]
        arguments = tuple(
            column(arg, asking, kept.where, normal=is_compared(kept)) for arg in prepared(kept)
        )
        menu.wide.update(arguments)
        return arguments, column(kept.where, asking) if kept.where else None

    for query in users:
        for sql in menu.fragments([query.predicate]).expressions if query.predicate else ():
            askers.setdefault(sql, {}).setdefault(None, set()).add(query.name)
    keys = {element.value: key(element.value) for element in store.keys}
    bucket_keys = {sql: keys[sql] if sql in keys else key(sql) for sql in store.bucket_keys}
    return _StoreColumns(
        keys=tuple(keys.values()),
        parts=tuple(part(element.value) for element in store.parts),
        fragments=fragments,
        fragment_columns=tuple(
            projection.column(sql) for sql in (fragments.expressions if fragments else ())
        ),
        bucket=menu.bucket(bucket_keys),
    )


def _store(
    store: TreeSchema,
    columns: _StoreColumns,
    arrow: dict[str, pa.DataType],
    catalogue: Catalogue,
) -> TreeProgram:
    keys = tuple(
        NumberedKey(key.number, arrow[column])
        for key, column in zip(store.keys, columns.keys, strict=True)
    )
    parts = tuple(
        NumberedPart(
            part.number, part.value, component_types(part.value, [arrow[a] for a in arguments])
        )
        for part, (arguments, _) in zip(store.parts, columns.parts, strict=True)
    )
    return TreeProgram(
        number=store.number,
        schema=ShardSchema(keys, parts),
        progressions=store.cuts(),
        predicates=tuple(predicate.number for predicate in store.predicates),
        fragments=columns.fragments,
        services=tuple(_services(store, catalogue.entries)),
        columns=RowColumns(columns.fragment_columns, columns.bucket, columns.keys, columns.parts),
        seam=store.seam,
        history=None if store.history is None else store.history[0],
    )


def _services(store: TreeSchema, entries: Sequence[Entry]) -> list[QueryWindows]:
    found = []
    for entry in entries:
        query = entry.query
        for assignment in entry.assignments:
            if assignment.store != store.number:
                continue
            found.append(
                QueryWindows.of(
                    query.window,
                    query=entry.number,
                    since=assignment.since,
                    until=assignment.until,
                    keys=tuple(store.number_of("keys", key.expression) for key in query.keys),
                    predicate=None
                    if query.predicate is None
                    else store.number_of("predicates", query.predicate),
                    parts=tuple(store.number_of("parts", p) for p in store.parts_of(query)),
                    lateness=query.lateness,
                )
            )
    return found


def _is_lowered_here(output: Output, store: TreeSchema) -> bool:
    """Whether Arrow code lowers an output: a single call, independent of Spark's time zone."""
    if not output.is_plain:
        return False
    kinds = {(store.types or {}).get(arg, "") for arg in output.calls[0].args}
    return output.calls[0].function != "value_range" or "timestamp" not in kinds


def _lowering(
    entry: Entry,
    store: TreeSchema,
    schema: pa.Schema,
    arrow: dict[str, pa.DataType],
    types: dict[str, T.DataType],
    menu: Menu,
) -> tuple[Lowering, OutputSql | None]:
    query = entry.query
    parts = store.parts_of(query)
    if query.having is None and all(_is_lowered_here(o, store) for o in query.outputs):
        calls = [output.calls[0] for output in query.outputs]
        places = tuple(
            (call.ordered(store.time), tuple(parts.index(p) for p in store.parts_kept(call)))
            for call in calls
        )
        return Lowering(query.name, schema, query.window.range, places), None
    fields = [("start", pa.int64())]
    fields += [] if query.window.has_fixed_length else [("end", pa.int64())]
    fields += [
        (f"k{at}", arrow[menu.projection.known(key.expression, normal=True)])
        for at, key in enumerate(query.keys)
    ]
    names: dict[Part, list[str]] = {}
    for at, part in enumerate(parts):
        names[part] = [f"p{at}_{component.name}" for component in monoid_of(part).components]
        normal = is_compared(part)
        columns = [menu.projection.known(arg, normal=normal) for arg in prepared(part)]
        kinds = component_types(part, [arrow[column] for column in columns])
        fields += list(zip(names[part], kinds, strict=True))
    known = {
        column.sql: types[column.name].simpleString() for column in menu.projection.columns
    } | dict(store.types or {})
    lowered_in_sql = output_sql(query, store, names, known)
    return Lowering(query.name, pa.schema(fields), query.window.range, None), lowered_in_sql
