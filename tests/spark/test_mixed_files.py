"""Output for files in which some statements are shared, some run unchanged, and some cannot run.

`mixed/<kind>.sql` is the file and `mixed/<kind>.txt` the output of `weft run`. After an intended
change, `python -m tests.spark.test_mixed_files` records the new output: read it before you keep
it.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.corpus.tables import make_tables
from weft.cli.main import cli

MIXED = Path(__file__).parent / "mixed"
KINDS = sorted(path.stem for path in MIXED.glob("*.sql"))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(spark, tmp_path_factory.mktemp("tables"))


def write_tables(spark: SparkSession, folder: Path) -> Path:
    found = make_tables(spark)
    found["trades"].where("ts IS NOT NULL").write.parquet(str(folder / "trades"))
    found["symbols"].write.parquet(str(folder / "symbols"))
    return folder


def seen(kind: str, tables: Path) -> str:
    sources = (f"--source={name}={tables / name}" for name in ("trades", "symbols"))
    result = CliRunner().invoke(cli, ["run", str(MIXED / f"{kind}.sql"), *sources, "--show", "1"])
    text = f"{result.stdout}---\n{result.stderr}exit code {result.exit_code}\n"
    text = re.sub(r"in [\d.]+ s\n", "in ... s\n", text).replace(f"{MIXED}/", "")
    # The error quotes whichever value is processed first.
    text = re.sub(r"The value '.*?' of the type", "The value '...' of the type", text)
    return re.sub(r"[ \t]+\n", "\n", text)


def test_there_are_twenty() -> None:
    assert len(KINDS) >= 20


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_person_sees(spark: SparkSession, tables: Path, kind: str) -> None:
    text = seen(kind, tables)
    assert text == (MIXED / f"{kind}.txt").read_text(encoding="utf-8")
    assert "Traceback" not in text


if __name__ == "__main__":
    from weft.spark.session import local_session

    session = local_session(
        settings={"spark.sql.session.timeZone": "UTC", "spark.log.level": "OFF"}
    )
    with tempfile.TemporaryDirectory() as place:
        rows = write_tables(session, Path(place))
        for name in KINDS:
            (MIXED / f"{name}.txt").write_text(seen(name, rows), encoding="utf-8")
