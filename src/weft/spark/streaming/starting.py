"""Opening a checkpoint: the catalogue that a stream starts with, and the sink it writes to."""

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
from weft.spark.streaming.compile import argument_types, compile_catalogue
from weft.spark.streaming.menu import Menu
from weft.spark.streaming.running import Running
from weft.spark.workers import fit_workers
from weft.stream.catalogue import (
    Catalogue,
    CatalogueFiles,
    Progress,
    ProgressFile,
    Settings,
)
from weft.stream.evolve import first_catalogue, next_catalogue
from weft.stream.future_rows import Guard
from weft.stream.labels import bucket_labels
from weft.stream.planning import stream_plan
from weft.stream.rescaling import settle
from weft.stream.trigger import Trigger

MODES = ("append", "update")


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
    offer: Sequence[str] = (),
    limits: QueryLimits | Mapping[str, Any] | None = None,
    hide: Callable[[str], str] = redact,
    **planning: Any,
) -> Running:
    """Start a stream, or go on with the one that the checkpoint holds.

    On a new checkpoint the queries given are planned and written to its catalogue. On one that has
    a catalogue, no queries need be given; of those that are, only new ones are added. `max_ahead`
    is how far ahead of the clock a row may be before it is set aside; `finals` names the structure
    that answers windows, by default the one that the checkpoint ran with last; `offer` has
    expressions that are projected beyond what queries ask for, so that queries over them come
    without a restart; `limits` are what a query may use that has no limits of its own, by default
    what the checkpoint ran with last; `hide` takes secrets out of what errors say.
    """
    if finals is not None:
        check_name(finals)
    if not df.isStreaming:
        raise EngineError(
            "start() is for a streaming DataFrame, and this one is a batch: use run()"
        )
    if output_mode not in MODES:
        raise EngineError(f"output_mode={output_mode!r}: accepted are {', '.join(MODES)}")
    place = sink if isinstance(sink, str) else getattr(sink, "path", None)
    if isinstance(place, str):
        check_apart(place, checkpoint)
    if isinstance(sink, Sink):
        _check_connectors(df.sparkSession, sink)
    check_untrusted(queries)
    fit_workers(df.sparkSession)
    when, guard = Trigger.of(trigger), Guard.of(max_ahead, axis)
    settle(checkpoint)
    files = CatalogueFiles(checkpoint)
    now, progress = files.latest(), ProgressFile(checkpoint).read()
    guard.check_clock(time.time_ns() // 1000, progress.clock)
    if now is None or now.number < progress.change:
        _refuse_lost(checkpoint, now, progress)
    if now is None:
        catalogue = _first(df, axis, watermark, queries, output_mode, buckets, finals, planning)
        settings = replace(catalogue.settings, limits=QueryLimits.of(limits))
        catalogue = replace(catalogue, settings=settings)
    else:
        _check(now, axis, watermark, output_mode)
        types = partial(argument_types, df, axis)
        catalogue = reconciled(now, files.ever(), queries, progress, types)
        catalogue = _with_finals(catalogue, now, finals, progress)
        catalogue = _with_limits(catalogue, now, QueryLimits.of(limits), queries, progress)
    _check_limits(catalogue)
    target = ParquetSink(sink) if isinstance(sink, str) else sink
    if catalogue is not now:
        # What is wrong with a query shows here, so that a checkpoint never has one that cannot run.
        compiled = compile_catalogue(catalogue, df, axis, Menu.of(df, axis, offer))
        target.check(compiled.answered, catalogue.settings.mode)
        private_folder(checkpoint)  # before anything is in it, of weft's or of Spark's
        files.write(catalogue)
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
        )
    except Exception:
        if catalogue is not now:  # what could not be started with is not there the next time
            files.withdraw(catalogue)
        raise
    if metrics_port is not None:
        running.serve_metrics(metrics_port)
    return running


def _refuse_lost(checkpoint: str, now: Catalogue | None, progress: Progress) -> None:
    """Refuse a checkpoint whose last micro-batch ran under a catalogue that is not there."""
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
    count = parallelism(spark) if buckets is None else buckets
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
    _check_finals(engine, finals)
    labels = bucket_labels(count)
    settings = Settings(
        axis.column, axis.kind, str(watermark), labels, partitions, mode, engine, finals or "auto"
    )
    return first_catalogue(plan, settings, argument_types(df, axis, queries))


def _check_finals(engine: str, finals: str | None) -> None:
    if engine == "rewrite" and finals not in (None, "auto"):
        raise EngineError(
            f"finals={finals!r}: the rewrite engine combines slices in Spark SQL, by no structure; "
            f"use engine='operator'"
        )


def _check_limits(catalogue: Catalogue) -> None:
    limited = [query.name for query in catalogue.queries if catalogue.limits_of(query) is not None]
    if catalogue.settings.engine == "rewrite" and limited:
        raise EngineError(
            f"query {limited[0]!r} has limits, and engine='rewrite' cannot measure what a query "
            f"uses: use engine='operator'"
        )


def _with_finals(
    catalogue: Catalogue, now: Catalogue, finals: str | None, progress: Progress
) -> Catalogue:
    """The catalogue with another structure, if another is asked for: it is made from the slices."""
    if finals is None or finals == catalogue.settings.finals:
        return catalogue
    _check_finals(catalogue.settings.engine, finals)
    settings = replace(catalogue.settings, finals=finals)
    return replace(catalogue, number=now.number + 1, settings=settings, batch=progress.batch + 1)


def _with_limits(
    catalogue: Catalogue,
    now: Catalogue,
    limits: QueryLimits | None,
    queries: Sequence[Query],
    progress: Progress,
) -> Catalogue:
    """The catalogue with the limits that are given; where none is given it has its own."""
    given = {query.name.lower(): query.limits for query in queries if query.limits is not None}
    known = {entry.query.name.lower(): entry.query.limits for entry in catalogue.entries}
    others = {name: limit for name, limit in given.items() if known.get(name, limit) != limit}
    settings = replace(catalogue.settings, limits=limits or catalogue.settings.limits)
    if not others and settings == catalogue.settings:
        return catalogue
    made = replace(catalogue.with_limits(others), settings=settings)
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
) -> Catalogue:
    """The catalogue with what is new among the queries given; as it is if nothing is.

    A query that ran here before and was dropped stays dropped, and one that was added while the
    stream ran stays: a program that is started again with its old list of queries changes nothing.
    A query that means something else than the one that last bore its name replaces it.
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
        return next_catalogue(now, fresh, progress, types=types(new))
    plan = plan.drop(gone) if gone else plan
    return next_catalogue(now, plan.add(new), progress, types=types(new))


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context
        return int(spark.conf.get("spark.sql.shuffle.partitions", "8") or 8)
