"""Spark's own progress reports of a stream, taken as they come."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener


class ProgressListener(StreamingQueryListener):
    """Keeps the last reports of one stream, whichever run of it made them, and why it ended."""

    def __init__(self) -> None:
        self.identity: str | None = None
        self.last: dict[str, Any] | None = None
        self.recent: deque[dict[str, Any]] = deque(maxlen=240)
        """Reports that nobody has taken yet."""
        self.ended: str | None = None

    def onQueryStarted(self, event: Any) -> None:
        pass

    def onQueryProgress(self, event: Any) -> None:
        if self.identity is not None and str(event.progress.id) == self.identity:
            self.last = json.loads(event.progress.json)
            self.recent.append(self.last)

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        if self.identity is not None and str(event.id) == self.identity:
            self.ended = event.exception


def listen(spark: SparkSession) -> ProgressListener | None:
    """A listener on the session's streams; None where listeners are not allowed."""
    listener = ProgressListener()
    try:
        spark.streams.addListener(listener)
    except Exception:  # some hosted sessions have no listener bus: status() asks the query instead
        return None
    return listener
