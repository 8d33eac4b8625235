"""The hosts that headers name, parsed by a strict grammar.

    host   = name | IPv4 | "[" IPv6 "]", then optionally ":" and a port from 1 to 65535
    origin = "http://" host | "https://" host

General URL parsers find a host in almost any text: to them, `evil@localhost` is localhost. Text
that is compared with a list of names has to be a name and nothing else.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

Host = tuple[str, int | None]
"""A name or address in lower case, without brackets, and the port if one is given."""
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(
    rf"(?:(?P<name>{_LABEL}(?:\.{_LABEL})*\.?)|\[(?P<v6>[0-9a-f:.]+)\])(?::(?P<port>[1-9][0-9]{{0,4}}))?"
)
LONGEST = 255
"""Most characters of a host; DNS names have fewer."""


def read_host(text: str) -> Host | None:
    """A Host header's name and port; None if it is anything else.

    >>> read_host("LocalHost:8787"), read_host("[::1]"), read_host("10.0.0.1:80")
    (('localhost', 8787), ('::1', None), ('10.0.0.1', 80))
    >>> read_host("evil@localhost"), read_host("localhost:"), read_host("::1")
    (None, None, None)
    """
    # Check for letters outside ASCII first: the Kelvin sign in lower case is an ordinary k.
    if len(text) > LONGEST or not text.isascii():
        return None
    found = _HOST.fullmatch(text.lower())
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > 65535:
        return None
    if found["v6"] is None:
        return found["name"], port
    address = address_of(found["v6"])
    return (str(address), port) if isinstance(address, IPv6Address) else None


def read_origin(text: str) -> Host | None:
    """The host of an Origin header; None if it is not just a scheme and a host.

    >>> read_origin("http://localhost:8787"), read_origin("http://localhost/"), read_origin("null")
    (('localhost', 8787), None, None)
    """
    scheme, found, host = text.partition("://")
    return read_host(host) if found and scheme in ("http", "https") else None


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a text is, or None."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def known_name(text: str) -> str | None:
    """A name or address of a server, normalised for comparison; None if it is neither.

    >>> known_name("Board.example"), known_name("[::0:1]"), known_name("::1"), known_name("a:80")
    ('board.example', '::1', '::1', None)
    """
    address = address_of(text)
    if isinstance(address, IPv6Address) and "%" not in text:
        return str(address)
    found = read_host(text)
    return found[0] if found is not None and found[1] is None else None
