"""The command line: `weft plan`, `weft translate`, `weft bench`, `weft demo`.

One command a file, each loaded when it is called; nothing imports this folder. Exit codes: 0 all
went well, 1 an answer or a target was not met, 2 what was asked cannot be served.
"""

from __future__ import annotations

from weft.cli.main import main as main
