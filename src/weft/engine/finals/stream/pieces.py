"""Pieces of state as bytes: Arrow or JSON behind a version and a checksum, never pickled."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pyarrow as pa

from weft.errors import CheckpointError

VERSION = 1
_HEADER = struct.Struct("<4sHI")  # what it is, version, checksum of the rest
_ARROW, _JSON = b"wfta", b"wftj"


def pack_table(batch: pa.RecordBatch) -> bytes:
    """A record batch as a piece."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return _sealed(_ARROW, sink.getvalue().to_pybytes())


def unpack_table(name: str, piece: bytes) -> pa.RecordBatch:
    """The record batch of a piece; an error that names the piece if it is damaged."""
    body = _opened(name, piece, _ARROW)
    try:
        with pa.ipc.open_stream(body) as reader:
            return reader.read_next_batch()
    except (pa.ArrowInvalid, StopIteration) as error:
        raise CheckpointError(f"piece {name!r} is not readable: {error}") from error


def pack_json(value: Any) -> bytes:
    """JSON values as a piece.

    >>> unpack_json("numbers", pack_json({"first": 3}))
    {'first': 3}
    """
    return _sealed(_JSON, json.dumps(value, separators=(",", ":")).encode())


def unpack_json(name: str, piece: bytes) -> Any:
    """The JSON values of a piece; an error that names the piece if it is damaged."""
    return json.loads(_opened(name, piece, _JSON))


def _sealed(kind: bytes, body: bytes) -> bytes:
    return _HEADER.pack(kind, VERSION, zlib.crc32(body)) + body


def _opened(name: str, piece: bytes, kind: bytes) -> bytes:
    if len(piece) < _HEADER.size:
        raise CheckpointError(f"piece {name!r} is cut off: {len(piece)} bytes")
    found, version, checksum = _HEADER.unpack_from(piece)
    if found != kind:
        raise CheckpointError(f"piece {name!r} is of kind {found!r}, not {kind!r}")
    if version != VERSION:
        raise CheckpointError(
            f"piece {name!r} has version {version}; this weft reads version {VERSION}"
        )
    body = piece[_HEADER.size :]
    if zlib.crc32(body) != checksum:
        raise CheckpointError(f"piece {name!r} is damaged: its checksum does not match")
    return body
