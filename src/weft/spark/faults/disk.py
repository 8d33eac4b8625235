"""A disk that is full under the checkpoint, and has room again."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from weft.spark.faults.outcome import STOPPED, Outcome, Wrong, stopped_by
from weft.spark.faults.rig import Rig
from weft.spark.streaming.chaos import compare, write_feed

SMALL, LARGE = 160 * 1024, 256 * 1024 * 1024
_FULL = ("No space left on device", "File too large", "Disk quota exceeded")


def full_disk(rig: Rig) -> Iterator[Outcome]:
    """A driver of its own, whose checkpoint is on a small tmpfs, or may only write small files."""
    folder = rig.folder / "disk"
    write_feed(folder / "in", 8, rig.seed)
    checkpoint = folder / "ck"
    checkpoint.mkdir()
    mounted = os.geteuid() == 0 and _mount(checkpoint, f"size={SMALL}")
    try:
        code, log = _drive(folder, None if mounted else 3000)
        full = next((said for said in _FULL if said in log), None)
        if code == 0 or full is None:
            raise Wrong(f"disk: the driver ended with {code} and no word of a full disk")
        said = stopped_by(log, full)
        if mounted:
            _mount(checkpoint, f"remount,size={LARGE}")
        code, log = _drive(folder, None)
        if code:
            raise Wrong(f"disk: the driver did not go on once there was room: {log[-2000:]}")
        rows = compare(folder)
    finally:
        if mounted:
            subprocess.run(["umount", str(checkpoint)], check=True)
    how = f"a tmpfs of {SMALL // 1024} KB" if mounted else "RLIMIT_FSIZE"
    yield Outcome(f"checkpoint on a full disk ({how}), then room", said, STOPPED, rows)


def _mount(folder: Path, options: str) -> bool:
    """Whether a tmpfs could be mounted there: containers may be forbidden to."""
    command = ["mount", "-t", "tmpfs", "-o", options, "weft-faults", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _drive(folder: Path, largest: int | None) -> tuple[int, str]:
    """Run a driver to its end: its exit code and what it printed."""

    def limited() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    done = subprocess.run(
        [sys.executable, "-m", "weft.spark.streaming.chaos", str(folder), "local[2]"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
        preexec_fn=limited,
    )
    return done.returncode, done.stdout.decode(errors="replace")
