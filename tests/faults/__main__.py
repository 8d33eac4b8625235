"""`python -m tests.faults [--seed N] [--only FAMILY ...] [--write PAGE]`: injects the faults."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from tests.faults import churn, damaged, disk, feeding, kills, timing
from tests.faults.outcome import Family, Outcome, merged, table, write_between
from tests.faults.rig import Rig

FAMILIES: dict[str, Family] = {
    "damaged files": damaged.damaged_files,
    "clock": timing.clock_back,
    "source repeats": timing.repeats,
    "source reorders": timing.reorders,
    "years ahead": timing.years_ahead,
    "sink": feeding.failing_sink,
    "poison": feeding.poison,
    "keys": feeding.key_explosion,
    "churn": churn.churn,
    "full disk": disk.full_disk,
    "kills": kills.driver_kills,
    "executors": kills.executor_kill,
}
MARKER = "faults"


def run(
    folder: Path,
    names: list[str],
    *,
    seed: int = 0,
    short: bool = False,
    done: Callable[[str, list[Outcome]], None] = lambda name, outcomes: None,
) -> tuple[list[tuple[str, Outcome]], list[str]]:
    """Inject some families of faults; return the outcomes of each, and what went wrong.

    `done` is called for every family that ended as it should, as soon as it has.
    """
    rig = Rig(folder, seed, short)
    outcomes: list[tuple[str, Outcome]] = []
    wrong: list[str] = []
    try:
        for name in names:
            began = time.monotonic()
            found: list[Outcome] = []
            try:
                for outcome in FAMILIES[name](rig):
                    found.append(outcome)
                    said = f"{name}: {outcome.fault}: {outcome.happened}: {outcome.ended}"
                    print(said, flush=True)
                done(name, found)
                outcomes += [(name, outcome) for outcome in found]
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
                print(f"WRONG: {wrong[-1]}", flush=True)
            print(f"  {name}: {time.monotonic() - began:.0f} s", flush=True)
    finally:
        rig.close()
    return outcomes, wrong


def main(arguments: list[str] | None = None) -> int:
    """Run the selected families; the exit code is 1 if any did not end as it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seeds rows and moments")
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--short", action="store_true", help="smaller sizes, for tests")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into a page")
    given = parser.parse_args(arguments)
    names = given.only or list(FAMILIES)

    def write(name: str, outcomes: list[Outcome]) -> None:
        """Replace the families' rows in the page; the rows of others stay."""
        if given.write is None:
            return
        rows = table((name, outcome) for outcome in outcomes)
        page = given.write.read_text(encoding="utf-8")
        day = datetime.now(timezone.utc).date()
        head = f"Last run on {day}, with `--seed {given.seed}`.\n\n"
        text = head + merged(page, MARKER, list(FAMILIES), [name], rows)
        write_between(given.write, MARKER, text)

    with tempfile.TemporaryDirectory(prefix="weft-faults-") as folder:
        outcomes, wrong = run(Path(folder), names, seed=given.seed, short=given.short, done=write)
    text = table(outcomes)
    print("\n".join(["", text, *(f"WRONG: {one}" for one in wrong)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
