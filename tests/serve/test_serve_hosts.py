"""Host and Origin by a strict grammar: text that only resembles this server's name is refused."""

from __future__ import annotations

import asyncio
import json

import pytest
from serve_cases import TOKEN, write_plan

from weft.errors import EngineError
from weft.serve.app import make_app
from weft.serve.guard import Policy, policy_for
from weft.serve.hosts import read_host, read_origin
from weft.serve.source import open_source

TRICKY = [
    "",
    " ",
    "evil@localhost",
    "evil:pass@localhost:8787",
    "@localhost",
    "localhost@evil.example",
    " localhost",
    "localhost ",
    "local host",
    "localhost\t",
    "\tlocalhost",
    "localhost\n",
    "localhost\r\nX: y",
    "localhost\x00",
    "localhost.",
    "localhost..",
    ".localhost",
    "127.0.0.1.",
    "local%68ost",
    "localhost%00",
    "localhost%2eevil.example",
    "localhost,evil.example",
    "localhost, localhost",
    "localhost;",
    "localhost:",
    "localhost:0",
    "localhost:00080",
    "localhost:080",
    "localhost:65536",
    "localhost:99999",
    "localhost:" + "9" * 5000,
    "localhost:+80",
    "localhost:-80",
    "localhost:8_0",
    "localhost: 80",
    "localhost:80 ",
    "localhost:80:80",
    "localhost:http",
    "localhost:8０",
    "localhost\\evil.example",
    "\\localhost",
    "localhost/",
    "localhost/evil.example",
    "//localhost",
    "http://localhost",
    "localhost?x",
    "localhost?@evil.example",
    "localhost#",
    "localhost#@evil.example",
    "lоcalhost",  # a Cyrillic o
    "localhoſt",  # a long s, in upper case an S
    "localhost\xa0",
    "localhost\xad",
    "locálhost",
    "*",
    "[",
    "[]",
    "[::1",
    "::1",
    "::1]",
    "[::1]8787",
    "[::1]:",
    "[::1].",
    "[::1%lo]",
    "[::1%25lo]",
    "[127.0.0.1]",
    "[localhost]",
    "[[::1]]",
    "[::1]@evil.example",
    "evil.example#[::1]",
    "[v1.::1]",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example",
    "x" * 5000,
]
TAKEN = [
    "localhost",
    "LOCALHOST",
    "LocalHost:8787",
    "localhost:1",
    "localhost:65535",
    "127.0.0.1",
    "127.0.0.1:8787",
    "[::1]",
    "[::1]:8787",
    "[0:0:0:0:0:0:0:1]:80",
]


def shown(value: str) -> str:
    return ascii(value)[:40]


def ask(app, headers: list[tuple[bytes, bytes]], path: str = "/api/meta") -> tuple[int, dict]:
    """The status and body of an answer to headers that no client would send."""
    sent: list = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http"}
    asyncio.run(app(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], json.loads(body)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    plan = write_plan(tmp_path_factory.mktemp("hosts") / "plan.json")
    return make_app(open_source(str(plan)), Policy())


@pytest.mark.parametrize("host", TRICKY, ids=shown)
def test_what_is_no_name_of_this_server_is_refused(app, host):
    raw = host.encode("latin-1", "ignore") if host.isascii() else host.encode()
    status, told = ask(app, [(b"host", raw)])
    assert status == 421
    assert told["error"]["kind"] == "Host"
    assert len(told["error"]["message"]) < 400
    for policy in (Policy(), policy_for("0.0.0.0", TOKEN, names=("board.example",))):
        assert not policy.knows_host(host)


@pytest.mark.parametrize("host", TAKEN)
def test_names_of_this_server_are_taken_with_any_port(app, host):
    assert ask(app, [(b"host", host.encode())])[0] == 200
    own = (b"origin", f"http://{host}".encode())
    assert ask(app, [(b"host", host.encode()), own])[0] == 200


@pytest.mark.parametrize(
    "names", [(), (b"localhost", b"localhost"), (b"localhost", b"evil.example"), (b"a", b"b", b"c")]
)
def test_there_is_one_host(app, names):
    assert ask(app, [(b"host", name) for name in names])[0] == 421


@pytest.mark.parametrize(
    "origin",
    [
        *(f"http://{host}" for host in TRICKY),
        "localhost:8787",
        "//localhost:8787",
        "null",
        "http:localhost:8787",
        "http:/localhost:8787",
        "http:///localhost:8787",
        "ftp://localhost:8787",
        "HTTP://localhost:8787",
        "javascript://localhost:8787",
        "http://localhost:8787/",
        "http://localhost:8787 http://evil.example",
        " http://localhost:8787",
        "http://localhost",
        "http://localhost:8788",
        "http://127.0.0.1:8787",
    ],
    ids=shown,
)
def test_what_is_not_this_page_is_refused_as_origin(app, origin):
    headers = [(b"host", b"localhost:8787"), (b"origin", origin.encode())]
    assert ask(app, headers)[0] == 403
    assert read_origin(origin) != ("localhost", 8787)


def test_the_origin_is_the_page_also_behind_a_proxy_that_adds_tls(app):
    host = (b"host", b"localhost:8787")
    assert ask(app, [host, (b"origin", b"https://LOCALHOST:8787")])[0] == 200
    own = (b"origin", b"http://localhost:8787")
    assert ask(app, [host, own, own])[0] == 403  # given twice


def test_addresses_are_taken_where_the_server_is_not_on_loopback():
    policy = policy_for("0.0.0.0", TOKEN, names=("Board.example", "[fe80::1]", "dotted.example."))
    for host in (
        "10.1.2.3:8787",
        "[2001:db8::1]",
        "board.EXAMPLE",
        "[FE80:0::1]",
        "dotted.example.",
    ):
        assert policy.knows_host(host)
    for host in ("dotted.example", "board.example.", "010.1.2.3", "[fe80::1%eth0]", "10.1.2"):
        assert not policy.knows_host(host)
    assert policy_for("127.0.0.5", None).knows_host("127.0.0.5:80")


@pytest.mark.parametrize("name", ["http://x", "x:80", "a/b", "a b", "", "x" * 5000, "[x]"])
def test_a_name_that_no_header_could_match_is_refused_at_the_start(name):
    with pytest.raises(EngineError, match=r"--allow-host .*is not a name: accepted is") as refused:
        policy_for("127.0.0.1", None, names=(name,))
    assert len(str(refused.value)) < 400


def test_the_longest_names():
    label = "a" * 63
    assert read_host(".".join([label] * 3)) == (".".join([label] * 3), None)
    assert read_host(f"{label}a.example") is None
    assert read_host("a." * 200) is None
