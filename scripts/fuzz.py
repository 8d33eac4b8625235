"""Fuzz what reads untrusted input: `python scripts/fuzz.py --minutes 10 [--seed N]`.

Texts and bytes that are known to be good are mutated, thousands of times a minute. What comes out
must be a result or an error of weft's; anything else is a crash, and so is an input that takes
longer than `PATIENCE`. A crash is written to fuzz-crashes/ and ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "query" / "sql"))

from sql_texts import DIALECTS, entries  # noqa: E402

from weft.errors import WeftError  # noqa: E402
from weft.job.document import read_text  # noqa: E402
from weft.job.schema import problems  # noqa: E402
from weft.query.expression import normalise  # noqa: E402
from weft.query.sql import parse_queries  # noqa: E402
from weft.sinks.files import Folder  # noqa: E402
from weft.spark.faults.outcome import write_between  # noqa: E402
from weft.spark.streaming.bucket import _index  # noqa: E402
from weft.spark.streaming.payload import Parcel, Shipment  # noqa: E402
from weft.spark.streaming.pieces import (  # noqa: E402
    bytes_to_table,
    json_to_bytes,
    seal,
    table_to_bytes,
)

PATIENCE = 20.0
TABLE = pa.table({"slice": [1, 2, 3], "k": ["a", "b", None], "d": [1.5, None, 3.0]})
INDEX = {
    "frontier": 5,
    "high": 9,
    "timer": None,
    "stores": {"1": {"span": 10, "pieces": {"0.2": [9, 1, 20, 20, 0, 7]}}},
    "fragments": ["0", "1f"],
    "late": {"3": 4},
    "ahead": 0,
}
JOBS = [
    path.read_text(errors="replace") for path in sorted((ROOT / "tests/job/broken").glob("*.y*"))
]
TEXTS = [
    entry["sql"]
    for dialect in DIALECTS
    for kind in ("accepted", "accepted", "accepted", "refused")  # near misses find more
    for entry in entries(kind, dialect)
]
WORDS = sorted({word for text in TEXTS for word in text.replace("(", " ( ").split()})
STRANGE = ["'", '"', "`", "\\", "/*", "*/", "--", "\x00", "²", "é", "\ud800", "9" * 60, "(" * 60]
STRANGE += ["x + " * 500, "x AND " * 500, "abs(" * 80, "CASE WHEN " * 40]
STRANGE += [
    "NOT " * 60,
    "- " * 60,
    "{",
    "}",
    "${x}",
    "&a",
    "*a",
    "!!python/object",
    ": ",
    "\t",
    ";",
]


def mutated_text(chance: random.Random, corpus: Sequence[str]) -> str:
    """A text of the corpus with a few words or characters dropped, doubled, moved or replaced."""
    words = chance.choice(corpus).replace("(", " ( ").replace(")", " ) ").split(" ")
    for _ in range(chance.choice([1, 1, 2, 3, 6])):
        at = chance.randrange(len(words) + 1)
        change = chance.randrange(6)
        if change == 0 and words:
            del words[at % len(words)]
        elif change == 1:
            words.insert(at, chance.choice(WORDS))
        elif change == 2:
            words.insert(at, chance.choice(STRANGE))
        elif change == 3 and words:
            words[at % len(words)] = chance.choice(WORDS)
        elif change == 4:
            words[at:at] = chance.choice(corpus).split(" ")[: chance.randint(1, 8)]
        elif words:
            word = words[at % len(words)]
            cut = chance.randrange(len(word) + 1)
            words[at % len(words)] = word[:cut] + chr(chance.randrange(1, 0x300)) + word[cut:]
    return " ".join(words)


def mutated_bytes(chance: random.Random, whole: bytes) -> bytes:
    """Bytes with some flipped, cut, doubled or put in."""
    data = bytearray(whole)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(data) + 1)
        change = chance.randrange(4)
        if change == 0 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif change == 1:
            del data[at : at + chance.randint(1, 40)]
        elif change == 2:
            data[at:at] = data[: chance.randint(1, 40)]
        else:
            data[at:at] = chance.randbytes(chance.randint(1, 16))
    return bytes(data)


def sql(chance: random.Random) -> tuple[str, Callable[[], object]]:
    """A statement, in a dialect that is told or guessed."""
    text = mutated_text(chance, TEXTS)
    dialect = chance.choice([*["auto"] * 8, *DIALECTS])
    return text, lambda: parse_queries(text, dialect)  # type: ignore[arg-type]


def expression(chance: random.Random) -> tuple[str, Callable[[], object]]:
    """An expression over one row."""
    text = mutated_text(chance, TEXTS)
    begin = chance.randrange(len(text) + 1)
    piece = text[begin : begin + chance.randint(1, 80)]
    return piece, lambda: normalise(piece)


def job(chance: random.Random) -> tuple[str, Callable[[], object]]:
    """A job file."""
    text = mutated_text(chance, JOBS)
    return text, lambda: problems(read_text("job.yaml", text))


def state(chance: random.Random) -> tuple[bytes, Callable[[], object]]:
    """A piece of state, an index or a parcel; now and then with a checksum that is right."""
    forms: list[tuple[bytes, int, Callable[[bytes], object]]] = [
        (table_to_bytes(TABLE), 1, lambda data: bytes_to_table(data, "piece").validate(full=True)),
        (json_to_bytes(INDEX), 2, _index),
        (Parcel(7, 3, (Shipment(1, (0, 5), TABLE),), 2).to_bytes(), 0, Parcel.from_bytes),
    ]
    whole, form, read = chance.choice(forms)
    if form == 2 and chance.random() < 0.5:
        data = seal(mutated_bytes(chance, whole[16:]), form)
    else:
        data = mutated_bytes(chance, whole)
    return data, lambda: read(data)


def file(chance: random.Random) -> tuple[bytes, Callable[[], object]]:
    """A small file of a checkpoint, such as the catalogue."""
    folder = Folder(str(SCRATCH))
    folder.write("good.json", "catalogue", INDEX)
    data = mutated_bytes(chance, (SCRATCH / "good.json").read_bytes())
    (SCRATCH / "bad.json").write_bytes(data)
    return data, lambda: folder.read("bad.json", "catalogue")


SCRATCH = Path(tempfile.gettempdir()) / "weft-fuzz"
TARGETS = {"sql": sql, "expression": expression, "job": job, "state": state, "file": file}


def fuzz(seconds: float, seed: int, crashes: Path) -> tuple[Counter[str], list[Path]]:
    """Feed every target in turn: how often each was, and the inputs that crashed one."""
    SCRATCH.mkdir(exist_ok=True)
    chance, counts, found = random.Random(seed), Counter[str](), []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        for name, target in TARGETS.items():
            given, run = target(chance)
            began = time.monotonic()
            said = None
            try:
                run()
                counts[f"{name}: accepted"] += 1
            except WeftError:
                counts[f"{name}: refused"] += 1
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            if time.monotonic() - began > PATIENCE:
                said = f"took {time.monotonic() - began:.0f} s"
            if said is not None:
                crashes.mkdir(parents=True, exist_ok=True)
                path = crashes / f"{name}-{len(found)}"
                data = given if isinstance(given, bytes) else given.encode(errors="surrogatepass")
                path.write_bytes(data)
                found.append(path)
                print(f"CRASH {path}: {said[:300]}", file=sys.stderr)
    return counts, found


def main() -> int:
    """Run it and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--crashes", type=Path, default=ROOT / "fuzz-crashes")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the figures into a page")
    given = parser.parse_args()
    counts, found = fuzz(given.minutes * 60, given.seed, given.crashes)
    text = figures(counts, given.minutes, given.seed, len(found))
    print(text)
    if given.write:
        write_between(given.write, "fuzz", text)
    return 1 if found else 0


def figures(counts: Counter[str], minutes: float, seed: int, crashes: int) -> str:
    """The figures of a run, in Markdown."""
    lines = [
        f"Run on {datetime.now(timezone.utc).date()} with `--seed {seed}`: {minutes:g} minutes, "
        f"{sum(counts.values()):,} inputs, {crashes} crashes.\n",
        "| target | accepted | refused |",
        "|---|---|---|",
    ]
    for name in TARGETS:
        accepted, refused = counts[f"{name}: accepted"], counts[f"{name}: refused"]
        lines.append(f"| {name} | {accepted:,} | {refused:,} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
