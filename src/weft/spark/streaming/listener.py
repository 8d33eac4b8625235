"""Listens to Spark's progress reports of a stream."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import JStreamingQueryListener, StreamingQueryListener


class ProgressListener(StreamingQueryListener):
    """Keeps the last reports of one stream, across its runs, and why it ended."""

    def __init__(self) -> None:
        self.identity: str | None = None
        self.last: dict[str, Any] | None = None
        self.recent: deque[dict[str, Any]] = deque(maxlen=240)
        """Reports that have not been read yet."""
        self.ended: str | None = None
        self.heard: Callable[[dict[str, Any]], None] | None = None
        """Called with every report."""

    def onQueryStarted(self, event: Any) -> None:
        pass

    def onQueryProgress(self, event: Any) -> None:
        self.take(str(event.progress.json))

    def take(self, report: str) -> None:
        """Keep a report, if it is of this stream."""
        progress = json.loads(report)
        if self.identity is not None and progress["id"] == self.identity:
            self.last = progress
            self.recent.append(progress)
            if self.heard is not None:
                self.heard(progress)

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        if self.identity is not None and str(event.id) == self.identity:
            self.ended = event.exception

    @property
    def _jlistener(self) -> Any:
        """The object that Spark's JVM calls, if there is a local JVM."""
        if not hasattr(self, "_jlistenerobj"):
            jvm: Any = SparkContext._jvm
            self._jlistenerobj = jvm.PythonStreamingQueryListenerWrapper(_AsText(self))
        return self._jlistenerobj


class _AsText(JStreamingQueryListener):
    """Receives reports as JSON. Reading them as objects, field by field, takes hundreds of calls to
    the JVM for every micro-batch, a fifth of a second of CPU time."""

    pylistener: ProgressListener

    def onQueryStarted(self, jevent: Any) -> None:
        pass

    def onQueryProgress(self, jevent: Any) -> None:
        self.pylistener.take(str(jevent.progress().json()))

    def onQueryIdle(self, jevent: Any) -> None:
        pass


def listen(spark: SparkSession) -> ProgressListener | None:
    """A listener on the session's streams; None if listeners are not allowed."""
    listener = ProgressListener()
    try:
        spark.streams.addListener(listener)
    except Exception:  # some hosted sessions have no listener bus: status() polls the query instead
        return None
    return listener
