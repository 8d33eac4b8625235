"""Fetches jars from Maven Central by name, with the machine's `mvn`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from weft.errors import EngineError

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
SPARK = "{spark}"
"""Placeholder in place of a version: the version of the running Spark."""
_SECONDS = 300.0
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>weft</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>
<artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
<configuration><artifactItems>{items}</artifactItems></configuration></plugin></plugins></build>
</project>
"""


@dataclass(frozen=True)
class Jar:
    """A jar by its group and name, and the acceptable versions, the best first."""

    module: str
    versions: tuple[str, ...]

    def on(self, spark: str) -> Jar:
        """The jar for a version of Spark: with that version first, and no newer ones.

        >>> Jar("g:a", ("{spark}", "4.2.0", "4.0.0")).on("4.1.2").versions
        ('4.1.2', '4.0.0')
        """
        if SPARK not in self.versions:
            return self
        older = (v for v in self.versions if v != SPARK and _numbers(v) < _numbers(spark))
        return Jar(self.module, (spark, *older))

    def file(self, version: str) -> str:
        """The file name of a version."""
        return f"{self.module.split(':')[1]}-{version}.jar"


def fetch(jars: Iterable[Jar], folder: Path) -> list[Path]:
    """The jars' files, from the folder or else from Maven, without their dependencies.

    If a version is not published, the next acceptable one is tried; an error names a jar of which
    none is published.
    """
    wanted = list(jars)
    lacking = [jar for jar in wanted if _kept(jar, folder) is None]
    # All in one start of Maven; one by one only if a version is not published.
    if lacking and _copy([(jar, jar.versions[0]) for jar in lacking], folder):
        for jar in lacking:
            _first_published(jar, folder)
    return [_kept(jar, folder) or _first_published(jar, folder) for jar in wanted]


def _kept(jar: Jar, folder: Path) -> Path | None:
    files = (folder / jar.file(version) for version in jar.versions)
    return next((file for file in files if file.exists()), None)


def _first_published(jar: Jar, folder: Path) -> Path:
    said = ""
    for version in jar.versions:
        said = _copy([(jar, version)], folder)
        if not said:
            return folder / jar.file(version)
    raise EngineError(
        f"{jar.module}: Maven found none of the versions {', '.join(jar.versions)}: {said}"
    )


def _copy(asked: Sequence[tuple[Jar, str]], folder: Path) -> str:
    """Let Maven copy files into a folder; return its error message, empty if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    # Into a temporary folder first, so that files appear atomically.
    with TemporaryDirectory(dir=folder, prefix=".") as apart:
        items = "".join(_item(jar, version, apart) for jar, version in asked)
        pom = Path(apart) / "pom.xml"
        pom.write_text(_POM.format(items=items), encoding="utf-8")
        said = mvn("--file", str(pom), f"{PLUGIN}:copy")
        if not said:
            for jar, version in asked:
                (Path(apart) / jar.file(version)).replace(folder / jar.file(version))
    return said


def _item(jar: Jar, version: str, folder: str) -> str:
    group, name = jar.module.split(":")
    fields = {
        "groupId": group, "artifactId": name, "version": version, "outputDirectory": folder,
    }  # fmt: skip
    inner = "".join(f"<{field}>{escape(value)}</{field}>" for field, value in fields.items())
    return f"<artifactItem>{inner}</artifactItem>"


def mvn(*arguments: str) -> str:
    """Run Maven; return its error in one line without URLs, empty if there is none."""
    program = shutil.which("mvn")
    if program is None:
        raise EngineError(
            "weft fetches jars with mvn, which is not on the path: install Maven (on Debian or "
            "Ubuntu: apt-get install maven), or list packages under spark.jars.packages, which "
            "Spark fetches itself"
        )
    command = [program, "--quiet", "--batch-mode", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"Maven did not end within {_SECONDS:g} s"
    return "" if done.returncode == 0 else complaint(done.stdout + done.stderr)


def complaint(output: str) -> str:
    """Maven's first error, in one line without URLs.

    >>> complaint("[INFO] x\\n[ERROR] Failed to execute goal a:b (c) on project d: Unable to "
    ...           "find g:a:jar:1 in central (https://host/maven2) -> [Help 1]")
    'Unable to find g:a:jar:1 in central'
    """
    errors = [line for line in output.splitlines() if "[ERROR]" in line]
    text = errors[0].split("[ERROR]", 1)[1].strip() if errors else "Maven failed without a word"
    text = re.sub(r"^Failed to execute goal .*? on project [\w.-]+: ", "", text)
    text = re.sub(r" ?\(?\b\w+://[^\s)]*\)?", "", text)
    return text.replace("-> [Help 1]", "").strip()[:400]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
