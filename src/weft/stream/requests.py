"""Requests from other processes: files in the checkpoint that a running stream picks up."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pyarrow import fs

from weft.errors import CheckpointError
from weft.query.query import Query
from weft.sinks.files import ASIDE, Folder

PATIENCE = 600.0
"""Seconds to wait for the end of a change that has begun, in addition to the timeout."""
UNREAD = 3_600_000_000_000
"""Nanoseconds after which an unread reply is removed."""
TIDY = 60.0
"""Seconds between two searches for such replies, because there may be thousands."""


class RequestRefused(CheckpointError):
    """The running stream has replied that it cannot carry out the request."""


class Requests:
    """`<checkpoint>/weft/requests` and `/replies`: any process may send, the running one replies.

    >>> import tempfile
    >>> requests = Requests(tempfile.mkdtemp())
    >>> ticket = requests.ask_drop("hourly")
    >>> [(name, asked["name"]) for name, asked in requests.pending()] == [(ticket, "hourly")]
    True
    >>> requests.take(ticket), requests.pending()
    (True, [])
    >>> requests.reply(ticket, None, {"batch": 7}); requests.wait(ticket, timeout=1)
    {'batch': 7}
    """

    def __init__(self, checkpoint: str) -> None:
        folder = Folder(checkpoint).sub("weft")
        self._asked, self._replies = folder.sub("requests"), folder.sub("replies")
        self._taken = self._asked.sub("taken")
        self._tidy_at = 0.0

    def ask_add(self, query: Query, *, backfill: bool = False) -> str:
        """Request that a query be added; returns a ticket to wait for."""
        return self._ask({"op": "add", "query": query.to_dict(), "backfill": backfill})

    def ask_drop(self, name: str) -> str:
        """Request that a query be dropped; returns a ticket to wait for."""
        return self._ask({"op": "drop", "name": name})

    def ask_all(self, changes: Sequence[Mapping[str, Any]]) -> str:
        """Request several changes, all to be made or none; returns a ticket to wait for."""
        return self._ask({"op": "all", "changes": list(changes)})

    def ask_preview(self, changes: Sequence[Mapping[str, Any]]) -> str:
        """Request what changes would need, without making them; returns a ticket to wait for."""
        return self._ask({"op": "preview", "changes": list(changes)})

    def ask_answer(
        self,
        query: str,
        at: str | int | None,
        keys: Mapping[str, Any],
        limit: int,
        max_age: str | None = None,
    ) -> str:
        """Request the answers of a query's window; returns a ticket to wait for."""
        body = {"op": "answer", "query": query, "at": at, "keys": dict(keys), "limit": limit}
        return self._ask({**body, "max_age": max_age})

    def _ask(self, body: dict[str, Any]) -> str:
        # Sort after all waiting requests even if the clock has gone back: an add before its drop.
        waiting = [int(name[:20]) for name in self._asked.names() if name[:20].isdigit()]
        number = max([time.time_ns(), *(one + 1 for one in waiting)])
        ticket = f"{number:020d}-{uuid.uuid4().hex[:8]}"
        self._asked.write(f"{ticket}.json", "request", body)
        return ticket

    def wait(
        self, ticket: str, timeout: float = 60.0, patience: float = PATIENCE
    ) -> dict[str, Any]:
        """Wait until the change is made and return when it took effect; raise its error if any."""
        name = f"{ticket}.json"
        ends = time.monotonic() + timeout
        while not self._replies.has(name):
            if time.monotonic() > ends:
                # Withdraw it, so that it is not carried out later unexpectedly. A request that is
                # being carried out cannot be withdrawn any more, and will get a reply.
                if self._asked.withdraw(name):
                    raise CheckpointError(
                        f"request {ticket} was not answered within {timeout:g} s and is withdrawn: "
                        f"is the stream running?"
                    )
                if time.monotonic() > ends + patience:
                    raise CheckpointError(
                        f"request {ticket} has been running for more than {patience:g} s: check "
                        f"`weft query list` before you try again"
                    )
            time.sleep(self.pace)
        reply = self._replies.read(name, "reply")
        self._replies.remove(name)  # no other process waits for it
        if reply["error"] is not None:
            raise RequestRefused(f"request {ticket} failed: {reply['error']}")
        return dict(reply.get("made") or {})

    @property
    def pace(self) -> float:
        """Seconds between two looks; short on a local disk, where looking is cheap."""
        return 0.02 if isinstance(self._asked.system, fs.LocalFileSystem) else 1.0

    def pending(self) -> list[tuple[str, dict[str, Any]]]:
        """Requests without a reply, oldest first; damaged ones are set aside."""
        found = []
        for name in self._asked.names():
            try:
                found.append((name.removesuffix(".json"), self._asked.read(name, "request")))
            except CheckpointError as error:
                # It must neither block later requests nor vanish: the sender gets a reply.
                if name in self._asked.names():  # otherwise it was just withdrawn
                    self._asked.set_aside(name)
                    self.reply(name.removesuffix(".json"), f"{error}; it is set aside: ask again")
        return found

    def take(self, ticket: str) -> bool:
        """Begin to carry a request out; False if the sender has withdrawn it."""
        return self._asked.move_to(self._taken, f"{ticket}.json")

    def abandon(self) -> None:
        """Reply to requests that an earlier run had begun to carry out when it ended."""
        for name in self._taken.names():
            self.reply(
                name.removesuffix(".json"),
                "the stream ended while it made this change: look at `weft query list`",
            )

    def damaged(self) -> tuple[str, ...]:
        """The paths of unreadable requests that were set aside."""
        folder = self._asked.sub(ASIDE)
        return tuple(f"{folder.path}/{name}" for name in folder.names())

    def reply(self, ticket: str, error: str | None, made: Mapping[str, Any] | None = None) -> None:
        """Reply to a request with an error or its result; it is no longer pending."""
        self._replies.write(f"{ticket}.json", "reply", {"error": error, "made": made})
        for folder in (self._asked, self._taken):
            folder.remove(f"{ticket}.json")
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY
        oldest = f"{time.time_ns() - UNREAD:020d}"
        for name in self._replies.names():
            if name < oldest:  # the sender has gone away
                self._replies.remove(name)
