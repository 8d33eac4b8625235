"""Files of the checkpoint, weft's and Spark's, truncated or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.outcome import RIGHT, STOPPED, Outcome, Wrong, stopped_by
from tests.faults.rig import Case, Rig
from weft.errors import CheckpointError
from weft.sinks import read_results


def cut(path: Path) -> bytes:
    """Leave half of a file; returns what it was."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's own checksum
    return whole


def change(path: Path) -> bytes:
    """Change a byte in the middle of a file; returns what it was."""
    whole = path.read_bytes()
    at = len(whole) // 2
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
    return whole


def damaged_files(rig: Rig) -> Iterator[Outcome]:
    """One stream that is repeatedly stopped, damaged, and started with more rows."""
    case = rig.case("damaged")
    _go_on(case)
    catalogue = case.checkpoint / "weft" / "catalogue" / "00000001.json"
    progress = case.checkpoint / "weft" / "progress.json"
    seen: list[tuple[str, str, str]] = []
    own = [
        ("catalogue, cut short", catalogue, cut),
        ("progress, cut short", progress, cut),
        ("catalogue, a byte changed", catalogue, change),
    ]
    for what, path, damage in own[:2] if rig.short else own:
        damage(path)
        _go_on(case)
        seen.append((what, "taken from its copy", RIGHT))
    copy = catalogue.parent / "copies" / catalogue.name
    said = _stopped(
        case, [catalogue, copy], cut, "00000001.json is damaged", "put one of them back"
    )
    seen.append(("catalogue and its copy, cut short", said, STOPPED))
    sparks = [
        ("state of Spark, cut short", "state/0/[0-9]*/[0-9]*.changelog", cut),
        ("offsets of Spark, cut short", "offsets/[0-9]*", cut),
        ("state of Spark, a byte changed", "state/0/[0-9]*/[0-9]*.changelog", change),
    ]
    for what, pattern, damage in sparks[:1] if rig.short else sparks:
        said = _stopped(case, _newest(case, pattern), damage)
        seen.append((what, f"Spark: {said}", STOPPED))
    case.end()
    case.run()
    rows = case.compare()
    for what, happened, ended in seen:
        yield Outcome(what, happened, ended, rows)
    yield _manifest(case)


def _go_on(case: Case) -> None:
    """Write two more minutes of rows, and run the stream over them."""
    case.minutes(2 * case.files, 2 * case.files + 2)
    case.run()


def _newest(case: Case, pattern: str) -> list[Path]:
    """Of some files, those of the last micro-batch."""
    found = sorted(case.checkpoint.glob(pattern), key=lambda path: (len(path.name), path.name))
    if not found:
        raise Wrong(f"{case.folder.name}: no file {pattern}")
    return [path for path in found if path.name == found[-1].name]


def _stopped(case: Case, paths: list[Path], damage: Callable[[Path], bytes], *words: str) -> str:
    """The error that stops the stream while files are damaged; restoring them lets it continue."""
    wholes = {path: damage(path) for path in paths}
    case.minutes(2 * case.files, 2 * case.files + 2)
    error = case.stop_of()
    for path, whole in wholes.items():
        path.write_bytes(whole)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    case.run()
    return stopped_by(error, *words)


def _manifest(case: Case) -> Outcome:
    """What readers of a sink see when its manifest is damaged."""
    out = case.folder / "out"
    path = sorted((out / "_weft" / "batches").glob("*.json"))[-1]
    whole = cut(path)
    try:
        read_results(case.rig.spark, str(out), "minute").collect()
        raise Wrong(f"{case.folder.name}: a damaged manifest was read")
    except CheckpointError as error:
        said = stopped_by(error, "is damaged")
    path.write_bytes(whole)
    what = "manifest of a Parquet sink, cut short"
    return Outcome(what, f"reader: {said}", STOPPED, case.compare())
