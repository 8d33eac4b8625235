"""The built package in an empty environment, and `weft demo` there, as for a new user."""

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]


def run(*command: object, **settings: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=settings.pop("cwd", None),
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | settings,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    run(UV, "build", "--out-dir", folder, ROOT)
    assert list(folder.glob("*.tar.gz"))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def weft(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from the wheel in an environment of its own."""
    folder = tmp_path_factory.mktemp("installed")
    run(UV, "venv", "--python", sys.executable, folder / "empty")
    python = folder / "empty" / "bin" / "python"
    run(UV, "pip", "install", "--python", python, "-c", ROOT / "requirements.lock", wheel)
    return python.with_name("weft")


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[2] or name.split("/")[0] for name in names} == {
        "weft",
        f"{wheel.name.split('-')[1]}.dist-info",
    }
    tracked = run("git", "ls-files", "src/weft", cwd=str(ROOT)).stdout.split()
    assert {name for name in names if name.startswith("weft/")} == {
        path.removeprefix("src/") for path in tracked
    }


def test_the_demo_streams_changes_and_verifies(weft: Path, tmp_path: Path) -> None:
    done = run(weft, "demo", "--rows", "6000", "--json", cwd=str(tmp_path))
    story, outcome = done.stderr, json.loads(done.stdout)
    assert "24 queries" in story
    assert "+ quarter_hour_range" in story
    assert "- odd_lots" in story
    assert "equal: 24 of 24 queries" in story
    assert outcome["ok"]
    assert outcome["queries"] == 24
    assert outcome["rows"] > 1000


def test_spark_starts_from_the_classes_that_were_prepared(weft: Path, tmp_path: Path) -> None:
    outside = {"SPARK_SUBMIT_OPTS": "", "cwd": str(tmp_path)}  # not the tests' own options
    told = json.loads(run(weft, "prepare", "--json", **outside).stdout)
    assert Path(told["archive"]).stat().st_size == told["bytes"] > 50 * 2**20
    # With -Xshare:on Java ends at once if it cannot use the archive.
    session = (
        "from weft.spark.session import local_session\n"
        "spark = local_session(settings={'spark.driver.extraJavaOptions': '-Xshare:on'})\n"
        "java = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()\n"
        "print(spark.range(3).count(), *java.getInputArguments())\n"
    )
    done = run(weft.with_name("python"), "-c", session, **outside)
    assert done.stdout.split()[0] == "3"
    assert {"-Xshare:on", f"-XX:SharedArchiveFile={told['archive']}"} <= set(done.stdout.split())
    again = json.loads(run(weft, "prepare", "--json", **outside).stdout)
    assert again["archive"] == told["archive"]


def test_the_commands_that_need_no_spark_work_there(weft: Path, tmp_path: Path) -> None:
    queries = tmp_path / "queries.sql"
    queries.write_text("SELECT k, sum(v) AS v FROM t GROUP BY window(ts, '1 hour'), k;\n")
    plan = json.loads(run(weft, "plan", queries, "--json").stdout)
    assert plan["trees"]
    assert json.loads(run(weft, "schema").stdout)["title"]
