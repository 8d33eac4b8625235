"""The driver and executors are killed while queries are added and dropped, by `chaos`."""

from __future__ import annotations

from collections.abc import Iterator

from tests.faults.chaos import chaos
from tests.faults.outcome import RIGHT, Outcome
from tests.faults.rig import Rig


def driver_kills(rig: Rig, kills: int = 3) -> Iterator[Outcome]:
    """SIGKILL to the driver, its JVM and its workers, at random moments."""
    report = chaos(rig.folder / "kills", kills, files=max(24, 2 * kills), seed=rig.seed)
    yield Outcome(
        f"{kills} SIGKILLs of the driver with its JVM and workers, queries coming and going",
        f"started again each time, done in {report.seconds:.0f} s",
        RIGHT,
        report.rows,
    )


def executor_kill(rig: Rig) -> Iterator[Outcome]:
    """SIGKILL to an executor of a local cluster."""
    report = chaos(rig.folder / "executors", 0, executors=1, files=24, seed=rig.seed)
    yield Outcome(
        "SIGKILL of an executor of a local cluster",
        f"its tasks run again, done in {report.seconds:.0f} s",
        RIGHT,
        report.rows,
    )
