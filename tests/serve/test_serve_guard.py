"""What is refused: other sites, other names, large bodies, missing tokens, paths."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from serve_cases import SQL, TOKEN, bearer, client, write_checkpoint, write_plan

from weft.errors import EngineError
from weft.serve.app import make_app
from weft.serve.guard import LARGEST, Policy, policy_for
from weft.serve.source import open_source
from weft.spark.streaming.changes import stored

ADD = {"sql": SQL, "name": "half"}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "token", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/queries"),
        ("DELETE", "/api/queries/hourly"),
        ("POST", "/api/queries/hourly/pause"),
        ("POST", "/api/queries/hourly/resume"),
    ],
)
def test_a_change_needs_the_token(checkpoint, method, path, token):
    refused = client(checkpoint).request(method, path, headers={"authorization": token}, json=ADD)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in refused.text
    assert stored(str(checkpoint)).number == 2


def test_a_token_in_the_address_is_no_token(checkpoint):
    assert client(checkpoint).delete(f"/api/queries/all?token={TOKEN}").status_code == 401


def test_read_only_refuses_even_with_the_token(checkpoint):
    page = client(checkpoint, Policy(TOKEN, read_only=True), **bearer())
    assert page.delete("/api/queries/all").status_code == 403
    assert page.get("/api/meta").json()["why"] == "This dashboard is read-only."
    assert page.post("/api/preview", json=ADD).status_code == 200
    assert stored(str(checkpoint)).number == 2


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8787", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_was_made_to_point_here_is_refused(checkpoint, host):
    page = client(checkpoint)
    for path in ("/", "/api/plan", "/api/meta"):
        assert page.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_is_refused_even_with_the_token(checkpoint, headers):
    page = client(checkpoint, **bearer(), **headers)
    assert page.delete("/api/queries/all").status_code == 403
    assert page.get("/api/plan").status_code == 403
    assert stored(str(checkpoint)).number == 2


def test_the_pages_own_origin_is_taken(checkpoint):
    page = client(checkpoint, origin="http://127.0.0.1:8787", **{"sec-fetch-site": "same-origin"})
    assert page.post("/api/preview", json=ADD).status_code == 200
    assert "access-control-allow-origin" not in page.get("/api/plan").headers


def test_large_bodies_are_refused_announced_or_not(checkpoint):
    page = client(checkpoint, **bearer())
    body = b'{"sql": "' + b"x" * LARGEST + b'"}'
    kind = {"content-type": "application/json"}
    assert page.post("/api/preview", content=body, headers=kind).status_code == 413

    def chunks():
        yield body[: LARGEST // 2]
        yield body[LARGEST // 2 :]

    assert page.post("/api/preview", content=chunks(), headers=kind).status_code == 413
    wrong = {"content-length": "-1", **kind}
    assert page.post("/api/preview", content=b"{}", headers=wrong).status_code == 413


class Trickle:
    """A body that arrives byte by byte, and may end because the client disconnects."""

    def __init__(self, *chunks: bytes, every: float = 0.0, goes: bool = False) -> None:
        self.left, self.every, self.goes = list(chunks), every, goes

    async def receive(self):
        await asyncio.sleep(self.every)
        if self.left:
            return {"type": "http.request", "body": self.left.pop(0), "more_body": True}
        if self.goes:
            return {"type": "http.disconnect"}
        await asyncio.sleep(60)
        raise AssertionError("nobody waits so long")


def post(app, body: Trickle, path: str, method: str = "POST") -> list:
    sent: list = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
    headers.append((b"content-type", b"application/json"))
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http"}
    asyncio.run(app(scope, body.receive, send))
    return sent


@pytest.mark.parametrize("every", [0.0, 0.05])
def test_a_body_that_takes_too_long_is_refused(checkpoint, every):
    app = make_app(open_source(str(checkpoint)), Policy(TOKEN, body_seconds=0.5))
    began = time.monotonic()
    start, body = post(app, Trickle(*[b" "] * 1000 if every else [], every=every), "/api/preview")
    assert time.monotonic() - began < 5
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    problem = json.loads(body["body"])["error"]
    assert problem == {
        "kind": "Time",
        "message": "a request's body has 0.5 s to arrive",
        "place": None,
    }


def test_a_request_that_was_cut_off_changes_nothing(checkpoint):
    app = make_app(open_source(str(checkpoint)), Policy(TOKEN))
    assert post(app, Trickle(b"{", goes=True), "/api/queries/all", "DELETE") == []
    assert stored(str(checkpoint)).number == 2


def test_a_length_of_thousands_of_digits_is_refused(checkpoint):
    wrong = {"content-length": "9" * 5000, "content-type": "application/json"}
    assert client(checkpoint).post("/api/preview", content=b"{}", headers=wrong).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2fapp.py",
        "/static/../app.py",
        "/%2e%2e/app.py",
        "/app.py",
        "/api/queries/..%2f..%2fx",
        "/api/queries/%2e%2e",
        "//etc/passwd",
        "/app.js/",
    ],
)
def test_no_path_leads_out(checkpoint, path):
    found = client(checkpoint).get(path, follow_redirects=False)
    assert found.status_code in (307, 404)
    assert b"import" not in found.content


def test_every_answer_carries_the_headers_that_bind_the_page(checkpoint):
    page = client(checkpoint)
    for path in ("/", "/app.js", "/api/meta", "/nothing"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert page.get("/api/meta").headers["cache-control"] == "no-store"


def test_another_address_demands_a_token_and_locks_reading(checkpoint):
    with pytest.raises(EngineError, match="not loopback"):
        policy_for("0.0.0.0", None)
    with pytest.raises(EngineError, match="at least 16"):
        policy_for("0.0.0.0", "short")
    policy = policy_for("0.0.0.0", TOKEN, names=("Board.example",))
    page = client(checkpoint, policy)
    assert page.get("/api/plan").status_code == 401
    assert page.get("/api/events").status_code == 401
    assert page.post("/api/preview", json=ADD).status_code == 401
    assert page.get("/api/meta").json()["locked"]
    assert page.get("/api/plan", headers=bearer()).status_code == 200
    for host, status in (("board.example", 200), ("10.1.2.3:8787", 200), ("evil.example", 421)):
        assert page.get("/api/meta", headers={"host": host}).status_code == status


def test_a_policy_does_not_show_its_token():
    assert TOKEN not in repr(Policy(TOKEN))


def test_a_stored_plan_needs_no_token_to_look_at(tmp_path):
    page = client(write_plan(tmp_path / "plan.json"), Policy())
    assert page.get("/api/plan").status_code == 200
    assert page.post("/api/queries", json=ADD).status_code == 401
