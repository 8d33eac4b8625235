"""A catalogue over a DataFrame: what to project natively, and what to tell the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of, prepared
from weft.algebra.types import component_types
from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.lowering import Lowering
from weft.engine.overload import Bounds
from weft.engine.program import Program, QueryWindows, RowColumns, TreeProgram
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state.lanes import explain_lanes, lanes_of
from weft.errors import FinalsError
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.output import Output
from weft.query.query import Query
from weft.sinks.contract import SinkQuery
from weft.spark.arrow import arrow_schema, arrow_type, nullable_schema
from weft.spark.as_written import as_written
from weft.spark.batch.fragments import fragment_plan
from weft.spark.check import check_queries
from weft.spark.only_spark import refuse_unfit
from weft.spark.streaming.output_sql import OutputSql, output_sql
from weft.spark.streaming.projection import Projection
from weft.spark.verify.native import native
from weft.stream.catalogue import Catalogue, Entry, Settings
from weft.stream.evolve import first_catalogue
from weft.stream.tree_schema import TreeSchema


@dataclass(frozen=True, eq=False)
class Compiled:
    """Everything that a stream is started with."""

    program: Program
    lowerings: dict[int, Lowering]
    answered: dict[int, SinkQuery]
    expressions: list[str]
    """The native projection."""
    buckets: list[tuple[str, list[str]]]
    """Columns with a row's bucket, each of some projected keys in a form that has a hash."""
    lowered_in_sql: dict[int, OutputSql]
    """Queries that leave the operator as partials, for Spark SQL to lower."""
    narrow: bool
    """Whether every aggregated value has a fixed width, so that rows cannot be large."""


def argument_types(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> dict[str, str]:
    """Spark's names of the types of the queries' arguments; refuses what cannot run, by name."""
    with as_written(df.sparkSession):
        return check_queries(df, axis, queries)


def compile_catalogue(catalogue: Catalogue, df: DataFrame, axis: TimeAxis) -> Compiled:
    """Work out the projection, the workers' program and the types of the answers.

    A query that cannot run on the DataFrame is refused here, by name.
    """
    with as_written(df.sparkSession):
        return _compiled(catalogue, df, axis)


def _compiled(catalogue: Catalogue, df: DataFrame, axis: TimeAxis) -> Compiled:
    known = check_queries(df, axis, catalogue.queries)
    if catalogue.settings.engine == "operator":
        refuse_unfit(df, catalogue.queries, known)
    projection = Projection(df, known)
    columns = {
        store.number: _columns(store, _users(store, catalogue.entries), projection)
        for store in catalogue.stores
    }
    types = projection.types()
    arrow = {name: arrow_type(kind) for name, kind in types.items()}
    buckets: dict[tuple[str, ...], str] = {}
    stores = [
        _store(store, columns[store.number], arrow, catalogue, buckets)
        for store in catalogue.stores
    ]
    settings = catalogue.settings
    program = Program(
        catalogue.number,
        tuple(stores),
        len(settings.buckets),
        1 if settings.kind == "integer" else 1000,
        settings.mode,
        settings.buckets,
        Bounds.of([entry.number for entry in catalogue.entries if not entry.query.trusted]),
        int(settings.watermark) if settings.kind == "integer" else None,
        settings.finals,
    )
    _check_finals(program, catalogue)
    lowerings: dict[int, Lowering] = {}
    answered: dict[int, SinkQuery] = {}
    lowered_in_sql: dict[int, OutputSql] = {}
    schemas = answer_schemas(df, axis, catalogue.queries)
    for entry in catalogue.entries:
        schema = schemas[entry.query.name]
        answers = arrow_schema(schema)
        store = next(s for s in catalogue.stores if s.number == entry.assignments[-1].store)
        lowerings[entry.number], sql = _lowering(entry, store, answers, arrow, types, projection)
        answered[entry.number] = SinkQuery(
            entry.number,
            entry.query.name,
            schema,
            answers,
            tuple(key.name for key in entry.query.keys),
        )
        if sql is not None:
            lowered_in_sql[entry.number] = sql
    return Compiled(
        program,
        lowerings,
        answered,
        projection.expressions(types),
        [(name, [_hashed(key, types[key]) for key in keys]) for keys, name in buckets.items()],
        lowered_in_sql,
        narrow=not any(map(_grows, (arrow[name] for name in arrow if name[0] in "ad"))),
    )


def explain_finals(plan: Plan, df: DataFrame, axis: TimeAxis, finals: str) -> list[str]:
    """Which structures a new stream of this plan would answer its windows by, and why."""
    watermark = "0" if axis.kind == "integer" else "0 seconds"
    settings = Settings(axis.column, axis.kind, watermark, (0,), 1, "append", finals=finals)
    types = argument_types(df, axis, plan.queries)
    program = compile_catalogue(first_catalogue(plan, settings, types), df, axis).program
    return explain_lanes(program.stores, finals)


def _check_finals(program: Program, catalogue: Catalogue) -> None:
    """Refuse a structure that cannot serve some query, by the query's name."""
    names = {entry.number: entry.query.name for entry in catalogue.entries}
    for tree in program.stores:
        for lane in lanes_of(tree):
            try:
                lane.choice(tree, program.finals, 1 << 20)
            except FinalsError as error:
                asked = ", ".join(sorted({repr(names[w.query]) for w in lane.windows}))
                raise FinalsError(f"finals={program.finals!r}: of {asked}: {error}") from None


def _grows(kind: pa.DataType) -> bool:
    """Whether values of a type may be of any size.

    >>> [_grows(kind) for kind in (pa.float64(), pa.bool_(), pa.string(), pa.list_(pa.int8()))]
    [False, False, True, True]
    """
    return bool(pa.types.is_nested(kind)) or kind in (pa.string(), pa.binary())


def answer_schemas(
    df: DataFrame, axis: TimeAxis, queries: Sequence[Query]
) -> dict[str, T.StructType]:
    """The schema of every plain query; queries of one shape are analysed once."""
    found: dict[str, T.StructType] = {}
    shapes: dict[tuple[object, ...], T.StructType] = {}
    for query in queries:
        gaps = query.window.slide > query.window.range
        keys = tuple((key.name, key.native) for key in query.keys)
        outputs = tuple((output.name, output.native) for output in query.outputs)
        shape = (gaps, keys, outputs)
        if shape not in shapes:
            shapes[shape] = nullable_schema(native(df, axis, query).schema)
        found[query.name] = shapes[shape]
    return found


@dataclass(frozen=True)
class _StoreColumns:
    keys: tuple[str, ...]
    parts: tuple[tuple[tuple[str, ...], str | None], ...]
    fragments: FragmentPlan | None
    fragment_columns: tuple[str, ...]
    buckets: tuple[str, ...]


def _users(store: TreeSchema, entries: Sequence[Entry]) -> list[Query]:
    """The queries that are answered from a store, for some of their windows at least."""
    return [
        entry.query
        for entry in entries
        if any(assignment.store == store.number for assignment in entry.assignments)
    ]


def _columns(store: TreeSchema, users: Sequence[Query], projection: Projection) -> _StoreColumns:
    predicates = [predicate.value for predicate in store.predicates]
    fragments = fragment_plan(projection.df, predicates) if predicates else None

    def key(expression: str) -> str:
        guards = [q.predicate for q in users if expression in {k.expression for k in q.keys}]
        return projection.column("k", expression, guards)

    def part(kept: Part) -> tuple[tuple[str, ...], str | None]:
        guards = [q.predicate for q in users if kept in store.parts_of(q)]
        filtered = [_both(guard, kept.where) for guard in guards] if kept.where else guards
        return (
            tuple(projection.column(_prefix(kept), arg, filtered) for arg in prepared(kept)),
            projection.column("w", kept.where, guards) if kept.where else None,
        )

    return _StoreColumns(
        keys=tuple(key(element.value) for element in store.keys),
        parts=tuple(part(element.value) for element in store.parts),
        fragments=fragments,
        fragment_columns=tuple(
            projection.column("f", sql) for sql in (fragments.expressions if fragments else ())
        ),
        buckets=tuple(key(expression) for expression in store.bucket_keys),
    )


def _hashed(key: str, kind: T.DataType) -> str:
    """A key as something that Spark hashes; it hashes no maps."""
    return f"to_json(struct({key}))" if "map<" in kind.simpleString() else key


def _prefix(part: Part) -> str:
    """Whether a part's arguments are compared for being equal (`d`), or are values (`a`)."""
    return "d" if part.kind == "set" else "a"


def _both(guard: str | None, where: str) -> str:
    """A filter that is evaluated only where the guard is true."""
    return where if guard is None else f"CASE WHEN {guard} THEN {where} END"


def _store(
    store: TreeSchema,
    columns: _StoreColumns,
    arrow: dict[str, pa.DataType],
    catalogue: Catalogue,
    buckets: dict[tuple[str, ...], str],
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
    bucket = None
    if columns.buckets:
        bucket = buckets.setdefault(columns.buckets, f"h{len(buckets)}")
    return TreeProgram(
        number=store.number,
        schema=ShardSchema(keys, parts),
        progressions=store.cuts(),
        predicates=tuple(predicate.number for predicate in store.predicates),
        fragments=columns.fragments,
        services=tuple(_services(store, catalogue.entries)),
        columns=RowColumns(columns.fragment_columns, bucket, columns.keys, columns.parts),
    )


def _services(store: TreeSchema, entries: Sequence[Entry]) -> list[QueryWindows]:
    found = []
    for entry in entries:
        query = entry.query
        for assignment in entry.assignments:
            if assignment.store != store.number:
                continue
            found.append(
                QueryWindows(
                    query=entry.number,
                    range=query.window.range,
                    slide=query.window.slide,
                    phase=query.window.phase,
                    since=assignment.since,
                    until=assignment.until,
                    keys=tuple(store.number_of("keys", key.expression) for key in query.keys),
                    predicate=None
                    if query.predicate is None
                    else store.number_of("predicates", query.predicate),
                    parts=tuple(store.number_of("parts", p) for p in store.parts_of(query)),
                )
            )
    return found


def _is_lowered_here(output: Output, store: TreeSchema) -> bool:
    """Whether Arrow code makes an output: one call, and none that Spark's time zone decides on."""
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
    projection: Projection,
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
    fields += [
        (f"k{at}", arrow[projection.known("k", key.expression)])
        for at, key in enumerate(query.keys)
    ]
    names: dict[Part, list[str]] = {}
    for at, part in enumerate(parts):
        names[part] = [f"p{at}_{component.name}" for component in monoid_of(part).components]
        kinds = component_types(
            part, [arrow[projection.known(_prefix(part), arg)] for arg in prepared(part)]
        )
        fields += list(zip(names[part], kinds, strict=True))
    known = {
        sql: types[name].simpleString()
        for (kind, sql), name in projection.columns.items()
        if kind in ("a", "d")
    } | dict(store.types or {})
    lowered_in_sql = output_sql(query, store, names, known)
    return Lowering(query.name, pa.schema(fields), query.window.range, None), lowered_in_sql
