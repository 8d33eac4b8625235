"""The built page in the package matches the sources, and loads nothing from other hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
STATIC = ROOT / "src" / "weft" / "serve" / "static"


def test_nothing_is_loaded_from_elsewhere():
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8")
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        assert hosts <= {"www.w3.org"}, f"{file.name} names {hosts}"  # the name of SVG's namespace
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=[\"']|<style", text.split("`")[0])
    page = (STATIC / "index.html").read_text()
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page)) == {"/app.js", "/app.css", "/icon.svg"}


def test_the_lock_names_no_addresses():
    lock = (ROOT / "web" / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 10


@pytest.mark.integration
def test_a_build_of_the_sources_gives_the_same_files(tmp_path):
    web = tmp_path / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "src" / "weft" / "serve" / "static"
    assert sorted(file.name for file in built.iterdir()) == sorted(f.name for f in STATIC.iterdir())
    for file in built.iterdir():
        same = file.read_bytes() == (STATIC / file.name).read_bytes()
        assert same, f"{file.name} is not what web/ builds: run `make web` and commit it"
