"""Rescaling: changes the number of state partitions of a stopped stream, and undoes that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from weft.errors import CheckpointError, EngineError
from weft.spark.failures import spark_message
from weft.spark.streaming.launch import STATE_STORE, settings
from weft.stream import rescaling
from weft.stream.catalogue import Catalogue
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import Heartbeat, is_running, last_beat


@dataclass(frozen=True)
class Rescaled:
    """The result of `rescale`."""

    checkpoint: str
    before: int
    """The number of state partitions before."""
    partitions: int
    """The number of state partitions now; the same if nothing had to be done."""
    buckets: int | None
    """The number of buckets; None for a stream of the rewrite engine, which has none."""
    seconds: float

    def __str__(self) -> str:
        if self.before == self.partitions:
            return f"{self.checkpoint}: has {_counted(self.partitions)} already"
        return (
            f"{self.checkpoint}: from {self.before} to {_counted(self.partitions)}{self._spread()} "
            f"in {self.seconds:.1f} s; the next start has them"
        )

    def _spread(self) -> str:
        if self.buckets is None:
            return ""
        least, more = divmod(self.buckets, self.partitions)
        each = f"{least}" if not more else f"{least} or {least + 1}"
        return f", each of {each} of the {self.buckets} buckets,"


def rescale(spark: SparkSession, checkpoint: str, partitions: int) -> Rescaled:
    """Move the state of a stopped stream to this many partitions, each held by one task.

    The next start uses them; answers do not change. Needs Spark 4.2 or newer, and a classic session
    (not Spark Connect). There can be at most as many partitions as the stream has buckets, a number
    that is fixed at its first start. If a micro-batch was begun but not finished, because a busy
    stream was stopped, it has to be finished first, with `start(trigger="once")`; `weft rescale
    JOB` does that itself. After a crash the checkpoint is either unchanged or rescaled, and
    `undo_rescale` can undo the change as long as no micro-batch has run since.
    """
    now = check_rescale(spark, checkpoint, partitions)
    rescaling.settle(checkpoint)
    began = time.monotonic()
    so_far = rescaling.written(checkpoint)
    before = so_far.partitions or now.settings.partitions
    buckets = len(now.settings.buckets) if now.settings.engine == "operator" else None
    if so_far.last < 0 or before == partitions:
        rescaling.note_partitions(checkpoint, partitions)
    else:
        _check_finished(checkpoint, so_far)
        _move(spark, checkpoint, before, partitions, so_far.last + 1)
    return Rescaled(checkpoint, before, partitions, buckets, time.monotonic() - began)


def check_rescale(spark: SparkSession, checkpoint: str, partitions: int) -> Catalogue:
    """Refuse an impossible rescale before anything is changed; returns the stream's catalogue."""
    _check_spark(spark)
    now = _stopped(checkpoint)
    _check_partitions(partitions, now)
    return now


def undo_rescale(checkpoint: str) -> Rescaled:
    """Undo the last `rescale`, if no micro-batch has run since."""
    now = _stopped(checkpoint)
    rescaling.settle(checkpoint)
    found = rescaling.pending(checkpoint)
    if found is None:
        raise CheckpointError(f"{checkpoint}: there is no rescale to undo")
    if rescaling.written(checkpoint).last != found.batch:
        raise CheckpointError(
            f"{checkpoint}: micro-batches have run since it was rescaled from {found.before} to "
            f"{_counted(found.partitions)}: rescale it to {found.before} instead"
        )
    began = time.monotonic()
    with _held(checkpoint):
        rescaling.go_back(checkpoint, found)
    buckets = len(now.settings.buckets) if now.settings.engine == "operator" else None
    seconds = time.monotonic() - began
    return Rescaled(checkpoint, found.partitions, found.before, buckets, seconds)


def _move(spark: SparkSession, checkpoint: str, before: int, partitions: int, batch: int) -> None:
    """Make Spark move the state; on an error the checkpoint is unchanged."""
    with _held(checkpoint), settings(spark, STATE_STORE):
        begun = rescaling.begin(checkpoint, before, partitions, batch)
        try:
            spark._streamingCheckpointManager.repartition(checkpoint, partitions)
        except (PySparkException, Py4JJavaError) as error:
            rescaling.go_back(checkpoint, begun)
            raise EngineError(
                f"{checkpoint}: Spark could not move the state from {before} to "
                f"{_counted(partitions)}, and it is as it was: {spark_message(error)}"
            ) from error
        rescaling.finish(checkpoint, begun)


@contextmanager
def _held(checkpoint: str) -> Iterator[None]:
    """Keep a heartbeat within this context, so that the stream cannot be started meanwhile."""
    heart = Heartbeat(checkpoint).start()
    try:
        yield
    finally:
        heart.stop()


def _check_spark(spark: SparkSession) -> None:
    if not hasattr(spark, "_jsparkSession"):
        raise EngineError(
            "rescale: Spark Connect cannot move a stream's state; run it in a classic session "
            "that reaches the checkpoint (SparkSession.builder.master(...))"
        )
    if not hasattr(type(spark), "_streamingCheckpointManager"):
        raise EngineError(
            f"rescale: Spark {spark.version} cannot move a stream's state to other partitions, "
            f"4.2 and newer can: rescale with one of these, or start on a new checkpoint"
        )


def _stopped(checkpoint: str) -> Catalogue:
    """The catalogue of a stream, after checking that it is stopped."""
    now = CatalogueFiles(checkpoint).latest()
    if now is None:
        raise CheckpointError(
            f"{checkpoint}: no stream of weft has been started on this checkpoint, so there is "
            f"nothing to rescale"
        )
    if is_running(checkpoint):
        beat = last_beat(checkpoint) or {}
        raise CheckpointError(
            f"{checkpoint}: a stream runs on this checkpoint, as process {beat.get('pid')} on "
            f"{beat.get('host')}: stop it, rescale, and start it again"
        )
    return now


def _check_partitions(partitions: int, now: Catalogue) -> None:
    if partitions < 1:
        raise EngineError(f"partitions={partitions}: at least 1 is wanted")
    buckets = len(now.settings.buckets)
    if now.settings.engine == "operator" and partitions > buckets:
        raise EngineError(
            f"partitions={partitions}: this stream has {buckets} buckets, and a partition holds "
            f"at least one, so {buckets} partitions are the most; for more, start the stream on a "
            f"new checkpoint with buckets={partitions} or more"
        )


def _check_finished(checkpoint: str, so_far: rescaling.Written) -> None:
    if so_far.last != so_far.committed:
        raise CheckpointError(
            f"{checkpoint}: micro-batch {so_far.last} was begun and not finished: start the stream "
            f"with trigger='once', which finishes it and ends, and rescale then (weft rescale JOB "
            f"does both)"
        )


def _counted(partitions: int) -> str:
    return f"{partitions} partition{'' if partitions == 1 else 's'}"
