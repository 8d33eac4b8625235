"""`python -m weft.cli`: the command line without its script."""

from __future__ import annotations

from weft.cli.main import main

if __name__ == "__main__":
    main()
