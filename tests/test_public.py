"""The public surface is exactly what DESIGN.md says, cheap to import and starts nothing."""

import subprocess
import sys

import weft

SURFACE = {
    "Loom",
    "Plan",
    "Query",
    "Statistics",
    "Window",
    "WindowTable",
    "Workload",
    "WeftError",
    "edge_rate",
    "optimize",
    "read_results",
    "__version__",
}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_public_names_are_listed_and_load():
    assert set(weft.__all__) == SURFACE
    for name in weft.__all__:
        assert getattr(weft, name) is not None


def test_import_is_light():
    heavy = "[m for m in ('numba', 'pyspark', 'sqlglot', 'pyarrow', 'pandas') if m in sys.modules]"
    assert run(f"import sys, weft; print({heavy})") == "[]"


def test_planning_starts_no_spark():
    code = (
        "import sys, weft;"
        "weft.optimize([weft.Window(range=12, slide=9), weft.Window(range=10, slide=6)]);"
        "print('pyspark' in sys.modules)"
    )
    assert run(code) == "False"
