"""Answers and checkpoint are apart: neither inside the other, however the paths are written."""

from __future__ import annotations

import os
import posixpath
import re

from weft.errors import EngineError

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)?")
Place = tuple[str, tuple[str, ...]]
"""A file system, and the folders that lead to a place in it."""


def check_apart(
    sink_path: str,
    checkpoint: str,
    first: str = "the sink's path",
    second: str = "the checkpoint",
) -> None:
    """Refuse a sink in the checkpoint, a checkpoint in the sink, and one place for both.

    Other places are kept apart in the same way, by what errors are to call the `first` and
    `second`.

    Whoever may read the answers would read the checkpoint, and a reader that looks through the
    answers' folders would take state for answers; what cleans up one would destroy the other.

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
    """Where a location leads: on this machine after every link, elsewhere by its text."""
    uri = _URI.fullmatch(location)
    if uri is None or uri[1].lower() == "file":
        # As weft.sinks.files.locate reads it, so that what is compared is what is written to.
        path = location if uri is None else "/" + location[len("file:") :].lstrip("/")
        return "file", _folders(os.path.realpath(path).replace(os.sep, "/"))
    host = f"{uri[1].lower()}://{(uri[2] or '').lower()}"
    return host, _folders(posixpath.normpath(uri[3] or "/"))


def _folders(path: str) -> tuple[str, ...]:
    return tuple(filter(None, path.split("/")))
