"""Files of the checkpoint cut short or changed: weft's own, and Spark's under it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from weft.errors import CheckpointError
from weft.sinks import read_results
from weft.spark.faults.outcome import RIGHT, STOPPED, Outcome, Wrong, stopped_by
from weft.spark.faults.rig import Case, Rig


def cut(path: Path) -> bytes:
    """Leave half of a file; returns what it was."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's own check of it
    return whole


def change(path: Path) -> bytes:
    """Change a byte in the middle of a file; returns what it was."""
    whole = path.read_bytes()
    at = len(whole) // 2
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
    return whole


def damaged_files(rig: Rig) -> Iterator[Outcome]:
    """A stream stopped in the middle; a copy of it for every file that is damaged."""
    base = rig.case("damaged")
    for minute in (0, 2, 4):
        base.minutes(minute, minute + 2)
    base.run()
    base.minutes(6, 8)
    base.end()
    weft = Path("weft")
    recovered = {
        "catalogue, cut short": (weft / "catalogue" / "00000001.json", cut),
        "catalogue, a byte changed": (weft / "catalogue" / "00000001.json", change),
        "progress, cut short": (weft / "progress.json", cut),
    }
    for what, (path, damage) in recovered.items():
        case = base.copy("recovered")
        damage(case.checkpoint / path)
        case.run()
        yield Outcome(what, "taken from its copy", RIGHT, case.compare())
    yield _both_copies(base.copy("catalogue"))
    for what, pattern, said in (
        ("offsets of Spark, cut short", "offsets/[0-9]*", ""),
        ("state of Spark (changelog), cut short", "state/0/*/*/[0-9]*.changelog", ""),
        ("state of Spark (changelog), a byte changed", "state/0/*/*/[0-9]*.changelog", ""),
    ):
        damage = change if "changed" in what else cut
        yield _put_back(base.copy("spark"), what, pattern, damage, said)
    yield _manifest(base.copy("manifest"))


def _both_copies(case: Case) -> Outcome:
    folder = case.checkpoint / "weft" / "catalogue"
    paths = [folder / "00000001.json", folder / "copies" / "00000001.json"]
    wholes = [cut(path) for path in paths]
    said = stopped_by(case.stop_of(), "00000001.json is damaged", "put one of them back")
    paths[0].write_bytes(wholes[0])
    case.run()
    return Outcome("catalogue and its copy, cut short", said, STOPPED, case.compare())


def _put_back(
    case: Case, what: str, pattern: str, damage: Callable[[Path], bytes], said: str
) -> Outcome:
    """Damage the newest of some files: Spark must stop, and go on when it is put back."""
    found = sorted(case.checkpoint.glob(pattern), key=lambda path: (len(path.name), path.name))
    if not found:
        raise Wrong(f"{case.folder.name}: no file {pattern}")
    newest = found[-1].name
    wholes = {path: damage(path) for path in found if path.name == newest}
    error = case.stop_of()
    for path, whole in wholes.items():
        path.write_bytes(whole)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    case.run()
    return Outcome(what, f"Spark: {stopped_by(error, said)}", STOPPED, case.compare())


def _manifest(case: Case) -> Outcome:
    """What readers see of a sink whose list of files is damaged."""
    case.run()
    out = case.folder / "out"
    path = sorted((out / "_weft" / "batches").glob("*.json"))[-1]
    whole = cut(path)
    try:
        read_results(case.rig.spark, str(out), "minute").collect()
        raise Wrong(f"{case.folder.name}: a damaged manifest was read")
    except CheckpointError as error:
        said = stopped_by(error, "is damaged")
    path.write_bytes(whole)
    return Outcome(
        "manifest of a Parquet sink, cut short", f"reader: {said}", STOPPED, case.compare()
    )
