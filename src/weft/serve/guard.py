"""The checks that every request has to pass before it is handled, and the headers of every answer.

Host        must be given once, and be a name of this server: this stops pages of other sites
            whose names resolve to this machine (DNS rebinding)
Origin      must be that of the page itself, if the browser sends one: this stops requests by
            pages of other sites (CSRF)
size        of the body is limited, even if no length is announced
time        that the body takes to arrive is limited
token       must be sent with every change, and if `locked` with every other request as well
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from weft.errors import EngineError
from weft.query.quoting import quoted
from weft.serve.hosts import address_of, known_name, read_host, read_origin

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST = 65_536
"""Most bytes of a request's body."""
BODY_SECONDS = 10.0
"""How long a request's body may take to arrive after its headers."""
SHORTEST = 16
"""Fewest characters of a token."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN = frozenset({"/api/meta", "/api/openapi.json"})
"""Paths that a page needs before it can send a token."""
ASKING = frozenset({"/api/preview"})
"""Paths that take POST but change nothing."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Policy:
    """Which hosts, origins and tokens are accepted, and for what."""

    token: str | None = field(default=None, repr=False)
    """The token that a change must have; None: nothing can be changed."""
    read_only: bool = False
    locked: bool = False
    """Whether read requests need the token too."""
    hosts: frozenset[str] = LOOPBACK
    """Names and addresses of this server, in lower case and without brackets."""
    addresses: bool = False
    """Whether any IP address is accepted as Host: DNS rebinding works with names only."""
    body_seconds: float = BODY_SECONDS

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server, and nothing else.

        >>> [Policy().knows_host(h) for h in ("localhost:8787", "[::1]:8787", "evil.example", "")]
        [True, True, False, False]
        """
        host = read_host(header)
        if host is None:
            return False
        return host[0] in self.hosts or (self.addresses and address_of(host[0]) is not None)

    def admits(self, authorization: str) -> bool:
        """Whether an Authorization header has the right token; compared in constant time."""
        scheme, _, given = authorization.partition(" ")
        if self.token is None or scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(given.strip().encode(), self.token.encode())


def policy_for(
    host: str, token: str | None, *, read_only: bool = False, names: tuple[str, ...] = ()
) -> Policy:
    """The policy for a server bound to an address; if that is not loopback, it needs a token.

    >>> policy_for("0.0.0.0", None)
    Traceback (most recent call last):
    weft.errors.EngineError: --host '0.0.0.0' is not loopback, and whoever reaches it could ...
    """
    if token is not None and len(token) < SHORTEST:
        raise EngineError(
            f"--token has {len(token)} characters: at least {SHORTEST} are accepted, for instance "
            f'from `python -c "import secrets; print(secrets.token_urlsafe())"`'
        )
    others: set[str] = set()
    for given in names:
        name = known_name(given)
        if name is None:
            raise EngineError(
                f"--allow-host {quoted(given)} is not a name: accepted is a name such as "
                f"board.example or an IP address, without a scheme, a port or a path"
            )
        others.add(name)
    if is_loopback(host):
        return Policy(token, read_only, False, LOOPBACK | others | {known_name(host) or host})
    if token is None:
        raise EngineError(
            f"--host {host!r} is not loopback, and whoever reaches it could read the stream and "
            f"change it: give --token (or WEFT_TOKEN), or leave --host out"
        )
    hosts = LOOPBACK | others | {known_name(host) or host.lower()}
    return Policy(token, read_only, True, hosts, addresses=True)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    address = address_of(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


class RequestGuard:
    """An application wrapped in the checks."""

    def __init__(self, app: App, policy: Policy) -> None:
        self.app, self.policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that fails a check with an error, and pass the others on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            # If a header is given twice, a proxy may have checked the other one.
            twice = name in (b"host", b"origin") and name.decode() in headers
            headers[name.decode("latin-1")] = "(twice)" if twice else value.decode("latin-1")
        answer = _dressed(send, scope["path"])
        refused = self._refusal(scope["method"], scope["path"], headers)
        if refused is not None:
            await _refuse(answer, *refused)
            return
        if scope["method"] not in SAFE:
            try:
                body = await asyncio.wait_for(_read(receive), self.policy.body_seconds)
            except asyncio.TimeoutError:
                seconds = f"{self.policy.body_seconds:g} s"
                await _refuse(answer, 408, "Time", f"a request's body has {seconds} to arrive")
                return
            if body is None:
                return  # the client has gone, and its body is incomplete
            if len(body) > LARGEST:
                await _refuse(answer, *TOO_LARGE)
                return
            receive = _again(body, receive)
        await self.app(scope, receive, answer)

    def _refusal(
        self, method: str, path: str, headers: dict[str, str]
    ) -> tuple[int, str, str] | None:
        policy, host = self.policy, headers.get("host", "")
        if not policy.knows_host(host):
            return 421, "Host", f"Host {quoted(host)} is not a name of this server (--allow-host)"
        if not path.startswith("/api/"):
            return None
        origin = headers.get("origin")
        if origin is not None and read_origin(origin) != read_host(host):
            return 403, "Origin", "requests of other sites' pages are refused"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "Origin", "requests of other sites' pages are refused"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 20 or int(length) > LARGEST:
            return TOO_LARGE
        changes = method not in SAFE and path not in ASKING
        if changes and policy.read_only:
            return 403, "ReadOnly", "this dashboard is read-only"
        if (changes or (policy.locked and path not in OPEN)) and not policy.admits(
            headers.get("authorization", "")
        ):
            return 401, "Token", "the token is missing or wrong: it was printed by `weft serve`"
        return None


TOO_LARGE = (413, "Size", f"a request's body may have {LARGEST:,} bytes")


async def _read(receive: Receive) -> bytes | None:
    """A request's body, read only until it is known to be too large; None if it was cut off."""
    body = bytearray()
    more = True
    while more and len(body) <= LARGEST:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns a body that has been read already."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _dressed(send: Send, path: str) -> Send:
    """A `send` that adds the headers that every answer has."""
    extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    if path.startswith("/api/"):
        extra.append((b"cache-control", b"no-store"))

    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *extra]
        await send(message)

    return dressed


async def _refuse(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps({"error": {"kind": kind, "message": message, "place": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="weft"'))
    if status == 408:
        headers.append((b"connection", b"close"))  # the rest of the body is no request
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
