"""As-of answers for programs: requests to the running stream go through its checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from starlette.exceptions import HTTPException

from weft.errors import EngineError
from weft.serve.models import AsOfAnswers
from weft.serve.source import ApiSource
from weft.serve.stream import StreamSource
from weft.stream.requests import Requests

TIMEOUT = 30.0
"""Seconds to wait for an answer of a running stream."""
AT_ONCE = 4
"""Most requests that wait for the stream at the same time; it answers them one by one."""


class Asking:
    """Asks the stream on behalf of clients, of which only a few may ask at the same time."""

    def __init__(self, source: ApiSource, at_once: int = AT_ONCE) -> None:
        self._source, self._at_once = source, at_once
        self._free = threading.BoundedSemaphore(at_once)

    def answer(
        self,
        query: str,
        at: str | None,
        keys: Sequence[str],
        limit: int,
        max_age: str | None = None,
    ) -> AsOfAnswers:
        """A query's answers for one window, as of the last micro-batch."""
        checkpoint = self._running()
        wanted = {}
        for key in keys:
            name, equals, value = key.partition("=")
            wanted[name] = value if equals else None
        if not self._free.acquire(blocking=False):
            raise HTTPException(429, f"{self._at_once} requests are waiting: try again in a second")
        try:
            requests = Requests(checkpoint)
            ticket = requests.ask_answer(query, at, wanted, limit, max_age)
            return AsOfAnswers(**requests.wait(ticket, TIMEOUT, patience=TIMEOUT))
        finally:
            self._free.release()

    def _running(self) -> str:
        source = self._source
        if not isinstance(source, StreamSource) or source.checkpoint is None:
            raise EngineError("this is a stored plan or a job without a checkpoint: no state")
        if not source.running:
            raise EngineError(
                f"the stream is not running: `weft ask {source.name}` reads the state of a stream "
                f"that is stopped"
            )
        return source.checkpoint
