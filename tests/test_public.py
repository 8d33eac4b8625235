"""The public API is exactly what DESIGN.md says, is cheap to import, and starts nothing."""

import subprocess
import sys

import weft
from public_api import KEPT, public_api

SURFACE = {
    "Calendar",
    "Loom",
    "Plan",
    "Query",
    "Statistics",
    "Window",
    "WindowTable",
    "Workload",
    "WeftError",
    "Session",
    "edge_rate",
    "optimize",
    "read_late",
    "read_results",
    "training_set",
    "rescale",
    "__version__",
}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_public_names_are_listed_and_load():
    assert set(weft.__all__) == SURFACE
    for name in weft.__all__:
        assert getattr(weft, name) is not None


def test_no_signature_has_changed():
    """After an intended change, mention it in CHANGELOG.md and run `python tests/public_api.py`."""
    assert public_api().splitlines() == KEPT.read_text("utf-8").splitlines()


def test_import_is_light():
    heavy = ["numba", "pyspark", "sqlglot", "pyarrow", "pandas", "matplotlib"]
    assert run(f"import sys, weft; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_planning_starts_no_spark():
    code = (
        "import sys, weft;"
        "weft.optimize([weft.Window(range=12, slide=9), weft.Window(range=10, slide=6)]);"
        "print('pyspark' in sys.modules)"
    )
    assert run(code) == "False"


def test_drawing_starts_no_spark():
    code = "import sys, weft.plot; print('pyspark' in sys.modules, 'matplotlib' in sys.modules)"
    assert run(code) == "False True"


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "try:\n    import weft.plot\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    assert "pip install 'weft[plot]'" in run(code)
