"""Checks which Python Spark's workers run, once per session, before the first job that needs it.

Spark starts workers with `PYSPARK_PYTHON` or else the first `python3` on the path, which is not the
Python of a virtual environment that was not activated. On a local master weft replaces it by its
own interpreter, because that is on the same machine; elsewhere an error says what to set.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import InheritableThread, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from weft import __version__
from weft.errors import EngineError
from weft.spark.failures import short, spark_message

NEEDED = ("weft", "numpy", "numba", "pandas", "pyarrow", "google.protobuf")
"""The modules that workers import: `weft`, and those that it and Spark's stateful operator need."""
_SECONDS = 60.0
_TASKS = 8
"""The number of tasks that check on a cluster, because executors may differ."""
_LOOK = """
import importlib.util, json, sys
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
def look(names):
    lacks = [name for name in names if not has(name)]
    weft = None if "weft" in lacks else __import__("weft").__version__
    python = "%d.%d" % sys.version_info[:2]
    return json.dumps({"program": sys.executable, "python": python, "weft": weft, "lacks": lacks})
"""
_fit: set[str] = set()
"""Ids of the sessions whose workers have passed the check."""


@dataclass(frozen=True)
class WorkerPython:
    """A Python that workers run: its path, and which of the required modules it has.

    >>> bare = WorkerPython("/usr/bin/python3", _python(), None, ("weft", "numba"))
    >>> bare.problem
    'has no weft, numba'
    >>> WorkerPython("python3", "2.7", None, ()).problem
    'is Python 2.7, and the driver is Python ...'
    """

    program: str
    python: str
    """Its version, major and minor."""
    weft: str | None
    """The version of weft that it has."""
    lacks: tuple[str, ...]

    @property
    def problem(self) -> str | None:
        """Why workers cannot run it; None if they can."""
        if self.python != _python():
            return f"is Python {self.python}, and the driver is Python {_python()}"
        if self.lacks:
            return f"has no {', '.join(self.lacks)}"
        if self.weft != __version__:
            return f"has weft {self.weft}, and the driver has weft {__version__}"
        return None


def fit_workers(spark: SparkSession) -> None:
    """Make a session's workers run a Python that has weft, or raise an error that says why not.

    Checks once per session, which takes part of a second on this machine, or a job of a few empty
    tasks on a cluster.
    """
    context: SparkContext | None = getattr(spark, "_sc", None)
    if context is None:
        name = str(getattr(spark, "session_id", id(spark)))
        if name not in _fit:
            _check(*_on_connect(spark))
            _fit.add(name)
        return
    name = f"{context.applicationId} {context.pythonExec}"
    if name in _fit:
        return
    if str(context.master).startswith("local"):
        _make_local_fit(context)
    else:
        _check(*_on_cluster(context))
    _fit.add(f"{context.applicationId} {context.pythonExec}")


def warm_workers(spark: SparkSession) -> None:
    """Make Spark start its workers while the driver does something else.

    These are the workers that a stream uses; those forked by `weft.spark.daemon` have already
    imported what it needs.
    """
    context = spark.sparkContext
    tasks = _tasks(context)

    def idle(_: Iterable[int]) -> None:
        pass

    def run() -> None:
        # Problems with workers are reported by the first job that needs them.
        with suppress(Exception):
            context.parallelize(range(tasks), tasks).foreachPartition(idle)

    InheritableThread(target=run, name="weft-warm-workers", daemon=True).start()


def look_at(program: str) -> WorkerPython | None:
    """Inspect a Python on this machine; None if it cannot be run."""
    code = f"{_LOOK}\nprint(look({NEEDED!r}))"
    try:
        done = subprocess.run(
            [program, "-c", code], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
        return _found(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _make_local_fit(context: SparkContext) -> None:
    """Keep the workers' Python if it passes the check, or else use the driver's."""
    found = look_at(context.pythonExec)
    if found is not None and found.problem is None:
        return
    own = look_at(sys.executable) if sys.executable else None
    if own is not None and own.problem is None:
        # Spark reads the program from here whenever it wraps a function for its workers.
        context.pythonExec = sys.executable
        return
    looked = own or found
    raise EngineError(
        f"Spark's workers cannot run weft: {context.pythonExec!r} "
        f"{found.problem if found else 'cannot be run'}, and a new process of this Python, "
        f"{sys.executable!r}, {looked.problem if looked else 'cannot be run'}; install weft with "
        f"what it depends on into it (pip install weft), or set PYTHONPATH before Python starts"
    )


def _check(found: list[WorkerPython], set_it: str) -> None:
    for python in found:
        if python.problem is not None:
            raise EngineError(
                f"Spark's workers run {python.program!r}, which {python.problem}: {set_it}"
            )


def _on_cluster(context: SparkContext) -> tuple[list[WorkerPython], str]:
    """Inspect the executors' Pythons with a small job; also returns what to set."""
    set_it = (
        "set PYSPARK_PYTHON, before Spark starts, to a Python on every machine that has weft "
        "installed, or ship one (docs/operations.md, On a cluster)"
    )
    tasks = _tasks(context)
    code, names = _LOOK, NEEDED

    # A local function is pickled by value, because workers may not have weft to import it from.
    def ask(_: Iterable[int]) -> Iterable[str]:
        scope: dict[str, Any] = {}
        exec(code, scope)
        yield scope["look"](names)

    try:
        told = context.parallelize(range(tasks), tasks).mapPartitions(ask).distinct().collect()
    except (PySparkException, Py4JJavaError) as error:
        raise _unanswered(error, context.pythonExec, set_it) from None
    return [_found(text) for text in told], set_it


def _on_connect(spark: SparkSession) -> tuple[list[WorkerPython], str]:
    """Inspect the Python of a Connect server's workers; also returns what to set."""
    set_it = (
        "set PYSPARK_PYTHON, before the Spark Connect server starts, to a Python of its machines "
        "that has weft installed"
    )
    code, names = _LOOK, NEEDED

    def ask(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        scope: dict[str, Any] = {}
        exec(code, scope)
        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"told": [scope["look"](names)]})

    try:
        told = spark.range(1, numPartitions=1).mapInArrow(ask, "told string").collect()
    except PySparkException as error:
        raise _unanswered(error, "python3", set_it) from None
    return [_found(row["told"]) for row in told], set_it


def _tasks(context: SparkContext) -> int:
    """One task per core, up to a few."""
    return max(1, min(_TASKS, int(context.defaultParallelism)))


def _unanswered(error: Exception, program: str, set_it: str) -> EngineError:
    said = spark_message(error) or short(str(error))
    return EngineError(f"Spark's workers cannot run {program!r} ({said}): {set_it}")


def _found(text: str) -> WorkerPython:
    told = json.loads(text)
    return WorkerPython(told["program"], told["python"], told["weft"], tuple(told["lacks"]))


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def main() -> None:
    """`python -m weft.spark.workers`: which Python a plain session's workers run, with and without
    weft.

    Prints a line of JSON: the Python that Spark would have used, why it does not work, and the one
    that the workers then ran. For `weft doctor`, which needs a session without any preparation.
    """
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    with builder.getOrCreate() as spark:
        context = spark.sparkContext
        asked = look_at(context.pythonExec)
        told: dict[str, str | None] = {
            "asked": asked.program if asked else context.pythonExec,
            "problem": asked.problem if asked else "cannot be run",
        }
        try:
            fit_workers(spark)
            found, set_it = _on_cluster(context)
            _check(found, set_it)
            told["runs"] = found[0].program
        except EngineError as error:
            told["error"] = str(error)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
