"""Slow connections and floods of them, on a real server with sockets: others are still served."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from serve_cases import TOKEN, write_plan

from weft.serve.app import make_app
from weft.serve.connections import HEADERS, MOST, PER_ADDRESS, ConnectionLimits
from weft.serve.guard import App, Policy
from weft.serve.server import bound, make_server
from weft.serve.source import open_source

GET = b"GET /api/meta HTTP/1.1\r\nhost: localhost\r\n\r\n"
HALF = GET[:-2]
POST = b"POST /api/preview HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{"
BODY_OF_GET = GET[:-2] + b"content-length: 50\r\n\r\n{"
LISTEN = b"GET /api/events HTTP/1.1\r\nhost: localhost\r\n\r\n"
QUICK = ConnectionLimits(headers=0.6, request=1.2, unread=0.6)
MANY = 300


class Site:
    """A server in a separate thread, and its clients."""

    def __init__(self, address: tuple[str, int], stack: ExitStack) -> None:
        self.address, self._stack = address, stack

    def open(self, sent: bytes = b"", source: str = "127.0.0.1", room: int = 0) -> socket.socket:
        """A connection on which something was sent; `room` is the size of its receive buffer."""
        client = self._stack.enter_context(socket.socket())
        client.settimeout(10)
        if room:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        client.bind((source, 0))
        client.connect(self.address)
        client.sendall(sent)
        return client

    def ask(self, sent: bytes = GET, source: str = "127.0.0.1") -> tuple[int, float]:
        """The status of an answer on a new connection, and the seconds that it took."""
        began = time.monotonic()
        client = self.open(sent, source)
        status = int(client.recv(65536).split(b" ")[1])
        client.close()
        return status, time.monotonic() - began


@contextmanager
def serving(app: App, limits: ConnectionLimits | None = None) -> Iterator[Site]:
    stopping = threading.Event()
    server = make_server(app, stopping, limits)
    listening = bound("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with ExitStack() as stack:
            yield Site(listening.getsockname(), stack)
    finally:
        stopping.set()
        server.should_exit = True
        thread.join(20)
        listening.close()
    assert not thread.is_alive()


@pytest.fixture
def app(tmp_path) -> App:
    source = open_source(str(write_plan(tmp_path / "plan.json")))
    return make_app(source, Policy(TOKEN, body_seconds=0.8))


def is_closed(client: socket.socket, within: float = 0.0) -> bool:
    """Whether the server has closed a connection, or closes it soon."""
    ends = time.monotonic() + within
    while True:
        client.settimeout(max(0.05, ends - time.monotonic()))
        try:
            if client.recv(65536) == b"":
                return True
        except TimeoutError:
            return False
        except ConnectionError:
            return True


@pytest.mark.parametrize("sent", [b"", HALF, b"\r\n", POST, BODY_OF_GET, GET], ids=repr)
def test_an_honest_client_is_served_at_once_beside_many_that_keep_us_waiting(app, sent):
    with serving(app) as site:
        held = [site.open(sent) for _ in range(MANY)]
        for _ in range(20):
            status, seconds = site.ask()
            assert status == 200
            assert seconds < 0.8 * HEADERS  # before any of those times out, even on busy machines
        if sent in (b"", HALF):
            # Those that had waited longest were closed, and no more than necessary.
            assert all(is_closed(client) for client in held[: MANY - PER_ADDRESS])
            assert not is_closed(held[-1])


def test_an_honest_client_is_served_while_new_ones_keep_coming(app):
    with serving(app) as site:
        enough = threading.Event()

        def flood() -> None:
            held: list[socket.socket] = []
            while not enough.is_set():
                held.append(socket.create_connection(site.address))
                held[-1].sendall(HALF)
                if len(held) > MANY:
                    held.pop(0).close()
            for client in held:
                client.close()

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            time.sleep(0.3)
            assert [site.ask()[0] for _ in range(20)] == [200] * 20
        finally:
            enough.set()
            thread.join(20)


def test_streams_and_running_requests_stay_when_there_is_no_room(app):
    with serving(app, ConnectionLimits(most=30, per_address=30)) as site:
        streams = [site.open(LISTEN) for _ in range(10)]
        for stream in streams:
            assert b"event: live" in read_until(stream, b"event: live")
        for _ in range(100):
            site.open(HALF)
        assert site.ask()[0] == 200
        assert not any(is_closed(stream) for stream in streams)


def test_where_nobody_keeps_us_waiting_a_newcomer_is_told(app):
    with serving(app, ConnectionLimits(most=8, per_address=8)) as site:
        streams = [site.open(LISTEN) for _ in range(8)]
        for stream in streams:
            read_until(stream, b"event: live")
        client = site.open()
        head, _, body = read_until(client, b"}}").partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert json.loads(body)["error"]["kind"] == "Busy"
        assert is_closed(client, 5)
        streams[0].close()
        ends = time.monotonic() + 10
        while served(site) != 200:
            assert time.monotonic() < ends


def served(site: Site) -> int:
    try:
        return site.ask()[0]
    except ConnectionError:  # answered and closed before it had sent a request
        return 503


def read_until(client: socket.socket, mark: bytes) -> bytes:
    found = b""
    while mark not in found:
        more = client.recv(65536)
        if not more:
            break
        found += more
    return found


def test_one_address_does_not_take_the_room_of_others(app):
    with serving(app, ConnectionLimits(most=40, per_address=20)) as site:
        other = [site.open(HALF, "127.0.0.2") for _ in range(10)]
        for _ in range(100):
            site.open(HALF)
        assert not any(is_closed(client) for client in other)
        assert site.ask(source="127.0.0.2")[0] == 200
        assert site.ask()[0] == 200
        for last in range(3, 9):  # many addresses: there is also a limit for all together
            for _ in range(20):
                site.open(HALF, f"127.0.0.{last}")
        assert is_closed(other[0], 2)
        assert site.ask(source="127.0.0.9")[0] == 200


@pytest.mark.parametrize("before", [b"", GET], ids=["first request", "second request"])
@pytest.mark.parametrize("piece", [b"", b"x"], ids=["silent", "byte by byte"])
def test_headers_have_their_time(app, before, piece):
    with serving(app, QUICK) as site:
        client = site.open(before)
        if before:
            read_until(client, b"}")
        client.sendall(HALF)
        began = time.monotonic()
        while not is_closed(client, 0.1):
            assert time.monotonic() - began < 5
            if piece:
                try:
                    client.sendall(piece)
                except ConnectionError:
                    break
        assert time.monotonic() - began > 0.3


def test_between_two_requests_there_is_more_time(app):
    with serving(app, QUICK) as site:
        client = site.open()
        for _ in range(3):
            client.sendall(GET)
            assert b" 200 " in read_until(client, b"}")
            time.sleep(1.0)
        client.sendall(GET + GET + GET)  # one after the other, without waiting
        found = b""
        while found.count(b" 200 OK") < 3:
            found += client.recv(65536)


def test_a_body_has_its_time(app):
    with serving(app, QUICK) as site:
        client = site.open(POST)
        found = read_until(client, b"}}")
        assert b" 408 " in found.partition(b"\r\n")[0]
        assert json.loads(found.partition(b"\r\n\r\n")[2])["error"]["kind"] == "Time"
        assert is_closed(client, 5)


@pytest.mark.parametrize("sent", [BODY_OF_GET, POST.replace(b"localhost", b"evil.example")])
def test_a_body_that_nobody_reads_has_its_time(app, sent):
    """The answer has been sent; a body that trickles in must not keep the connection open."""
    with serving(app, QUICK) as site:
        client = site.open(sent)
        assert read_until(client, b"}")
        began = time.monotonic()
        while not is_closed(client, 0.1):
            assert time.monotonic() - began < 5
            try:
                client.sendall(b" ")
            except ConnectionError:
                break


def test_a_request_after_a_body_that_was_not_read_is_served(app):
    with serving(app, QUICK) as site:
        client = site.open(BODY_OF_GET)
        assert b" 200 " in read_until(client, b"}")
        time.sleep(0.9)  # longer than the limit for headers
        client.sendall(b"x" * 49 + GET)
        assert b" 200 " in read_until(client, b"}")


LARGE = 30_000_000


async def large(scope, receive, send) -> None:
    headers = [(b"content-length", b"%d" % LARGE)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * LARGE})


@pytest.mark.parametrize("more", [b"", b"connection: close\r\n"])
def test_an_answer_that_is_not_taken_does_not_stay_in_memory(more):
    with serving(large, QUICK) as site:
        client = site.open(GET[:-2] + more + b"\r\n", room=4096)
        time.sleep(2.5)
        found = 0
        with pytest.raises(ConnectionError):  # noqa: PT012
            while data := client.recv(1_000_000):
                found += len(data)
            raise ConnectionError  # closed in the middle
        assert found < LARGE


def test_an_answer_that_is_taken_slowly_is_given_whole():
    with serving(large, QUICK) as site:
        client = site.open(GET, room=65536)
        found, began = 0, time.monotonic()
        while found < LARGE:
            data = client.recv(1_000_000)
            assert data, f"closed after {found:,} bytes"
            found += len(data)
            if time.monotonic() - began < 3:
                time.sleep(0.05)
        assert time.monotonic() - began > 2


def test_an_answer_on_its_way_is_cut_off_only_if_nobody_else_keeps_us_waiting():
    with serving(large, ConnectionLimits(most=4, per_address=4)) as site:
        taking = [site.open(GET, room=4096) for _ in range(3)]
        time.sleep(0.3)
        first = site.open(HALF)
        site.open(HALF)
        assert is_closed(first, 2)
        for client in taking:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            found = 0
            while found < LARGE:
                data = client.recv(1_000_000)
                assert data, f"cut off after {found:,} bytes"
                found += len(data)


def test_the_caps_leave_room_for_every_event_stream():
    from weft.serve import events
    from weft.serve.connections import AT_ONCE

    assert events.MOST + 3 * AT_ONCE < PER_ADDRESS < MOST
