"""Starts a stream: opens its checkpoint and sink, and determines the catalogue to start with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from weft.engine.finals.registry import check_name
from weft.errors import CheckpointError, EngineError, WorkloadError
from weft.job.variables import redact
from weft.plan.optimizer import optimize
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.trust import check_untrusted
from weft.sinks import ParquetSink, Sink
from weft.sinks.apart import check_apart
from weft.sinks.files import private_folder
from weft.spark.failures import connector_advice, has_format
from weft.spark.streaming.as_of_checkpoint import note_rows
from weft.spark.streaming.changed_rows import check_rows
from weft.spark.streaming.compile import argument_types, compile_catalogue
from weft.spark.streaming.history import (
    check_history,
    last_time,
    tidy_history,
    write_history,
)
from weft.spark.streaming.lineage import lineage_of
from weft.spark.streaming.lost_rows import LostRows, check_delivers_late, check_late
from weft.spark.streaming.menu import Menu
from weft.spark.streaming.running import Running
from weft.spark.workers import fit_workers, warm_workers
from weft.stream.catalogue import Catalogue, Settings
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.events import Watcher
from weft.stream.evolve import first_catalogue, next_catalogue, with_history
from weft.stream.future_rows import Guard
from weft.stream.idle import chosen_idle
from weft.stream.json_log import JsonLog, Log
from weft.stream.labels import bucket_labels, default_buckets
from weft.stream.lineage.transport import transport
from weft.stream.planning import stream_plan
from weft.stream.progress import Progress, ProgressFile
from weft.stream.rescaling import settle
from weft.stream.trigger import Trigger

MODES = ("append", "update")
EMITS = ("watermark", "eager")
"""When windows are closed: by the watermark of the earlier micro-batches, as in Spark; or eagerly,
by the watermark that the next micro-batch will have."""


def start(
    df: DataFrame,
    axis: TimeAxis,
    sink: str | Sink,
    *,
    checkpoint: str,
    watermark: str | None = None,
    queries: Sequence[Query] = (),
    trigger: str | None = None,
    output_mode: str = "append",
    buckets: int | None = None,
    adaptive: bool = False,
    metrics_port: int | None = None,
    max_ahead: str | None = "auto",
    finals: str | None = None,
    emit: str | None = None,
    idle: str | None = None,
    late: str = "count",
    late_to: str | None = None,
    offer: Sequence[str] = (),
    limits: QueryLimits | Mapping[str, Any] | None = None,
    log: Log | None = None,
    openlineage: str | None = None,
    hide: Callable[[str], str] = redact,
    history: DataFrame | None = None,
    seam: int | None = None,
    **planning: Any,
) -> Running:
    """Start a stream, or continue the one in the checkpoint.

    On a new checkpoint the given queries are planned and written to its catalogue. On one that has
    a catalogue, queries are optional; only new ones are added. `max_ahead` is how far ahead of the
    clock a row may be before it is set aside; `finals` names the structure that answers windows,
    and `emit` says when they are closed (`EMITS`), by default as in the checkpoint's last run;
    `idle` is after how long without rows the clock closes windows, which must be given at the
    checkpoint's first run and may be "off" in later ones; `late` says what happens to lost rows
    (`lost_rows.LATE`), and `late_to` is the folder to which they are delivered; `offer` has further
    expressions to project, so that queries over them can be added without a restart; `limits` are
    those of queries without limits of their own, by default those of the checkpoint's last run;
    `log` requests events as JSON, and `openlineage` is a file or URL that gets lineage; `hide`
    removes secrets from error messages. `history` has the rows before the stream's own, for queries
    that are new to the checkpoint; `seam` says where they end on a new checkpoint, in units of the
    axis, by default after the last one.
    """
    if finals is not None:
        check_name(finals)
    if not df.isStreaming:
        raise EngineError(
            "start() is for a streaming DataFrame, and this one is a batch: use run()"
        )
    if output_mode not in MODES:
        raise EngineError(f"output_mode={output_mode!r}: accepted are {', '.join(MODES)}")
    if emit is not None and emit not in EMITS:
        raise EngineError(f"emit={emit!r}: accepted are {', '.join(EMITS)}")
    place = sink if isinstance(sink, str) else getattr(sink, "path", None)
    if isinstance(place, str):
        check_apart(place, checkpoint)
    check_late(late, late_to, place, checkpoint)
    if not hasattr(df, "_jdf"):
        raise EngineError(
            "start(): streams do not run on Spark Connect, whose server runs what delivers a "
            "micro-batch, apart from this program and the queries that come and go in it: start "
            "the stream in a classic session (SparkSession.builder.master(...), spark-submit, a "
            "cluster for one user); run() works on Spark Connect"
        )
    if isinstance(sink, Sink):
        _check_connectors(df.sparkSession, sink)
    check_untrusted(queries)
    fit_workers(df.sparkSession)
    warm_workers(df.sparkSession)
    json_log = JsonLog.of(log, checkpoint, timed=axis.kind != "integer", hide=hide)
    when, guard = Trigger.of(trigger), Guard.of(max_ahead, axis)
    settle(checkpoint)
    files = CatalogueFiles(checkpoint)
    now, progress = files.latest(), ProgressFile(checkpoint).read()
    written = now
    now = now and without_waiting(now, progress)
    if history is not None:
        check_history(history, axis, df)
    guard.check_clock(time.time_ns() // 1000, progress.clock)
    if now is None or now.number < progress.change:
        _refuse_lost(checkpoint, now, progress)
    if now is None:
        if history is not None and seam is None:
            last = last_time(history, axis)
            seam = None if last is None else last + 1
        past = [] if history is None or seam is None else [query.name for query in queries]
        catalogue = _first(
            df, axis, watermark, queries, output_mode, buckets, finals, planning, past, seam
        )
        settings = _chosen(catalogue.settings, finals, emit)
        settings = replace(settings, idle=chosen_idle(idle, settings, new=True))
        catalogue = replace(catalogue, settings=replace(settings, limits=QueryLimits.of(limits)))
    else:
        _check(now, axis, watermark, output_mode)
        types = partial(argument_types, df, axis)
        past = [] if history is None else [query.name for query in queries]
        catalogue = reconciled(now, files.ever(), queries, progress, types, past)
        going_on = [query for query in catalogue.queries if query in now.queries]
        check_rows(df, axis, checkpoint, going_on)
        settings = _chosen(catalogue.settings, finals, emit)
        settings = replace(settings, idle=chosen_idle(idle, settings, new=False))
        if settings != catalogue.settings:  # answers come from slices, so these may change
            number, batch = now.number + 1, progress.batch + 1
            catalogue = replace(catalogue, settings=settings, number=number, batch=batch)
        catalogue = _with_limits(catalogue, now, QueryLimits.of(limits), queries, progress)
        catalogue = _with_owners(catalogue, now, queries, progress)
    _check_limits(catalogue)
    lost = None
    if late_to is not None:
        check_delivers_late(catalogue)
        lost = LostRows(df, axis, guard, checkpoint, late_to)
    target = ParquetSink(sink) if isinstance(sink, str) else sink
    compiled = None
    if catalogue is not written:
        # Raises for an invalid query, so that a checkpoint never has one that cannot run.
        compiled = compile_catalogue(catalogue, df, axis, Menu.of(df, axis, offer))
        target.check(compiled.answered, catalogue.settings.mode)
        private_folder(checkpoint)  # before weft or Spark writes anything into it
        waiting = [entry.query.name for entry in catalogue.entries if entry.waiting]
        if waiting and history is not None:
            places = write_history(history, axis, catalogue, compiled, checkpoint, waiting)
            catalogue, compiled = with_history(catalogue, places, progress), None
        files.write(catalogue)
    lineage = None if openlineage is None else transport(openlineage)

    def watchers(running: Running) -> list[Watcher]:
        found: list[Watcher] = [] if json_log is None else [json_log]
        return found if lineage is None else [*found, lineage_of(running, lineage, hide)]

    note_rows(df, checkpoint)
    # The last micro-batch may have to be repeated with its own catalogue.
    tidy_history(checkpoint, (catalogue, files.at(max(0, progress.batch))))
    if lost is not None:
        lost.open()
    try:
        running = Running(
            df,
            axis,
            catalogue,
            target,
            checkpoint=checkpoint,
            trigger=when,
            adaptive=adaptive,
            guard=guard,
            offer=offer,
            hide=hide,
            watchers=watchers,
            lost=lost,
            compiled=compiled,
        )
    except Exception:
        if lineage is not None:
            lineage.close()
        if catalogue is not written:  # undo a change with which the stream could not start
            files.withdraw(catalogue)
        raise
    if metrics_port is not None:
        running.serve_metrics(metrics_port)
    return running


def _refuse_lost(checkpoint: str, now: Catalogue | None, progress: Progress) -> None:
    """Refuse a checkpoint whose last micro-batch used a catalogue that is missing."""
    if progress.batch < 0:
        return
    found = "no catalogue" if now is None else f"nothing after change {now.number}"
    raise CheckpointError(
        f"{checkpoint}/weft/catalogue has {found}, and the stream ran under change "
        f"{progress.change}: put {progress.change:08d}.json back from a backup of the checkpoint, "
        f"or start on a new checkpoint"
    )


def _first(
    df: DataFrame,
    axis: TimeAxis,
    watermark: str | None,
    queries: Sequence[Query],
    mode: str,
    buckets: int | None,
    finals: str | None,
    planning: dict[str, Any],
    past: Sequence[str] = (),
    seam: int | None = None,
) -> Catalogue:
    if not queries:
        raise WorkloadError("a new checkpoint needs queries: add one to the loom first")
    if watermark is None:
        raise EngineError(
            "watermark=None: a stream needs one, for instance watermark='30 seconds' (how much "
            "later than a window's end its rows may come)"
        )
    plan = stream_plan(queries, finals=finals or "auto", **planning)
    engine = plan.request.options.engine or "operator"
    spark = df.sparkSession
    if buckets is not None and buckets < 1:
        raise EngineError(f"buckets={buckets}: at least 1 is wanted")
    count = default_buckets(parallelism(spark)) if buckets is None else buckets
    partitions = min(count, parallelism(spark))
    if engine == "operator" and any(tree.coverage is not None for tree in plan.trees):
        raise EngineError(
            f"strategy={plan.strategy!r} makes windows from windows, which the operator engine "
            f"does not: use engine='rewrite' or a strategy such as 'weave'"
        )
    if engine == "rewrite" and mode != "append":
        raise EngineError(
            f"output_mode={mode!r}: engine='rewrite' chains aggregations, which Spark allows in "
            f"append mode only; use engine='operator'"
        )
    labels = bucket_labels(count)
    settings = Settings(
        axis.column, axis.kind, str(watermark), labels, partitions, mode, engine, finals or "auto"
    )
    if past and engine != "operator":
        raise EngineError("history= goes with engine='operator', whose state it is put into")
    return first_catalogue(plan, settings, argument_types(df, axis, queries), past, seam)


def _chosen(settings: Settings, finals: str | None, emit: str | None) -> Settings:
    """The settings with the options that a start may change."""
    if settings.engine == "rewrite" and finals not in (None, "auto"):
        raise EngineError(
            f"finals={finals!r}: the rewrite engine combines slices in Spark SQL, by no structure; "
            f"use engine='operator'"
        )
    if emit == "eager" and (settings.engine == "rewrite" or settings.mode == "update"):
        given = "engine='rewrite'" if settings.engine == "rewrite" else "output_mode='update'"
        raise EngineError(
            f"emit='eager' closes windows in the operator, and {given} does not: use "
            f"engine='operator' and output_mode='append'"
        )
    return replace(settings, finals=finals or settings.finals, emit=emit or settings.emit)


def _check_limits(catalogue: Catalogue) -> None:
    limited = [query.name for query in catalogue.queries if catalogue.limits_of(query) is not None]
    if catalogue.settings.engine == "rewrite" and limited:
        raise EngineError(
            f"query {limited[0]!r} has limits, and engine='rewrite' cannot measure what a query "
            f"uses: use engine='operator'"
        )


def _with_limits(
    catalogue: Catalogue,
    now: Catalogue,
    limits: QueryLimits | None,
    queries: Sequence[Query],
    progress: Progress,
) -> Catalogue:
    """The catalogue with the given limits; limits that are not given are unchanged."""
    given = {query.name.lower(): query.limits for query in queries if query.limits is not None}
    known = {entry.query.name.lower(): entry.query.limits for entry in catalogue.entries}
    others = {name: limit for name, limit in given.items() if known.get(name, limit) != limit}
    settings = replace(catalogue.settings, limits=limits or catalogue.settings.limits)
    if not others and settings == catalogue.settings:
        return catalogue
    made = replace(catalogue.with_limits(others), settings=settings)
    return replace(made, number=now.number + 1, batch=progress.batch + 1)


def _with_owners(
    catalogue: Catalogue, now: Catalogue, queries: Sequence[Query], progress: Progress
) -> Catalogue:
    """The catalogue with the given owners; owners that are not given are unchanged."""
    known = {entry.query.name.lower(): entry.query.owner for entry in catalogue.entries}
    given = {query.name.lower(): query.owner for query in queries if query.owner is not None}
    others = {name: owner for name, owner in given.items() if known.get(name, owner) != owner}
    if not others:
        return catalogue
    made = catalogue.with_owners(others)
    return replace(made, number=now.number + 1, batch=progress.batch + 1)


def _check_connectors(spark: SparkSession, sink: Sink) -> None:
    """Refuse a sink whose connector Spark does not have, before anything is written."""
    for name in sink.needs:
        if not has_format(spark, name):
            raise EngineError(
                f"{type(sink).__name__} needs the connector {name!r}, which Spark does not have on "
                f"its class path; {connector_advice(name)}"
            )


def _check(now: Catalogue, axis: TimeAxis, watermark: str | None, mode: str) -> None:
    settings = now.settings
    given = {"time": axis.column, "kind": axis.kind, "output_mode": mode}
    stored = {"time": settings.time, "kind": settings.kind, "output_mode": settings.mode}
    if watermark is not None:
        given["watermark"], stored["watermark"] = str(watermark), settings.watermark
    for name, value in given.items():
        if value != stored[name]:
            raise CheckpointError(
                f"{name}={value!r}: this checkpoint was made with {stored[name]!r}"
            )


def reconciled(
    now: Catalogue,
    ever: Mapping[str, Query],
    queries: Sequence[Query],
    progress: Progress,
    types: Callable[[Sequence[Query]], Mapping[str, str]] = lambda queries: {},
    history: Sequence[str] = (),
) -> Catalogue:
    """The catalogue with the new ones of the given queries; unchanged if there are none.

    A query that ran here before and was dropped stays dropped, and one that was added while the
    stream ran stays: a program that is restarted with its old list of queries changes nothing.
    A query whose meaning differs from that of the last query with its name replaces that.
    """
    known = {query.name.lower(): query for query in now.queries}
    new = [query for query in queries if ever.get(query.name.lower()) != query]
    gone = [known[query.name.lower()].name for query in new if query.name.lower() in known]
    if not new:
        return now
    plan = now.planned
    if len(gone) == len(known):
        options = plan.request.options
        fresh = optimize(new, rate=options.rate, strategy=options.strategy, engine=options.engine)
        return next_catalogue(now, fresh, progress, types=types(new), history=history)
    plan = plan.drop(gone) if gone else plan
    return next_catalogue(now, plan.add(new), progress, types=types(new), history=history)


def without_waiting(now: Catalogue, progress: Progress) -> Catalogue:
    """The catalogue without queries whose history was unfinished when an earlier run ended."""
    names = [entry.query.name for entry in now.entries if entry.waiting]
    if not names:
        return now
    return next_catalogue(now, now.planned.drop(names), progress)


def parallelism(spark: SparkSession) -> int:
    """The number of tasks that run at once."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context
        return int(spark.conf.get("spark.sql.shuffle.partitions", "8") or 8)
