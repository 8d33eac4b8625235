"""Checks that answers and checkpoint are separate: neither is inside the other."""

from __future__ import annotations

import os
import posixpath
import re

from weft.errors import EngineError

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)?")
Place = tuple[str, tuple[str, ...]]
"""A file system, and the folders of a path in it."""


def check_apart(
    sink_path: str,
    checkpoint: str,
    first: str = "the sink's path",
    second: str = "the checkpoint",
) -> None:
    """Refuse a sink in the checkpoint, a checkpoint in the sink, and the same path for both.

    Other pairs of paths are checked in the same way; `first` and `second` are their names in
    errors.

    Otherwise users who may read the answers could read the checkpoint, a reader that lists the
    answers' folders would find state files, and cleaning up one would destroy the other.

    >>> check_apart("/data/out", "/data/out2")
    >>> check_apart("/data/ck/../ck/out", "file:///data/ck/")
    Traceback (most recent call last):
    weft.errors.EngineError: the sink's path '/data/ck/../ck/out' lies in the checkpoint ...
    """
    (system, out), (other, kept) = _place(sink_path), _place(checkpoint)
    if system != other:
        return
    shared = min(len(out), len(kept))
    if out[:shared] != kept[:shared]:
        return
    if len(out) == len(kept):
        what = f"{first} {sink_path!r} is {second} {checkpoint!r}"
    elif len(out) > len(kept):
        what = f"{first} {sink_path!r} lies in {second} {checkpoint!r}"
    else:
        what = f"{second} {checkpoint!r} lies in {first} {sink_path!r}"
    raise EngineError(f"{what}: give each a folder of its own, such as 'out' and 'ck' side by side")


def _place(location: str) -> Place:
    """The place of a location: on this machine with links resolved, elsewhere by its text."""
    uri = _URI.fullmatch(location)
    if uri is None or uri[1].lower() == "file":
        # Parsed as in weft.sinks.files.locate, so that the path compared is the path written to.
        path = location if uri is None else "/" + location[len("file:") :].lstrip("/")
        return "file", _folders(os.path.realpath(path).replace(os.sep, "/"))
    host = f"{uri[1].lower()}://{(uri[2] or '').lower()}"
    return host, _folders(posixpath.normpath(uri[3] or "/"))


def _folders(path: str) -> tuple[str, ...]:
    return tuple(filter(None, path.split("/")))
