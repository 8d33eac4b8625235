"""Run the application until it is told to stop."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn

from weft.errors import EngineError
from weft.serve.connections import AT_ONCE, QUEUE, ConnectionLimits, limited
from weft.serve.guard import App


def bound(host: str, port: int) -> socket.socket:
    """A socket that already listens when its address is announced."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(QUEUE)  # clients may connect from now on, and wait until they are served
    except OSError as error:
        listening.close()
        raise EngineError(
            f"--host {host} --port {port}: {error.strerror}; --port 0 takes any that is free"
        ) from None
    return listening


class Server(uvicorn.Server):
    """A server that reports when it has to stop, because pages that listen never hang up first."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio uses the number of connections that it accepts at once also as the length of
            # the kernel's queue; with a short queue, further clients would wait for seconds.
            listening.listen(QUEUE)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called on Ctrl-C and SIGTERM."""
        self._stopping.set()
        super().handle_exit(sig, frame)


def make_server(
    app: App, stopping: threading.Event, limits: ConnectionLimits | None = None
) -> Server:
    """The server of an application."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # requests may be frequent, and may be confidential
        server_header=False,
        # Once uvicorn's own limit on connections is reached, it answers 503 to everybody.
        http=limited(limits or ConnectionLimits()),
        limit_concurrency=None,
        backlog=AT_ONCE,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=5,
        ws="none",
        lifespan="off",
    )
    return Server(config, stopping)


def run_server(
    app: App, host: str, port: int, ready: Callable[[str], None], stopping: threading.Event
) -> None:
    """Serve on an address; once the page can be loaded, `ready` is called with its URL."""
    listening = bound(host, port)
    shown = f"[{host}]" if ":" in host else host
    server = make_server(app, stopping)
    ready(f"http://{shown}:{listening.getsockname()[1]}")
    server.run(sockets=[listening])
