"""Reading arbitrary bytes as state gives what was written or an error of weft's, never a pickle."""

from __future__ import annotations

import ast
import json
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bucket import Memory, Stream, program, service

from weft.engine.parcel import Parcel, Shipment
from weft.engine.state import codec as pieces
from weft.engine.state.bucket import Bucket
from weft.engine.state.codec import (
    bytes_to_json,
    bytes_to_table,
    json_to_bytes,
    seal,
    table_to_bytes,
    unseal,
)
from weft.errors import CheckpointError
from weft.stream.deployment import Deployment

TABLE = pa.table({"slice": [1, 2, 3], "k": ["a", "b", None], "rows": [1, 1, 1]})
WHOLE = {
    "table": (table_to_bytes(TABLE), lambda data: bytes_to_table(data, "piece")),
    "json": (json_to_bytes({"a": [1, 2]}), lambda data: bytes_to_json(data, "the index")),
    "parcel": (Parcel(7, 3, (Shipment(1, (0, 5), TABLE),), 2).to_bytes(), Parcel.from_bytes),
}


def decode(read, data: bytes) -> object:
    try:
        return read(data)
    except CheckpointError:
        return None


@pytest.mark.parametrize("form", WHOLE)
@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_seen(form, at, bit):
    whole, read = WHOLE[form]
    spoilt = bytearray(whole)
    spoilt[at % len(whole)] ^= 1 << bit
    assert at % len(whole) in padding(form) or decode(read, bytes(spoilt)) is None


def padding(form: str) -> set[int]:
    """The padding bytes of headers, which have no meaning and keep what follows aligned."""
    length = 4 if form == "parcel" else 0
    found = set(range(length + 12, length + 16))
    if form == "parcel":
        header = int.from_bytes(WHOLE[form][0][:4], "little")
        found |= {4 + header + offset for offset in range(12, 16)}
    return found


@pytest.mark.parametrize("form", WHOLE)
def test_every_cut_is_seen(form):
    whole, read = WHOLE[form]
    assert all(decode(read, whole[:length]) is None for length in range(len(whole)))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes(data):
    for _, read in WHOLE.values():
        assert decode(read, data) is None


@settings(max_examples=200, deadline=None)
@given(body=st.binary(max_size=200))
def test_a_right_checksum_over_anything(body):
    """An attacker who can write the state can compute checksums; still nothing crashes or runs."""
    decode(lambda data: bytes_to_table(data, "piece"), seal(body, 1))
    decode(lambda data: bytes_to_json(data, "the index"), seal(body, 2))


def test_an_older_layout_is_refused_with_what_to_do():
    old = bytearray(seal(b"x", 2))
    old[4:6] = (1).to_bytes(2, "little")
    with pytest.raises(CheckpointError, match=r"layout version 1; this weft reads 3: go on with"):
        unseal(bytes(old), 2, "the index")
    assert pieces.LAYOUT == 3


def filled() -> tuple[object, Memory]:
    plan = program([service(1, 10, 5)], buckets=1)
    stream = Stream(plan, delay=5)
    stream.run([(t, "a", t) for t in range(40)])
    (state,) = stream.states
    return plan, state


def test_a_piece_that_is_gone_damaged_or_old_stops_it():
    plan, state = filled()
    (name,) = [name for name in state if name != "index"][:1]
    store = plan.stores[0]
    whole = state[name]
    for wrong, said in (
        (None, "it is not there"),
        (whole[:-1], "its checksum does not hold"),
        (table_to_bytes(bytes_to_table(whole, name).slice(1)), "another version than the index"),
    ):
        if wrong is None:
            del state[name]
        else:
            state[name] = wrong
        bucket = Bucket(plan, state)
        nodes = list(bucket.index.stores[store.number].pieces)
        with pytest.raises(CheckpointError, match=said):
            [bucket.read(store, node) for node in nodes]


@pytest.mark.parametrize(
    "wrong", [{}, [], {"stores": 1}, None, "x", {"frontier": 1, "max_event_time": 2}]
)
def test_an_index_of_another_shape_is_refused(wrong):
    plan, state = filled()
    state["index"] = json_to_bytes(wrong)
    with pytest.raises(CheckpointError, match="the index in the state is damaged"):
        Bucket(plan, state)


def test_nothing_that_is_stored_is_unpickled():
    """The only exception is the workers' program, which the run that reads it must have signed."""
    folder = Path(pieces.__file__).parents[2]
    signed = folder / "stream" / "deployment.py"
    text = signed.read_text(encoding="utf-8")
    assert text.index("hmac.compare_digest(") < text.index("pickle.loads(")
    for path in [path for path in folder.rglob("*.py") if path != signed]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                named = [alias.name for alias in node.names]
                module = getattr(node, "module", None)
                for name in [*named, *([module] if module else [])]:
                    assert name.split(".")[0] not in ("pickle", "cloudpickle", "marshal", "shelve")


def test_state_is_arrow_and_json():
    _, state = filled()
    for name, data in state.items():
        body = data[16:]
        assert zlib.crc32(body) == int.from_bytes(data[8:12], "little")
        if name == "index":
            json.loads(body)
        else:
            pa.ipc.open_stream(body).read_all()


def test_a_program_that_another_has_written_is_not_read(tmp_path):
    """An attacker who can write to the checkpoint can write a program, but cannot sign it."""
    run, other = Deployment(str(tmp_path)), Deployment(str(tmp_path))
    run.publish(0, 1, "ours")
    assert run.lookup.at(3) == "ours"
    other.publish(0, 1, "theirs")
    with pytest.raises(CheckpointError, match="not what this run of the stream wrote"):
        run.lookup.at(3)
    other.begin()
    other.publish(7, 2, "later")
    with pytest.raises(CheckpointError, match="no program for micro-batch 3"):
        other.lookup.at(3)
