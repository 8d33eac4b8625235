"""Requests of other processes, carried out by the stream that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from weft.errors import CheckpointError, WeftError
from weft.query.query import Query
from weft.stream.requests import Requests

Asked = tuple[str, dict[str, Any]]
"""A ticket, and what was asked."""


class Changeable(Protocol):
    """A stream whose queries come and go."""

    @property
    def queries(self) -> Sequence[Query]: ...

    def apply(self, asked: Sequence[dict[str, Any]]) -> None: ...

    def add(self, query: Query, /, *, backfill: bool) -> None: ...

    def drop(self, name: str) -> None: ...

    def pause(self, name: str) -> None: ...

    def resume(self, name: str) -> None: ...


class Handling:
    """Takes requests, carries them out and answers; whatever fails leaves nothing behind."""

    def __init__(self, stream: Changeable, requests: Requests, hide: Callable[[str], str]) -> None:
        self._stream, self._requests, self._hide = stream, requests, hide

    def carry_out(self) -> None:
        """Carry out what has been asked for so far."""
        pending = self._requests.pending()
        self._all([one for one in pending if self._requests.take(one[0])])

    def _all(self, taken: Sequence[Asked]) -> None:
        """In their order: together, or if any is amiss, each half by itself."""
        if len(taken) == 1:
            ((ticket, asked),) = taken
            self._requests.reply(ticket, self._one(asked))
        elif taken and not self._together(taken):
            half = len(taken) // 2
            self._all(taken[:half])
            self._all(taken[half:])

    def _together(self, taken: Sequence[Asked]) -> bool:
        """Carry out many requests as one change; False, and nothing done, if any is amiss.

        Every change starts the stream again, which a thousand of them in a minute cannot each do.
        """
        try:
            self._stream.apply([asked for _, asked in taken])
        except Exception:  # alone, whoever asked for what is amiss is told so
            return False
        for ticket, _ in taken:
            self._requests.reply(ticket, None)
        return True

    def _one(self, asked: dict[str, Any]) -> str | None:
        """Carry out one request; what went wrong, if anything did."""
        stream = self._stream
        try:
            if asked["op"] == "add":
                query = Query.from_dict(asked["query"], trusted=False)
                stream.add(query, backfill=bool(asked["backfill"]))
            elif asked["op"] in ("drop", "pause", "resume"):
                change = {"drop": stream.drop, "pause": stream.pause, "resume": stream.resume}
                change[asked["op"]](asked["name"])
            else:
                raise CheckpointError(f"op={asked['op']!r}: accepted are add, drop, pause, resume")
        except WeftError as error:
            return self._hide(str(error))
        except Exception as error:  # whoever asked must hear of it, and the request not come again
            return self._hide(f"{type(error).__name__}: {error}")
        return None
