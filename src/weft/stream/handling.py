"""Requests of other processes, carried out by the stream that runs."""

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
"""Seconds between two looks while changes wait, at least, and times that the last look took."""
Request = tuple[str, dict[str, Any]]
"""A ticket, and what was asked."""


class Changeable(Protocol):
    """A stream whose queries come and go."""

    def fits(self, asked: Sequence[dict[str, Any]]) -> bool:
        """Whether a change can be made without a restart; an error if it cannot be made at all."""

    def look(self, asked: Sequence[dict[str, Any]]) -> None:
        """Ask Spark for what it will be asked for; what is amiss shows later."""

    def needs(self, asked: Sequence[dict[str, Any]]) -> list[str]:
        """What a change asks for that is not projected."""

    def soon(self, work: Callable[[], None]) -> object:
        """Have work done between two micro-batches."""

    def change(self, asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Make a change, between two micro-batches, and say since when it holds."""

    def restart(self, asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Make a change by starting the stream again, and say since when it holds."""

    def told(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answers that are asked for, as JSON values."""


class Handling:
    """Takes requests, carries them out and answers; whatever fails leaves nothing behind.

    What has been looked at waits for the end of the micro-batch that runs, and is made then in one
    change with all that has come meanwhile.
    """

    def __init__(self, stream: Changeable, requests: Requests, hide: Callable[[str], str]) -> None:
        self._stream, self._requests, self._hide = stream, requests, hide
        self._lock = threading.Lock()
        self._ready: list[Request] = []
        self._next = 0.0
        """When requests are looked at again while others wait for their turn."""
        self._restarting: list[Request] = []
        self._made: list[tuple[str, dict[str, Any]]] = []
        """Tickets of what is carried out, and since when, until whoever asked is told."""
        # One at a time, beside the changes: reading the state takes Spark's time from the stream.
        self._answering = ThreadPoolExecutor(1, "weft-answers")

    def carry_out(self) -> None:
        """Look at what has been asked for, and see to it that it is done."""
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
        # Those that wait are looked at again with those that come: not for every one of them.
        self._next = time.monotonic() + max(_PAUSE, _REST * (time.monotonic() - began))
        self.tell()

    def tell(self) -> None:
        """Answer the requests that are carried out: not while the next micro-batch waits for it."""
        with self._lock:
            made, self._made = self._made, []
        for ticket, since in made:
            self._requests.reply(ticket, None, since)

    def _read(self, taken: Sequence[Request]) -> Iterator[Request]:
        """The requests with their queries read; one that cannot be is answered at once."""
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
            with suppress(OSError):  # nobody is left to be told
                self._requests.reply(ticket, self._said(error))

    def close(self) -> None:
        """Take no more questions; those that were taken are answered."""
        self._answering.shutdown(wait=False)

    def _accept(self, taken: list[Request]) -> None:
        """In their order: together, or if any is amiss, each half by itself."""
        if not taken:
            return
        with suppress(Exception):  # Spark is asked here, where nobody waits for it
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
        """Between two micro-batches: make what waits, in one change."""
        with self._lock:
            ready, self._ready = self._ready, []
            self._make(ready, self._stream.change)

    def _make(self, some: Sequence[Request], change: Callable[[Sequence[Any]], Any]) -> None:
        """Make a change of some requests; if that fails, of each half, to find out whose it is."""
        if not some:
            return
        try:
            made = change([body for _, body in some])
        except NeedsRestart:  # what was changed before has changed what it has to fit
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
        # Whoever asked must hear of it, and the request not come again.
        text = str(error) if isinstance(error, WeftError) else f"{type(error).__name__}: {error}"
        return self._hide(text)


def _starts(body: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """The first windows of the queries that one request names, of all that a change tells of."""
    starts = made.get("complete_from", {})
    asked = {name.lower() for name in names_of(body)}
    return {"complete_from": {name: at for name, at in starts.items() if name.lower() in asked}}
