"""A standalone Spark cluster for tests, from the PySpark package: a master and workers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import components
import pyspark
import pytest

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).parents[2]


@dataclass
class Cluster:
    """The cluster's address and its worker processes; executors are in their worker's group."""

    address: str
    workers: list[subprocess.Popen]


@contextmanager
def standalone(folder: Path, environ: dict[str, str], workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each, on loopback; all are killed at the end."""
    port, page, *pages = components.free_ports(2 + workers)
    program = str(HOME / "bin" / "spark-class")
    options = {"env": {**environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1"}}
    with ExitStack() as stack:
        master = stack.enter_context(
            components.process(
                [program, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                 "--port", str(port), "--webui-port", str(page)],
                folder / "master.log", **options,
            )
        )  # fmt: skip
        components.wait_for(lambda: components.listens(port), "cluster: the master", 60.0, master)
        address = f"spark://127.0.0.1:{port}"
        started = [
            stack.enter_context(
                components.process(
                    [program, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
                     "--webui-port", str(own), "--cores", "1", "--memory", "1g",
                     "--work-dir", str(folder / f"work-{own}"), address],
                    folder / f"worker-{own}.log", **options,
                )
            )
            for own in pages
        ]  # fmt: skip
        yield Cluster(address, started)


def wheel(folder: Path) -> Path:
    """The project's wheel, freshly built, under a name that ends in .zip.

    A wheel is a zip file, and Numba, which caches compiled code, recognises archives by that name.
    """
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    if done.returncode:
        pytest.fail(f"cluster: the wheel cannot be built: {done.stderr[-1000:]}")
    (built,) = folder.glob("weft-*.whl")
    return built.rename(folder / "weft.zip")


def bare_python(folder: Path) -> tuple[str, dict[str, str]]:
    """A Python with weft's dependencies but without weft, and an environment for it.

    Its path is that of this Python, except for folders that have weft.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    paths = [path for path in sys.path if path and not (Path(path) / "weft").exists()]
    (site / "dependencies.pth").write_text("\n".join(paths))
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return str(folder / "bin" / "python"), environ
