"""The loom: queries on one DataFrame, planned and run together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import DataFrame, SparkSession

from weft.engine.finals.registry import check_name
from weft.engine.slicing.method import Kind as Slicing
from weft.errors import EngineError, PlanError, WorkloadError
from weft.job.variables import redact
from weft.plan.cost import Model, Statistics
from weft.plan.explain import describe_window
from weft.plan.named_options import given, named_options
from weft.plan.optimizer import optimize
from weft.plan.plan import Plan
from weft.query.names import quoted_name
from weft.query.one_source import check_absent, check_source
from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.source import NO_NULLS
from weft.query.trust import check_untrusted
from weft.spark.as_written import texts_as_written
from weft.spark.batch.run import Batch, run_plan
from weft.spark.batch.statistics import Measured, measure
from weft.spark.calendars import in_session
from weft.spark.check import check_columns, check_queries
from weft.spark.instants import units_at
from weft.spark.results.results import Results
from weft.spark.schema import time_axis
from weft.spark.tables import as_frame
from weft.spark.verify.verify import VerifyReport, verify
from weft.spark.workers import fit_workers

if TYPE_CHECKING:
    from weft.sinks import Sink
    from weft.spark.streaming.running import Running
    from weft.stream.json_log import Log

Engine = Literal["auto", "operator", "rewrite"]
Strategy = Literal[
    "auto", "weave", "factor", "coverage", "no_share", "share_all", "random", "insert_then_weave",
    "local_search", "exhaustive", "weave_paper",
]  # fmt: skip
Keys = Literal["auto", "separate", "union"]
Parts = Literal["compatible", "equal"]
Edges = Literal["exact", "f1", "f1_table", "bitset"]


class Loom:
    """Window queries on one DataFrame, sharing the work on it.

    `df` is any DataFrame, or a pandas, Polars or Arrow table, which is loaded into the active
    session or an embedded one. `time` is its event-time column: TIMESTAMP, TIMESTAMP_NTZ, DATE or,
    for windows on an integer axis, an integer. `watermark` and `offer` are for streams: `offer`
    lists keys, arguments and terms of predicates that the stream projects from the start, so that
    queries which need them can be added without a restart.
    """

    def __init__(
        self, df: DataFrame | Any, time: str = "ts", watermark: str | None = None,
        *, offer: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.df = as_frame(df)
        self.axis = time_axis(self.df.schema, time)
        self.watermark = watermark
        self.offer = (offer,) if isinstance(offer, str) else tuple(offer)
        self._queries: dict[str, Query] = {}
        self._checked: tuple[tuple[Query, ...], dict[str, str]] | None = None
        self._measured: tuple[frozenset[object], Measured] | None = None

    @property
    def spark(self) -> SparkSession:
        """The session of the DataFrame."""
        return self.df.sparkSession

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, in the order added."""
        return tuple(self._queries.values())

    def add(
        self, query: Query | str, name: str | None = None, *, trusted: bool = False
    ) -> Query:  # fmt: skip
        """Add a query, or the SQL of one in any dialect; a comment in the SQL may name it.

        A statement with several windows is several queries: read it with
        `weft.query.sql.parse_queries`, and add each of them. SQL may come from anyone, so it is
        checked as untrusted; with `trusted=True` it may call functions that you have registered.
        """
        if isinstance(query, str):
            before = dict(self._queries)
            try:
                for one in self._parsed(query, name):
                    self.add(one.as_trusted() if trusted else one)
            except Exception:
                self._queries = before
                raise
            return next(one for key, one in self._queries.items() if key not in before)
        if name is not None and name.lower() != query.name.lower():
            raise WorkloadError(f"name={name!r}: the query is named {query.name!r} already")
        query = in_session(query, self.df, self.axis)
        if query.window.axis != self.axis.axis:
            raise EngineError(
                f"query {query.name!r}: its window, {describe_window(query.window)}, is on "
                f"{'an integer' if query.window.axis == 'integer' else 'a time'} axis, but the "
                f"time column {self.axis.column!r} is of kind {self.axis.kind}"
            )
        if query.name.lower() in self._queries:
            raise WorkloadError(f"query {query.name!r} is in the loom already; drop it first")
        check_absent(query, self.df.columns)
        check_untrusted([query])
        check_columns(self.df, self.axis, query)
        self._queries[query.name.lower()] = query
        return query

    def _parsed(self, sql: str, name: str | None) -> list[Query]:
        """Queries from SQL, which must use this loom's time column and one table."""
        from weft.query.sql import parse_statement

        queries = parse_statement(sql, name)
        for query in queries:
            check_source(query, self.queries, self.axis.column, "loom")
        return queries

    def _check_times(self) -> None:
        """Refuse truncated times if some rows have no time: Spark groups them, no window does."""
        truncated = [q.name for q in self.queries if q.source and NO_NULLS in q.source.needs]
        null = f"{quoted_name(self.axis.column)} IS NULL"
        if truncated and not self.df.where(null).isEmpty():
            raise EngineError(
                f"query {truncated[0]!r} groups by a truncated time, and there are rows without "
                f"one, which Spark makes a group of: give the loom df.where('{self.axis.column} IS "
                f"NOT NULL'), or run the statement in a file (`weft run`)"
            )

    def drop(self, name: str) -> Query:
        """Remove a query, and the queries that only its `finish` reads."""
        if name.lower() not in self._queries:
            known = ", ".join(repr(query.name) for query in self.queries) or "none"
            raise WorkloadError(f"no query {name!r} in the loom; it has {known}")
        whole = next((q.name for q in self.queries if q.finish and name in q.finish.parts), None)
        if whole is not None:
            raise WorkloadError(f"query {name!r} is a part of {whole!r}: drop that one")
        query = self._queries.pop(name.lower())
        for part in query.finish.parts if query.finish else ():
            self._queries.pop(part.lower(), None)
        return query

    @named_options
    @texts_as_written
    def plan(
        self, *, rate: float | None = None, strategy: Strategy | None = None,
        engine: Engine = "auto", finals: str = "auto", keys: Keys | None = None,
        parts: Parts | None = None, edges: Edges | None = None, cost: Model | None = None,
        statistics: Statistics | None = None, tolerance: float | None = None,
        seed: int | None = None, polish: bool | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> Plan:  # fmt: skip
        """Plan the queries. Without a `rate`, the rate, groups and fragments are measured.

        The plan of a stream is the one that `start` would begin with, given the same options.
        `finals` names the final structure to run the plan with. The other options, and their
        defaults, are those of `weft.optimize`; `search` has options of the strategy itself.
        """
        check_name(finals)
        if not self._queries:
            raise WorkloadError("the loom has no queries: add one first")
        self.types()
        options = given(
            keys=keys, parts=parts, edges=edges, cost=cost, statistics=statistics,
            tolerance=tolerance, seed=seed, polish=polish, **(search or {}),
        )  # fmt: skip
        if self.df.isStreaming:
            from weft.stream.planning import stream_plan

            options |= given(rate=rate, strategy=strategy, finals=finals)
            if engine != "auto":
                options["engine"] = engine
            return stream_plan(self.queries, **options)
        if rate is None:
            measured = self.measured()
            rate = measured.rate or 1.0  # without rows any rate will do
            options.setdefault("statistics", measured.statistics)
        options.setdefault("cost", "engine")
        return optimize(
            self.queries,
            rate=rate,
            strategy=strategy or "auto",
            engine="operator" if engine == "auto" else engine,
            finals=finals,
            **options,
        )

    @texts_as_written
    def measured(self) -> Measured:
        """The rate, span, groups and fragments of the DataFrame; measured once per set of keys."""
        needs = frozenset(
            (tuple(key.expression for key in query.keys), query.predicate) for query in self.queries
        )
        if self._measured is None or self._measured[0] != needs:
            self._measured = needs, measure(self.df, self.axis, self.queries)
        return self._measured[1]

    @named_options
    @texts_as_written
    def explain(
        self, *, rate: float | None = None, strategy: Strategy | None = None,
        engine: Engine = "auto", finals: str = "auto", keys: Keys | None = None,
        parts: Parts | None = None, edges: Edges | None = None, cost: Model | None = None,
        statistics: Statistics | None = None, tolerance: float | None = None,
        seed: int | None = None, polish: bool | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> str:  # fmt: skip
        """The plan, and how each of its trees would run. Options are those of `plan`."""
        plan = self.plan(
            rate=rate, strategy=strategy, engine=engine, finals=finals, keys=keys, parts=parts,
            edges=edges, cost=cost, statistics=statistics, tolerance=tolerance, seed=seed,
            polish=polish, search=search,
        )  # fmt: skip
        lines = [plan.explain()]
        if self.df.isStreaming:
            from weft.spark.streaming.compile import explain_finals

            if plan.request.options.engine == "operator":
                lines += explain_finals(plan, self.df, self.axis, finals)
        else:
            batch = self._batch(plan, engine, finals=finals)
            lines += [f"run: tree {choice.tree} as {choice}" for choice in batch.choices]
        return "\n".join(lines)

    @named_options
    @texts_as_written
    def run(
        self, *, engine: Engine = "auto", plan: Plan | None = None, persist: bool = True,
        slicing: Slicing | None = None, finals: str = "auto",
        rate: float | None = None, strategy: Strategy | None = None, keys: Keys | None = None,
        parts: Parts | None = None, edges: Edges | None = None, cost: Model | None = None,
        statistics: Statistics | None = None, tolerance: float | None = None,
        seed: int | None = None, polish: bool | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> Results:  # fmt: skip
        """Answer every query; lazy. `engine="rewrite"` uses only Spark SQL.

        `rate` and the options after it go to `plan`, unless you give a finished `plan` of the same
        queries. `persist` keeps the combined partials at their first use. `slicing` chooses how
        slices are found ("greatest", "lookup", "search") instead of the cheapest way, and `finals`
        the final structure ("flatfit", "daba", ...; docs/finals.md lists them).
        """
        check_name(finals)
        if engine not in ("auto", "operator", "rewrite"):
            raise EngineError(f"engine={engine!r}: accepted are 'auto', 'operator', 'rewrite'")
        if self.df.isStreaming:
            raise EngineError("run() is for a batch DataFrame, and this one streams: use start()")
        self._check_times()
        if engine != "rewrite":
            fit_workers(self.spark)
        if plan is None:
            plan = self.plan(
                rate=rate, strategy=strategy, engine=engine, finals=finals, keys=keys, parts=parts,
                edges=edges, cost=cost, statistics=statistics, tolerance=tolerance, seed=seed,
                polish=polish, search=search,
            )  # fmt: skip
        return Results(self._batch(plan, engine, slicing, finals), persist=persist)

    @named_options
    @texts_as_written
    def start(
        self, sink: str | Sink, *, checkpoint: str, trigger: str | None = None,
        output_mode: Literal["append", "update"] = "append", buckets: int | None = None,
        adaptive: bool = False, metrics_port: int | None = None, max_ahead: str | None = "auto",
        finals: str | None = None, emit: Literal["watermark", "eager"] | None = None,
        idle: str | None = None,
        late: Literal["count", "deliver"] = "count", late_to: str | None = None,
        limits: QueryLimits | Mapping[str, Any] | None = None,
        log: Log | None = None, openlineage: str | None = None,
        hide: Callable[[str], str] = redact,
        history: DataFrame | None = None, seam: str | int | datetime | None = None,
        rate: float | None = None, strategy: Strategy | None = None, engine: Engine | None = None,
        keys: Keys | None = None, parts: Parts | None = None, edges: Edges | None = None,
        cost: Model | None = None, statistics: Statistics | None = None,
        tolerance: float | None = None, seed: int | None = None, polish: bool | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> Running:  # fmt: skip
        """Start the queries on a stream, or continue from the checkpoint.

        - `sink`: a directory (Parquet) or a sink of `weft.sinks`.
        - `trigger`: "available_now", an interval such as "10 seconds", "once" for one micro-batch,
          or None to start each micro-batch as soon as the last one is done.
        - `buckets`: the number of parts of the state, and so the most partitions it can ever have.
        - `max_ahead`: rows further ahead of the clock are set aside and counted (default "1 day",
          "off" for no limit), because one row years ahead would close every window.
        - `finals`: the structure that combines slices into answers (default "auto").
        - `emit`: "watermark" answers a window in the micro-batch after the one whose rows close
          it, as Spark does; "eager" answers it in that micro-batch itself.
        - `idle`: after so long without rows ("1 minute"), event time advances with the clock and
          closes windows, which Spark does not do. It must be given when a checkpoint is first
          started, and can later be another duration or "off".
        - `late`: "count" counts late rows and rows set aside; "deliver" also writes them to the
          directory `late_to` (`weft.read_late`).
        - `limits`: limits for queries that have none of their own (`QueryLimits`).
        - `log`: "json" for a line of JSON per event on standard error, or a function of such lines.
        - `openlineage`: a file or the URL of a service that gets OpenLineage events of every query.
        - `hide`: a function that removes secrets from error messages.
        - `history`: a batch DataFrame with the rows before the stream's own, so that the first
          answers are complete. Windows that end after `seam` are answered, with rows before the
          seam only from the history and later rows only from the stream. On a new checkpoint the
          default `seam` is just after the history's last row; on a checkpoint that has run, history
          is for queries that are new to it, up to the latest row that it has seen.

        `rate` and the options after it are those of `plan`, for the first plan of a checkpoint.
        """
        from weft.spark.streaming.starting import start

        planning = given(
            rate=rate, strategy=strategy, engine=None if engine == "auto" else engine, keys=keys,
            parts=parts, edges=edges, cost=cost, statistics=statistics, tolerance=tolerance,
            seed=seed, polish=polish, **(search or {}),
        )  # fmt: skip
        return start(
            self.df,
            self.axis,
            sink,
            checkpoint=checkpoint,
            watermark=self.watermark,
            queries=self.queries,
            trigger=trigger,
            output_mode=output_mode,
            buckets=buckets,
            adaptive=adaptive,
            metrics_port=metrics_port,
            max_ahead=max_ahead,
            finals=finals,
            emit=emit,
            idle=idle,
            late=late,
            late_to=late_to,
            offer=self.offer,
            limits=limits,
            log=log,
            openlineage=openlineage,
            hide=hide,
            history=history,
            seam=None if seam is None else units_at(self.spark, self.axis, seam, "seam"),
            **planning,
        )

    @named_options
    @texts_as_written
    def verify(
        self, *, engine: Engine = "auto", plan: Plan | None = None, persist: bool = True,
        slicing: Slicing | None = None, finals: str = "auto",
        rate: float | None = None, strategy: Strategy | None = None, keys: Keys | None = None,
        parts: Parts | None = None, edges: Edges | None = None, cost: Model | None = None,
        statistics: Statistics | None = None, tolerance: float | None = None,
        seed: int | None = None, polish: bool | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> VerifyReport:  # fmt: skip
        """Run the plain Spark queries and the plan, and compare the answers row by row.

        Options are those of `run`.
        """
        with self.run(
            engine=engine, plan=plan, persist=persist, slicing=slicing, finals=finals, rate=rate,
            strategy=strategy, keys=keys, parts=parts, edges=edges, cost=cost,
            statistics=statistics, tolerance=tolerance, seed=seed, polish=polish, search=search,
        ) as results:  # fmt: skip
            return verify(self.df, self.axis, self.queries, results)

    def _batch(
        self, plan: Plan, engine: Engine, slicing: Slicing | None = None, finals: str = "auto"
    ) -> Batch:
        if set(plan.queries) != set(self.queries):
            raise PlanError("the plan was made for other queries than the loom has: plan again")
        covered = any(tree.coverage is not None for tree in plan.trees)
        chosen = ("rewrite" if covered else "operator") if engine == "auto" else engine
        if finals != "auto" and chosen == "rewrite":
            raise EngineError(
                f"finals={finals!r}: the rewrite engine combines slices in Spark SQL and "
                f"uses no final structure; use engine='operator'"
            )
        measured = self._measured[1] if self._measured else None
        return run_plan(self.df, self.axis, plan, chosen, self.types(), measured, slicing, finals)

    @texts_as_written
    def types(self) -> dict[str, str]:
        """The types of arguments and keys; cached until the queries change."""
        if self._checked is None or self._checked[0] != self.queries:
            self._checked = self.queries, check_queries(self.df, self.axis, self.queries)
        return self._checked[1]
