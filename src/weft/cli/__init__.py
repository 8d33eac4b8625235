"""The command line: `weft plan`, `run`, `verify`, `stream` and more; docs/cli.md lists them.

One file per command, imported when it is called; no other folder imports this one. The exit codes
are in `weft.cli.main.EXIT`.
"""

from __future__ import annotations

from weft.cli.main import main as main
