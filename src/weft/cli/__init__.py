"""The command line: `weft plan`, `run`, `verify`, `stream` and more; docs/cli.md lists them.

One command a file, each loaded when it is called; nothing imports this folder. Exit codes are
those of `weft.cli.main.EXIT`.
"""

from __future__ import annotations

from weft.cli.main import main as main
