"""The page's files, read once when the server starts, so that no request can name a path."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    body: bytes
    type: str
    tag: str
    """Its ETag."""


def page_files() -> dict[str, PageFile]:
    """The files by the URL path that they are served at; the page itself is at `/`.

    >>> sorted(page_files())
    ['/', '/app.css', '/app.js', '/icon.svg']
    """
    found: dict[str, PageFile] = {}
    for entry in files("weft.serve").joinpath("static").iterdir():
        ending = entry.name.rpartition(".")[2]
        if ending in TYPES:
            body = entry.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            path = "/" if entry.name == "index.html" else f"/{entry.name}"
            found[path] = PageFile(body, TYPES[ending], tag)
    return found
