"""Who may import what: imports point to earlier stages only, and only weft/spark knows pyspark."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "weft"

_PURE = ["errors", "algebra", "query", "plan", "engine", "sinks"]
EARLIER: dict[str, set[str]] = {
    **{stage: set(_PURE[:at]) for at, stage in enumerate(_PURE)},
    "job": {"errors", "algebra", "query"},
    "stream": {*_PURE, "job"},
    "spark": {*_PURE, "job", "stream"},
    "plot": {*_PURE} - {"sinks"},
    "demo": {"query"},
}
"""What each stage may import besides itself."""
ENDS = {"cli", "serve", "__init__", "__main__"}
"""They may import every stage, and no stage imports them."""


@cache
def imports() -> dict[str, frozenset[str]]:
    """For every file, the modules that it imports: at its top, in functions, or for types."""
    return {
        path.relative_to(SOURCE).as_posix(): imported(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def imported(text: str) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{'.' * node.level}{node.module or ''}.{a.name}" for a in node.names)
    return frozenset(found)


def stage_of(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def offences(wrong: Callable[[str, str], bool]) -> list[str]:
    return [
        f"{file} imports {module}"
        for file, modules in imports().items()
        for module in sorted(modules)
        if wrong(file, module)
    ]


def package(module: str) -> str:
    return module.split(".")[0]


def test_reads_every_form_of_import() -> None:
    text = "import a.b\ndef f():\n    from c import d, e\nfrom . import g\n"
    assert imported(text) == {"a.b", "c.d", "c.e", "..g"}


def test_every_stage_is_known() -> None:
    assert {stage_of(file) for file in imports()} <= set(EARLIER) | ENDS


def test_imports_point_to_earlier_stages() -> None:
    def wrong(file: str, module: str) -> bool:
        stage, target = stage_of(file), f"{module}.".split(".")[1]
        if stage in ENDS or package(module) != "weft" or target not in set(EARLIER) | ENDS:
            return False
        return target != stage and target not in EARLIER[stage]

    assert offences(wrong) == []


def test_imports_are_absolute() -> None:
    assert offences(lambda file, module: module.startswith(".")) == []


def test_only_the_spark_stage_imports_pyspark() -> None:
    def wrong(file: str, module: str) -> bool:
        return package(module) in ("pyspark", "py4j") and stage_of(file) != "spark"

    assert offences(wrong) == []


def test_every_file_of_the_spark_stage_imports_pyspark() -> None:
    """Code that needs no Spark belongs in another stage, where it can be tested without Spark."""

    def needs_it(file: str) -> bool:
        return any(package(module) in ("pyspark", "py4j") for module in imports()[file])

    spark = [file for file in imports() if stage_of(file) == "spark"]
    assert [file for file in spark if not (needs_it(file) or file.endswith("__init__.py"))] == []


def test_only_plots_import_matplotlib_and_nothing_imports_plots() -> None:
    """Pictures are an extra: users who draw none must not need matplotlib."""

    def wrong(file: str, module: str) -> bool:
        drawing = package(module) == "matplotlib" or f"{module}.".startswith("weft.plot.")
        return drawing and stage_of(file) != "plot"

    assert offences(wrong) == []


def test_the_rules_see_plots() -> None:
    """The files that the two rules above are about exist."""
    plots = {file: modules for file, modules in imports().items() if stage_of(file) == "plot"}
    assert any(package(module) == "matplotlib" for some in plots.values() for module in some)


def test_only_the_dashboard_imports_its_framework() -> None:
    """The dashboard is an extra: users who do not use it must not need its dependencies."""

    def wrong(file: str, module: str) -> bool:
        framework = package(module) in ("fastapi", "starlette", "uvicorn", "pydantic")
        return framework and stage_of(file) != "serve"

    assert offences(wrong) == []


def test_the_dashboard_starts_no_spark() -> None:
    """It reads checkpoints with modules that need no pyspark, and so starts quickly."""
    code = "import sys, weft.serve.app, weft.serve.server; print('pyspark' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


SQL: dict[str, set[str]] = {
    "select": set(),
    "tokens": {"select"},
    "text": {"select", "tokens"},
    "dialects": {"select", "tokens"},
}
"""The folders of query/sql, and what each may import besides itself; its own files import all."""
SHARED = {"dialect", "vocabulary", "in_spark", "standard", "spark", "table_window"}
"""What the folders of single dialects may import besides themselves."""


def test_imports_between_the_folders_of_sql_go_one_way() -> None:
    def wrong(file: str, module: str) -> bool:
        if not (file.startswith("query/sql/") and module.startswith("weft.query.sql.")):
            return False
        (folder, *inner), target = file.split("/")[2:], module.split(".")[3:]
        if folder not in SQL:
            return False
        if folder == target[0] == "dialects":
            return target[1] not in SHARED | set(inner[:-1])
        return target[0] not in SQL[folder] | {folder}

    assert offences(wrong) == []


def test_every_folder_of_sql_is_known() -> None:
    inside = [file.split("/")[2:] for file in imports() if file.startswith("query/sql/")]
    assert {folder for folder, *rest in inside if rest} == set(SQL)


def test_only_the_reading_of_sql_imports_sqlglot() -> None:
    def wrong(file: str, module: str) -> bool:
        return package(module) == "sqlglot" and not file.startswith(("query/syntax/", "query/sql/"))

    assert offences(wrong) == []
