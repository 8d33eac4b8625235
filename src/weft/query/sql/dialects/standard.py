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
    """A statement with LIMIT and OFFSET instead of FETCH FIRST, in subqueries too.

    >>> limited("FROM (SELECT a FROM t FETCH FIRST ROW ONLY) OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY")
    'FROM (SELECT a FROM t LIMIT 1) LIMIT 2 OFFSET 1'
    """
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens))):
        found = _FETCH.match(" ".join(token.word for token in tokens[index : index + 5]))
        if found is None:
            continue
        begin, end = index, index + len(found[0].split()) - 1
        offset = ""
        before = [token.word for token in tokens[max(0, index - 3) : index]]
        if len(before) == 3 and before[0] == "OFFSET" and before[2] in ("ROW", "ROWS"):
            begin, offset = index - 3, f" OFFSET {before[1]}"
        limit = f"LIMIT {found[1] or 1}{offset}"
        sql = f"{sql[: tokens[begin].start]}{limit}{sql[tokens[end].end :]}"
    return sql


_FETCH = re.compile(r"FETCH (?:FIRST|NEXT) (?:(\d+) )?ROWS? ONLY\b")
