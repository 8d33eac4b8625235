"""`python -m benchmarks run [NAME ...] [--full]`, `draw`, `list`."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

from benchmarks import BENCHES
from benchmarks.support.harness import Bench, save


def main(words: list[str] | None = None) -> int:
    """Run the command; the exit code is that of the worst benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("verb", choices=("run", "draw", "list"))
    parser.add_argument("names", nargs="*", help="benchmarks, or beginnings of their names")
    parser.add_argument("--full", action="store_true", help="the whole instead of a quick form")
    asked = parser.parse_intermixed_args(words)
    benches = [Bench(name) for name in BENCHES]
    chosen = [
        bench
        for bench in benches
        if not asked.names or any(bench.name.startswith(name) for name in asked.names)
    ]
    if not chosen:
        parser.error(f"no benchmark is named {' or '.join(asked.names)}; see `list`")
    if asked.verb == "list":
        for bench in chosen:
            print(f"{bench.name:28}{bench.headline}")
        return 0
    if asked.verb == "draw":
        from benchmarks.peers import tables
        from benchmarks.support import sizing
        from benchmarks.support.page import README, draw_all, headlines, section, write_page

        for path in draw_all(chosen):
            print(path.name)
        write_page(section(benches))
        write_page(headlines(benches), README)
        write_page(tables.tables(), tables.PAGE)
        if Bench("scale").file.exists():
            write_page(sizing.page(), sizing.PAGE)
        return 0
    return run(chosen, full=asked.full)


def run(benches: list[Bench], *, full: bool) -> int:
    """Run the benchmarks one after the other; if one fails, report why and go on."""
    failed = []
    for number, bench in enumerate(benches, start=1):
        print(f"[{number:2}/{len(benches)}] {bench.name} ", end="", flush=True)
        began = perf_counter()
        try:
            found = bench.measure(full)
            save(bench.file, found.rows, full=full, seconds=found.seconds)
        except Exception as error:  # report any error, and count it as a failure
            failed.append(bench.name)
            print(f"FAILED after {perf_counter() - began:.1f} s: {type(error).__name__}: {error}")
            continue
        claim = found.claim
        shape = "holds" if claim.holds else "DOES NOT HOLD"
        print(f"{found.seconds:.1f} s, {shape}: {claim.ours} (paper: {claim.paper})")
        for line in claim.also:
            print(f"        {line}")
        sys.stdout.flush()
    if failed:
        print(f"{len(failed)} of {len(benches)} failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
