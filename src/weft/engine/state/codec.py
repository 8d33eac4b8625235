"""The format of the state store's values: Arrow tables and JSON, with a version and a checksum.

Never pickle: a checkpoint outlives the code that wrote it, and reading one must run no code.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pyarrow as pa

from weft.errors import CheckpointError

LAYOUT = 3
"""The version of the layout of the operator's state."""
REMEDY = "go on with the release of weft that wrote it, or start on a new checkpoint"
_MAGIC = b"weft"
_HEADER = struct.Struct("<4sHHI4x")  # 16 bytes, so that the columns after it stay aligned
_ARROW, _JSON = 1, 2


def seal(body: bytes | memoryview, form: int) -> bytes:
    """A header with the layout's version and a checksum, followed by the body."""
    return _HEADER.pack(_MAGIC, LAYOUT, form, zlib.crc32(body)) + bytes(body)


def unseal(data: bytes, form: int, what: str) -> memoryview:
    """The body; an error unless the header is of this layout and the checksum is right.

    >>> bytes(unseal(seal(b"x", 2), 2, "the index"))
    b'x'
    """
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise CheckpointError(f"{what} in the state is not weft's ({len(data)} bytes)")
    _, layout, found, checksum = _HEADER.unpack_from(data)
    if layout != LAYOUT:
        raise CheckpointError(
            f"{what} in the state has layout version {layout}; this weft reads {LAYOUT}: {REMEDY}"
        )
    body = memoryview(data)[_HEADER.size :]
    if found != form or zlib.crc32(body) != checksum:
        raise damaged(what, "its checksum does not hold")
    return body


def checksum_of(data: bytes) -> int:
    """The checksum in the header of sealed data.

    >>> checksum_of(seal(b"x", 2)) == zlib.crc32(b"x")
    True
    """
    return int(_HEADER.unpack_from(data)[3])


def damaged(what: str, why: object) -> CheckpointError:
    """The error for something in the state that cannot be read."""
    return CheckpointError(
        f"{what} in the state is damaged ({why}): put the checkpoint back from a backup, or start "
        f"on a new one"
    )


def table_to_bytes(table: pa.Table) -> bytes:
    """An Arrow table as an IPC stream.

    >>> bytes_to_table(table_to_bytes(pa.table({"a": [1, 2]})), "piece").num_rows
    2
    """
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return seal(memoryview(buffer.getvalue()), _ARROW)


def bytes_to_table(data: bytes, what: str) -> pa.Table:
    """The table that `table_to_bytes` wrote."""
    body = unseal(data, _ARROW, what)
    try:
        with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
            return reader.read_all()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(what, error) from None


def json_to_bytes(value: Any) -> bytes:
    """JSON values, sealed.

    >>> bytes_to_json(json_to_bytes({"a": [1]}), "index")
    {'a': [1]}
    """
    return seal(json.dumps(value, separators=(",", ":")).encode(), _JSON)


def bytes_to_json(data: bytes, what: str) -> Any:
    """The values that `json_to_bytes` wrote."""
    body = bytes(unseal(data, _JSON, what))
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise damaged(what, error) from None
