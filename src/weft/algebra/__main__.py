"""`python -m weft.algebra` prints the tables of docs/aggregates.md."""

from __future__ import annotations

from weft.algebra.cards import table

if __name__ == "__main__":
    print(table(), end="")
