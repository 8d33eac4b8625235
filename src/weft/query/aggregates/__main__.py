"""`python -m weft.query.aggregates` prints the tables of docs/aggregates.md."""

from __future__ import annotations

from weft.query.aggregates.cards import table

if __name__ == "__main__":
    print(table(), end="")
