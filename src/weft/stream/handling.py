"""Carries out requests of other processes in the running stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from weft.errors import WeftError
from weft.stream.burst import NeedsRestart, names_of, read_change
from weft.stream.requests import Requests

_READS = ("preview", "answer")
"""Requests that change nothing."""
_PAUSE, _REST = 0.1, 2.0
"""While changes wait, the pause before the next look at requests: at least so many seconds, and
so many times as long as the last look took."""
Request = tuple[str, dict[str, Any]]
"""A ticket, and the body of the request."""


class Changeable(Protocol):
    """A stream whose queries can change."""

    def fits(self, asked: Sequence[dict[str, Any]]) -> bool:
        """Whether changes can be made without a restart; an error if they cannot be made at all."""

    def look(self, asked: Sequence[dict[str, Any]]) -> None:
        """Query Spark ahead for what the changes will need; errors are raised later."""

    def needs(self, asked: Sequence[dict[str, Any]]) -> list[str]:
        """The expressions that a change needs and the stream does not project."""

    def soon(self, work: Callable[[], None]) -> object:
        """Run work between two micro-batches."""

    def change(self, asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Make changes, between two micro-batches; return when they took effect."""

    def restart(self, asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Make changes by restarting the stream; return when they took effect."""

    def told(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The requested answers, as JSON values."""


class Handling:
    """Takes requests, carries them out and replies; a request that fails has no effect.

    Accepted changes wait for the end of the running micro-batch, and are then made in one change
    together with all that were accepted meanwhile.
    """

    def __init__(self, stream: Changeable, requests: Requests, hide: Callable[[str], str]) -> None:
        self._stream, self._requests, self._hide = stream, requests, hide
        self._lock = threading.Lock()
        self._ready: list[Request] = []
        self._next = 0.0
        """When to look for further requests while accepted ones wait."""
        self._restarting: list[Request] = []
        self._made: list[tuple[str, dict[str, Any]]] = []
        """Tickets of requests that were carried out, and when, until the reply is sent."""
        # One at a time, concurrently with changes: reading the state takes Spark's time.
        self._answering = ThreadPoolExecutor(1, "weft-answers")

    def carry_out(self) -> None:
        """Look for requests, and carry them out or schedule them."""
        self.tell()
        with self._lock:
            restarting, self._restarting = self._restarting, []
        self._make(restarting, self._stream.restart)
        if self._ready and time.monotonic() < self._next:
            return
        began = time.monotonic()
        pending = self._requests.pending()
        taken = [one for one in pending if self._requests.take(one[0])]
        for ticket, body in taken:
            if body["op"] == "preview":
                self._preview(ticket, body)
            elif body["op"] == "answer":
                self._answering.submit(self._answer, ticket, body)
        self._accept([*self._read([one for one in taken if one[1]["op"] not in _READS])])
        # Each look checks the waiting requests again with the new ones, so do not look too often.
        self._next = time.monotonic() + max(_PAUSE, _REST * (time.monotonic() - began))
        self.tell()

    def tell(self) -> None:
        """Reply to requests that were carried out; not while the next micro-batch is waiting."""
        with self._lock:
            made, self._made = self._made, []
        for ticket, since in made:
            self._requests.reply(ticket, None, since)

    def _read(self, taken: Sequence[Request]) -> Iterator[Request]:
        """The requests with their queries parsed; an invalid one gets its reply at once."""
        for ticket, body in taken:
            try:
                yield ticket, dict(read_change(body))
            except Exception as error:
                self._requests.reply(ticket, self._said(error))

    def _preview(self, ticket: str, body: dict[str, Any]) -> None:
        try:
            self._requests.reply(ticket, None, {"needs": self._stream.needs(body["changes"])})
        except Exception as error:
            self._requests.reply(ticket, self._said(error))

    def _answer(self, ticket: str, body: dict[str, Any]) -> None:
        try:
            self._requests.reply(ticket, None, self._stream.told(body))
        except Exception as error:
            with suppress(OSError):  # the reply cannot be delivered either
                self._requests.reply(ticket, self._said(error))

    def close(self) -> None:
        """Accept no more requests for answers; those accepted are still answered."""
        self._answering.shutdown(wait=False)

    def _accept(self, taken: list[Request]) -> None:
        """Accept requests in order: all together, or, if any is invalid, each half separately."""
        if not taken:
            return
        with suppress(Exception):  # query Spark now, while no micro-batch waits for it
            self._stream.look([body for _, body in taken])
        try:
            with self._lock:
                waits = bool(self._ready)
                fits = self._stream.fits([body for _, body in [*self._ready, *taken]])
                if fits:
                    self._ready += taken
        except Exception as error:
            if len(taken) == 1:
                self._requests.reply(taken[0][0], self._said(error))
                return
            half = len(taken) // 2
            self._accept(taken[:half])
            self._accept(taken[half:])
            return
        if not fits:
            self._make(taken, self._stream.restart)
        elif not waits:
            self._stream.soon(self._change_ready)

    def _change_ready(self) -> None:
        """Between two micro-batches: make all waiting changes in one."""
        with self._lock:
            ready, self._ready = self._ready, []
            self._make(ready, self._stream.change)

    def _make(self, some: Sequence[Request], change: Callable[[Sequence[Any]], Any]) -> None:
        """Make the changes of some requests in one; if that fails, of each half separately, so that
        only the failing ones are refused."""
        if not some:
            return
        try:
            made = change([body for _, body in some])
        except NeedsRestart:  # an earlier change has changed the projection that it has to fit
            self._restarting += some
            return
        except Exception as error:
            if len(some) == 1:
                self._requests.reply(some[0][0], self._said(error))
                return
            half = len(some) // 2
            self._make(some[:half], change)
            self._make(some[half:], change)
            return
        self._made += [(ticket, made | _starts(body, made)) for ticket, body in some]

    def _said(self, error: Exception) -> str:
        # Any error is sent as the reply, so that the request is not carried out again.
        text = str(error) if isinstance(error, WeftError) else f"{type(error).__name__}: {error}"
        return self._hide(text)


def _starts(body: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """The first windows of the queries in one request, selected from those of the whole change."""
    starts = made.get("complete_from", {})
    asked = {name.lower() for name in names_of(body)}
    return {"complete_from": {name: at for name, at in starts.items() if name.lower() in asked}}
