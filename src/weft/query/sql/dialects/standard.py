"""Clauses of standard SQL that Flink and RisingWave have, translated into Spark SQL."""

from __future__ import annotations

import re

from weft.query.syntax.lexer import closed, tokenize

_AS_OF = ["FOR", "SYSTEM_TIME", "AS", "OF"]


def without_versions(sql: str) -> str:
    """A statement without `FOR SYSTEM_TIME AS OF o.proc_time`: tables here have one version."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 4)):
        if [token.word for token in tokens[index : index + 4]] != _AS_OF:
            continue
        last = index + 4
        while last + 2 < len(tokens) and tokens[last + 1].text == ".":
            last += 2
        if last + 1 < len(tokens) and tokens[last + 1].text == "(":
            last = closed(tokens, last + 1)
        sql = f"{sql[: tokens[index].start]}{sql[tokens[last].end :]}"
    return sql


def limited(sql: str) -> str:
    """`OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY` as LIMIT and OFFSET."""
    found = re.search(
        r"(?:\bOFFSET\s+(\d+)\s+ROWS?\s+)?\bFETCH\s+(?:FIRST|NEXT)\s+(\d+)\s+ROWS?\s+ONLY\s*$",
        sql,
        re.IGNORECASE,
    )
    if found is None:
        return sql
    offset = f" OFFSET {found[1]}" if found[1] else ""
    return f"{sql[: found.start()]}LIMIT {found[2]}{offset}"
