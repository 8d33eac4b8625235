"""Fuzz what reads untrusted input: `python scripts/fuzz.py --minutes 10 [--seed N]`.

Texts and bytes that are known to be good are mutated, thousands of times a minute. What comes out
must be a result or an error of weft's; anything else is a crash, and so is an input that takes
longer than `PATIENCE`. A crash is written to fuzz-crashes/ and ends the run with exit code 1.

With `--spark`, untrusted expressions are read by Spark too: a text that weft accepts and of whose
tree in Spark any node is not allowed counts as a crash, with substitution of `${...}` left on.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.faults.outcome import write_between  # noqa: E402
from tests.query.sql.sql_texts import DIALECTS, entries  # noqa: E402
from weft.engine.parcel import Parcel, Shipment  # noqa: E402
from weft.engine.state.codec import (  # noqa: E402
    bytes_to_table,
    json_to_bytes,
    seal,
    table_to_bytes,
)
from weft.engine.state.index import index_from  # noqa: E402
from weft.errors import WeftError  # noqa: E402
from weft.job.document import read_text  # noqa: E402
from weft.job.schema import problems  # noqa: E402
from weft.query.expression import normalise  # noqa: E402
from weft.query.sql import parse_queries  # noqa: E402
from weft.query.trust.spark_tree import tree_refusal  # noqa: E402
from weft.query.trust.untrusted import check_expression  # noqa: E402
from weft.sinks.files import Folder  # noqa: E402

PATIENCE = 20.0
Target = Callable[[random.Random], tuple[str | bytes, Callable[[], object]]]
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
        (json_to_bytes(INDEX), 2, index_from),
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


ATTACKS = yaml.safe_load((ROOT / "tests/query/trust/attacks.yaml").read_text())
HOSTILE = [one["sql"] for family in ATTACKS.values() for one in family if "sql" in one]
HARMLESS = [
    "v > 1 AND upper(s) LIKE 'A%' OR NOT (v IN (1, 2, 3))",
    "CASE WHEN v > 1 THEN s ELSE 'a' END = concat(s, '$', '{x}')",
    "exists(a, x -> x > v) AND st.f = 2 AND `v` BETWEEN 1 AND 2",
    "CAST(s AS DECIMAL(10, 2)) > 1.5BD AND ts > TIMESTAMP '2024-01-01' - INTERVAL 1 DAY",
    "s = \"it's\" AND s <> 'say \"so\"' AND s = 'it''s' AND s = r'\\d' -- so",
    "regexp_extract(s, '(a)(b)', 1) = 'a' /* and */ AND element_at(a, 1) = 3",
]
PIECES = ["'", '"', "`", "${", "}", "${a'", "--", "/*", "*/", "\\", "''", '""', "(SELECT 1)", "\n"]
PIECES += ["||", "r'", "X'", "reflect('a','b')", "IDENTIFIER('a')", "DATE'", "::", ":", "{", "$"]


def gate(parse: Callable[[str], list[dict[str, object]] | None]) -> Target:
    """Untrusted expressions, read by weft and by Spark."""

    def target(chance: random.Random) -> tuple[str, Callable[[], object]]:
        text = chance.choice(HOSTILE if chance.random() < 0.5 else HARMLESS)
        for _ in range(chance.choice([0, 1, 1, 2, 3, 5])):
            at = chance.randrange(len(text) + 1)
            change = chance.randrange(4)
            if change == 0:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            elif change == 1:
                text = text[:at] + text[at + chance.randint(1, 6) :]
            elif change == 2:
                other = chance.choice(HOSTILE + HARMLESS)
                begin = chance.randrange(len(other) + 1)
                text = text[:at] + other[begin : begin + chance.randint(1, 30)] + text[at:]
            else:
                text = f"{text} {chance.choice(['AND', 'OR', '||'])} {chance.choice(HARMLESS)}"

        def judge() -> None:
            check_expression(text)
            normalised = normalise(text)
            for sql in (text, normalised):
                nodes = parse(sql)
                refused = None if nodes is None else tree_refusal(sql, nodes, lambda parts: True)
                if refused is not None:
                    raise AssertionError(f"weft accepts what Spark reads otherwise: {refused}")

        return text, judge

    return target


def spark_parser() -> Callable[[str], list[dict[str, object]] | None]:
    """Spark's own parser, as it is set up by default; None for what it does not read."""
    from weft.spark.session import local_session

    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)  # a page for every mistake
    return parser_of(local_session(1, memory="1g"))


def parser_of(spark: Any) -> Callable[[str], list[dict[str, object]] | None]:
    """The parser of a session, substitution and all."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    parser = spark._jsparkSession.sessionState().sqlParser()

    def parse(sql: str) -> list[dict[str, object]] | None:
        try:
            return json.loads(parser.parseExpression(sql).toJSON())  # type: ignore[no-any-return]
        except (PySparkException, Py4JJavaError, UnicodeError):
            return None

    return parse


SCRATCH = Path(tempfile.gettempdir()) / "weft-fuzz"
TARGETS: dict[str, Target] = {
    "sql": sql,
    "expression": expression,
    "job": job,
    "state": state,
    "file": file,
}


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
    parser.add_argument("--spark", action="store_true", help="compare with what Spark reads")
    given = parser.parse_args()
    if given.spark:
        TARGETS["gate"] = gate(spark_parser())
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
