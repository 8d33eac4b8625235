"""Limits on connections, so that slow clients or floods of them do not keep others waiting.

    the client        sends headers   sends body   waits for the answer   reads the answer
    time limit        HEADERS         REQUEST      none                   UNREAD without progress
    if server full    closed          closed       never closed           closed if no other idles

When the server has its maximum of connections, it closes the one that has kept it waiting longest
and serves the newcomer. Rejecting newcomers instead would let an attacker lock others out: on
loopback, another user's page, half-open connections and this dashboard all have the same address.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0
"""Seconds for the headers of a request, counted from the connection or from its first byte."""
REQUEST = 22.0
"""Seconds for a request with its body, from the same moment. The guard answers 408 earlier; this
limit is for bodies that the application does not read, such as that of a GET."""
UNREAD = 30.0
"""Seconds for which an answer may wait in our memory without its client reading any of it."""
TAKEN = 16_384
"""Bytes that a client must have read of an answer to have made progress."""
SENDING = 131_072
"""Bytes of an answer that the kernel buffers. By default it buffers megabytes per connection, and
reports a slow client's progress only once a third of them are sent."""
MOST = 256
"""Most connections at a time; a process may open about 1,000 files on Linux."""
PER_ADDRESS = 192
"""Most connections from one address: enough for all pages behind a proxy, with the maximum of event
streams, and for half-open connections."""
AT_ONCE = 32
"""Connections accepted in one turn of the event loop. A request is read about three turns after its
connection was accepted; by then its connection must not be the one that has waited longest."""
QUEUE = 512
"""Connections that the kernel holds until they are accepted."""
_BODY = json.dumps(
    {"error": {"kind": "Busy", "message": "too many connections are open", "place": None}}
).encode()
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n"
    b"cache-control: no-store\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
) % (len(_BODY), _BODY)


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections and how much time one client, and all clients together, may take."""

    headers: float = HEADERS
    request: float = REQUEST
    unread: float = UNREAD
    most: int = MOST
    per_address: int = PER_ADDRESS


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1 connection, with limits."""

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()
    _since = 0.0
    """Since when the server has been waiting for the next request."""
    _begun: float | None = None
    """When the incomplete request began; None between two requests."""
    _deadline: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for the connection, or reject it."""
        super().connection_made(transport)
        with suppress(OSError, AttributeError):
            transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_SNDBUF, SENDING
            )
        self._since = self._begun = self.loop.time()
        if self._has_room():
            self._watch()
            return
        self.connections.discard(self)
        transport.write(BUSY)
        transport.close()

    def _has_room(self) -> bool:
        """Whether there is room, if need be after closing a connection that keeps us waiting."""
        others = [one for one in self.connections if one is not self]
        here = [one for one in others if self._address == getattr(one, "_address", None)]
        if len(here) >= self.limits.per_address:
            return _close_one(here)
        return len(others) < self.limits.most or _close_one(others)

    @property
    def _address(self) -> str | None:
        return self.client[0] if self.client else None

    def waiting(self) -> tuple[bool, float] | None:
        """Since when the server has been waiting for the client; None while the application works.

        Clients that are still reading an answer sort last: they are closed only if no others idle.
        An event stream counts as work, and so does every request that is not answered yet.
        """
        working = self.cycle is not None and not self.cycle.response_complete
        if working and self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            return None
        return self.transport.get_write_buffer_size() > 0, self._since

    def drop(self) -> None:
        """Close the connection now, even if something is still to be sent."""
        self.connections.discard(self)  # at once, because others may be counting
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Called with data from the client."""
        before = self.conn.their_state
        if self._begun is None:
            self._begun = self.loop.time()
        super().data_received(data)
        if before is h11.SEND_BODY and self.conn.their_state is h11.IDLE:
            # The end of a body that the application did not read: another request follows.
            self._since = self._begun = self.loop.time()
        self._watch()

    def on_response_complete(self) -> None:
        """Called when an answer has been passed on for sending."""
        if self.conn.their_state is not h11.SEND_BODY:
            self._since, self._begun = self.loop.time(), None
        super().on_response_complete()
        self._watch()
        if self.transport.is_closing():
            self._watch_untaken()

    def _watch(self) -> None:
        """Set the time by which the client must have sent the rest of its request."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        owed = {h11.IDLE: self.limits.headers, h11.SEND_BODY: self.limits.request}
        seconds = owed.get(self.conn.their_state)
        if seconds is None or self.transport.is_closing():
            return
        if self._begun is None:
            if self.conn.their_state is h11.IDLE:
                return  # between two requests, for which uvicorn has its own time limit
            self._begun = self.loop.time()
        self._deadline = self.loop.call_at(self._begun + seconds, self.drop)

    def pause_writing(self) -> None:
        """Called when much of an answer is waiting to be sent."""
        super().pause_writing()
        self._watch_untaken()

    def resume_writing(self) -> None:
        """Called when little of an answer is left to send."""
        super().resume_writing()
        if self._untaken is not None and not self.transport.is_closing():
            self._untaken.cancel()
            self._untaken = None

    def timeout_keep_alive_handler(self) -> None:
        """Called when the client has sent no further request for a while."""
        super().timeout_keep_alive_handler()
        self._watch_untaken()  # closing waits until everything is sent, possibly for ever

    def _watch_untaken(self) -> None:
        left = self.transport.get_write_buffer_size()
        if self._untaken is None and left:
            self._untaken = self.loop.call_later(self.limits.unread, self._check_untaken, left)

    def _check_untaken(self, before: int) -> None:
        self._untaken = None
        left = self.transport.get_write_buffer_size()
        if left and left > before - TAKEN:
            self.drop()
        else:
            self._watch_untaken()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection has been closed, by either side."""
        for timer in (self._deadline, self._untaken):
            if timer is not None:
                timer.cancel()
        self._deadline = self._untaken = None
        super().connection_lost(exc)


def _close_one(connections: Iterable[object]) -> bool:
    """Close the connection that has kept us waiting longest; False if none does."""
    found = [
        (since, id(one), one)
        for one in connections
        if isinstance(one, Connection) and (since := one.waiting()) is not None
    ]
    if not found:
        return False
    min(found)[2].drop()
    return True


def limited(limits: ConnectionLimits) -> type[Connection]:
    """The class of connections with these limits, as uvicorn takes it."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
