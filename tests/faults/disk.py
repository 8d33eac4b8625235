"""The checkpoint's disk becomes full, and then has space again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.faults.chaos import ROOT, compare, driver_command, write_feed
from tests.faults.outcome import STOPPED, Outcome, Wrong, stopped_by
from tests.faults.rig import Rig

SMALL, LARGE = 160 * 1024, 256 * 1024 * 1024
_FULL = "No space left on device"


def full_disk(rig: Rig) -> Iterator[Outcome]:
    """A separate driver, whose checkpoint is on a tmpfs that is too small for it."""
    folder = rig.folder / "disk"
    # Many more files than changes: one that comes as the stream ends leaves the windows closed by
    # the last rows to the next run, as Spark does with a stream that is stopped there.
    write_feed(folder / "in", 24, rig.seed)
    checkpoint = folder / "ck"
    checkpoint.mkdir()
    if os.geteuid() != 0 or not _mount(checkpoint, f"size={SMALL}"):
        print("full disk: not tried: it takes root, and a system that lets it mount a tmpfs")
        return
    try:
        code, log = _drive(folder)
        if code == 0 or _FULL not in log:
            raise Wrong(f"disk: the driver ended with {code}: {log[-1000:]}")
        _mount(checkpoint, f"remount,size={LARGE}")
        again, more = _drive(folder)
        if again:
            raise Wrong(f"disk: the driver did not go on once there was room: {more[-2000:]}")
        rows = compare(folder)
    finally:
        subprocess.run(["umount", str(checkpoint)], check=True)
    what = f"checkpoint on a full disk (a tmpfs of {SMALL // 1024} KB), then room"
    yield Outcome(what, stopped_by(log, _FULL), STOPPED, rows)


def _mount(folder: Path, options: str) -> bool:
    """Whether a tmpfs could be mounted; containers may lack the permission."""
    command = ["mount", "-t", "tmpfs", "-o", options, "weft-faults", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _drive(folder: Path) -> tuple[int, str]:
    """Run a driver to its end; return its exit code and its output."""
    done = subprocess.run(
        driver_command(folder),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")
