"""Checks what weft needs on a machine, one by one, each with what to install.

Nothing of Spark is imported before its check, because the doctor must work where Spark does not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from weft.job.model import Job

State = Literal["ok", "warning", "missing"]
PACKAGES = {
    "pyspark": ("4.0.0", "5"),
    "pandas": ("2.2", "3"),
    "pyarrow": ("18", "27"),
    "grpcio": ("1.67", "2"),
    "protobuf": ("5", "8"),
}
"""Packages of which Spark's stateful operator needs certain versions: from, and below."""
_GIB = 1024**3
MEMORY, DISK = 3 * _GIB, 1 * _GIB
"""Free memory and disk for a small job: the driver's 2 GB and Python workers; space for state."""
_JAVA = "on Debian or Ubuntu: apt-get install openjdk-17-jre-headless (17 or 21; set JAVA_HOME)"
_SECONDS, _PLAIN = 60.0, 180.0
"""Time limits in seconds of a command, and of a Spark session in a separate process."""


@dataclass(frozen=True)
class Check:
    """The result of one check. `missing` marks something without which weft cannot run."""

    name: str
    state: State
    found: str
    advice: str = ""


def checks(job: Job | None = None) -> Iterator[Check]:
    """Run all checks; start Spark only if its requirements are met."""
    here = [python(), *java(), *(package(name) for name in PACKAGES), memory(), *disk(job)]
    yield from here
    if any(check.state == "missing" for check in here):
        yield Check("Spark", "warning", "not tried", "install what is missing above first")
        return
    before = dict(os.environ)  # an embedded session sets variables that a plain one lacks
    found = list(spark(job))
    yield from found
    if all(check.state != "missing" for check in found):
        yield plain_session(before)
    yield from postgres(job)


def python() -> Check:
    """The version of Python."""
    found = ".".join(map(str, sys.version_info[:3]))
    if (3, 10) <= sys.version_info[:2] <= (3, 13):
        return Check("Python", "ok", found)
    return Check("Python", "missing", found, "install Python 3.10 to 3.13")


def java(run: Callable[[list[str]], str] | None = None) -> list[Check]:
    """Java's version, and the Java module that Spark needs."""
    run = run or _output
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    try:
        text = run([program, "-version"])
    except (OSError, subprocess.SubprocessError) as error:
        where = f"JAVA_HOME={home}" if home else "no java on the path"
        return [Check("Java", "missing", f"{where} ({type(error).__name__})", _JAVA)]
    match = re.search(r'version "(\d+)([^"]*)"', text)
    major = int(match[1]) if match else 0
    shown = f"{match[1]}{match[2]}" if match else "unknown version"
    if major < 17:
        return [Check("Java", "missing", shown, _JAVA)]
    found = [Check("Java", "ok", shown)]
    modules = run([program, "--list-modules"])
    if "jdk.incubator.vector" in modules:
        found.append(Check("Java module jdk.incubator.vector", "ok", "there"))
    else:
        advice = f"this Java lacks modules; {_JAVA}"
        found.append(Check("Java module jdk.incubator.vector", "missing", "not there", advice))
    return found


def package(name: str) -> Check:
    """A Python package, and whether its version is in range."""
    low, high = PACKAGES[name]
    advice = f"pip install '{name}>={low},<{high}'"
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(name, "missing", "not installed", advice)
    good = _numbers(low) <= _numbers(found) < _numbers(high)
    return Check(name, "ok" if good else "missing", found, "" if good else advice)


def memory() -> Check:
    """Free memory."""
    try:
        text = Path("/proc/meminfo").read_text()
        free = int(re.findall(r"MemAvailable:\s+(\d+)", text)[0]) * 1024
    except (OSError, IndexError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    shown = f"{free / _GIB:.1f} GB free"
    if free >= MEMORY:
        return Check("memory", "ok", shown)
    advice = f"free {MEMORY / _GIB:.0f} GB, or lower spark.driver.memory (2g) in the job"
    return Check("memory", "warning", shown, advice)


def disk(job: Job | None = None) -> list[Check]:
    """Free space for checkpoints and for Spark's own files."""
    places = {"disk for Spark's scratch files": tempfile.gettempdir()}
    if job is not None and job.checkpoint is not None:
        places["disk for the checkpoint"] = job.locate(job.checkpoint)
    found = []
    for name, place in places.items():
        if "://" in place:
            continue
        path = Path(place).absolute()
        while not path.exists():
            path = path.parent
        free = shutil.disk_usage(path).free
        good = free >= DISK and os.access(path, os.W_OK)
        shown = f"{free / _GIB:.1f} GB free at {path}"
        shown += "" if os.access(path, os.W_OK) else ", not writable"
        advice = "" if good else f"needs a writable directory with {DISK / _GIB:.0f} GB free"
        found.append(Check(name, "ok" if good else "warning", shown, advice))
    return found


def spark(job: Job | None = None) -> Iterator[Check]:
    """Whether Spark starts, its state store loads, and a job's connectors are found."""
    from weft.job.model import Job, SourceSpec
    from weft.spark.failures import connector_advice, has_format, spark_message
    from weft.spark.jobs import FORMATS, job_session

    wanted = job or Job("doctor", SourceSpec("parquet"), ())
    try:
        with job_session(wanted) as session:
            yield Check("Spark", "ok", f"{session.version} starts")
            yield classes()
            yield state_store(session)
            formats = [] if job is None else [job.source.format]
            if job is not None and job.sink is not None and job.sink.kind in FORMATS:
                formats.append(job.sink.kind)
            if job is not None and "avro" in (job.source.values, job.sink and job.sink.values):
                formats.append("avro")
            for name in dict.fromkeys(formats):
                good = has_format(session, name)
                advice = "" if good else connector_advice(name)
                shown = "on the class path" if good else "not on the class path"
                yield Check(f"connector {name}", "ok" if good else "missing", shown, advice)
    except Exception as error:  # any error is a finding to report
        said = wanted.scrub(spark_message(error) or f"{type(error).__name__}: {error}")
        home = os.environ.get("SPARK_HOME")
        advice = f"SPARK_HOME={home} may hold another Spark: unset it" if home else ""
        yield Check("Spark", "missing", said, advice)


def classes() -> Check:
    """Whether there is an archive of Java's classes, which makes Spark start faster."""
    from weft.spark.class_archive import is_ready

    if is_ready():
        return Check("quick starts", "ok", "prepared")
    advice = "run `weft prepare` once: Spark then starts in half the time"
    return Check("quick starts", "ok", "not prepared", advice)


def plain_session(environ: Mapping[str, str]) -> Check:
    """Which Python the workers of a session run, if a script starts it in a separate process."""
    name = "plain SparkSession"
    command = [sys.executable, "-m", "weft.spark.workers"]
    try:
        done = subprocess.run(
            command, env=dict(environ), capture_output=True, text=True, timeout=_PLAIN, check=True
        )
        told = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        advice = f"try it: {' '.join(command)}"
        return Check(name, "missing", f"does not start ({type(error).__name__})", advice)
    if "error" in told:
        return Check(name, "missing", told["error"])
    if told["problem"] is None:
        return Check(name, "ok", f"its workers run {told['runs']}")
    found = (
        f"its workers would run {told['asked']}, which {told['problem']}; on a local master, weft "
        f"makes them run {told['runs']} instead"
    )
    advice = f"on a cluster, set PYSPARK_PYTHON before Spark starts (here: {sys.executable})"
    return Check(name, "ok", found, advice)


def postgres(job: Job | None = None) -> list[Check]:
    """Whether the server of a job's PostgreSQL sink answers, and is new enough."""
    if job is None or job.sink is None or job.sink.kind != "postgres":
        return []
    from weft.errors import EngineError
    from weft.sinks.postgres import OLDEST, connect

    try:
        with connect(job.fill(job.sink.url or "")) as connection:
            found = connection.info.server_version // 10_000
    except EngineError as error:
        return [Check("PostgreSQL", "missing", job.scrub(str(error)))]
    good = found >= OLDEST
    advice = "" if good else f"needs {OLDEST} or newer: older ones cannot treat nulls as equal"
    return [Check("PostgreSQL", "ok" if good else "missing", f"{found} answers", advice)]


def state_store(session: object) -> Check:
    """Whether RocksDB, in which streams keep their state, loads on this machine."""
    jvm = getattr(session, "_jvm", None)
    if jvm is None:
        return Check("RocksDB state store", "ok", "on the server, not looked at")
    try:
        jvm.org.rocksdb.RocksDB.loadLibrary()
    except Exception as error:
        from weft.spark.failures import spark_message

        advice = "streams need it: rocksdbjni wants glibc (or musl) and a writable, executable /tmp"
        found = spark_message(error) or str(error)
        return Check("RocksDB state store", "missing", found, advice)
    return Check("RocksDB state store", "ok", "loads")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    return done.stdout + done.stderr


def _numbers(text: str) -> tuple[int, ...]:
    """A version as comparable numbers.

    >>> _numbers("4.1.2") < _numbers("4.3.0.dev1") < _numbers("5")
    True
    """
    return tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3])
