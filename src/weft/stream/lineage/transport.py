"""How events are sent: appended to a file, or posted over HTTP by a separate thread."""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from weft.errors import EngineError
from weft.job.variables import redact

KEY = "OPENLINEAGE_API_KEY"
"""The environment variable with a service's API key, the same as for OpenLineage's own clients."""
_WAITING = 100_000
_TRIES = 3
_TIMEOUT = 5.0
_CLOSING = 10.0
"""Seconds that the end of a stream waits for events to be sent."""
_log = logging.getLogger("weft.lineage")


class Transport(Protocol):
    """Sends events to a collector."""

    def send(self, event: Mapping[str, Any]) -> None:
        """Send an event, now or soon."""

    def close(self) -> None:
        """Send waiting events, and end."""


def transport(target: str) -> Transport:
    """The transport for a target: HTTP for a URL, or else a file.

    >>> transport("ftp://host/x")
    Traceback (most recent call last):
    ...
    weft.errors.EngineError: openlineage='ftp://host/x': accepted are a file, or a URL of http ...
    """
    scheme = urlsplit(target).scheme if "://" in target else ""
    if scheme in ("http", "https"):
        return ByHttp(target)
    if scheme not in ("", "file") or not target:
        raise EngineError(
            f"openlineage={redact(target)!r}: accepted are a file, or a URL of http or https"
        )
    return ToFile(target.removeprefix("file://"))


class ToFile:
    """Appends a line of JSON to a file for every event."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, "a", encoding="utf-8"):
                pass
        except OSError as error:
            raise EngineError(
                f"openlineage={path!r}: cannot be written to ({error.strerror or error})"
            ) from None

    def send(self, event: Mapping[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")

    def close(self) -> None:
        pass


class ByHttp:
    """Posts events one after the other; a service that is down delays nothing else.

    An event that cannot be posted in three tries is dropped, and a warning is logged once.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.lost = 0
        """Events that could not be posted."""
        self._queue: queue.Queue[Mapping[str, Any] | None] = queue.Queue(_WAITING)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="weft-lineage", daemon=True)
        self._thread.start()

    def send(self, event: Mapping[str, Any]) -> None:
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self._lose("too many events wait")

    def close(self) -> None:
        self._closing.set()
        try:
            self._queue.put(None, timeout=_CLOSING)
        except queue.Full:
            return
        self._thread.join(_CLOSING)

    def _work(self) -> None:
        while (event := self._queue.get()) is not None:
            for attempt in range(_TRIES):
                why = self._post(event)
                if why is None:
                    break
                if attempt + 1 < _TRIES and not self._closing.is_set():
                    time.sleep(0.2 * 4**attempt)
            else:
                self._lose(why or "")

    def _post(self, event: Mapping[str, Any]) -> str | None:
        """Post an event; return why it failed, or None."""
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(KEY)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        try:
            request = Request(self.url, json.dumps(event).encode(), headers, method="POST")
            with urlopen(request, timeout=_TIMEOUT) as reply:
                reply.read()
        except HTTPError as error:
            with error:
                return f"{error.code} {error.reason}"
        except (URLError, OSError, ValueError) as error:
            return str(getattr(error, "reason", error))
        return None

    def _lose(self, why: str) -> None:
        self.lost += 1
        if self.lost == 1:
            _log.warning("OpenLineage events are lost: POST %s: %s", redact(self.url), why)
