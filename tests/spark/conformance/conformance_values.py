"""Every type that a column may have, with extreme values.

A column cycles through its values, so that some windows have the odd ones and others do not.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Values:
    """A column: its type, and the SQL of the values that it cycles through."""

    name: str
    type: str
    values: tuple[str, ...]
    words: bool = False
    """Whether the values are strings that are not numbers, which Spark fails to add."""

    @property
    def sql(self) -> str:
        """The column, computed from `id`."""
        listed = ", ".join(f"CAST({value} AS {self.type})" for value in self.values)
        at = f"CAST(id % {len(self.values)} AS INT) + 1"
        return f"element_at(array({listed}), {at}) AS {self.name}"


def _edges(name: str, kind: str, *values: str) -> Values:
    words = kind.startswith("STRING") and name != "number_text"
    return Values(name, kind, ("NULL", *values), words)


_NINES = "9" * 28 + "." + "9" * 10
VALUES = (
    _edges("truth", "BOOLEAN", "true", "false", "true"),
    _edges("tiny", "TINYINT", "-128", "127", "0", "-1", "127"),
    _edges("whole", "INT", "-2147483648", "2147483647", "0", "-1", "7"),
    _edges("long", "BIGINT", "0", "9007199254740993", "-1", "1700000000000000", "7"),
    _edges("longest", "BIGINT", "-9223372036854775808L", "9223372036854775807", "9e18", "0"),
    _edges("single", "FLOAT", "'NaN'", "-0.0", "0.0", "1.5", "'Infinity'", "-2.25", "3.4028235E38"),
    _edges("real", "DOUBLE", "1.5", "'NaN'", "-0.0", "0.0", "-2.25", "'-Infinity'", "7"),
    _edges("huge", "DOUBLE", "1.7E308", "-1.7E308", "4.9E-324", "0"),
    _edges("money", "DECIMAL(10, 2)", "99999999.99", "-99999999.99", "0.00", "0.01"),
    _edges("wide", "DECIMAL(38, 10)", f"{_NINES}BD", f"-{_NINES}BD", "0", "1e-10"),
    _edges("text", "STRING", "''", "'a'", "'A'", "' a'", "'é'", "'🎈'", "'a\\u0000b'", "'Z'"),
    _edges("number_text", "STRING", "'1'", "'2.5'", "'-3'", "'1e3'"),
    _edges("bytes", "BINARY", "X''", "X'00'", "X'FF'", "X'0001'", "X'7F'"),
    _edges("day", "DATE", "'1970-01-01'", "'0001-01-01'", "'9999-12-31'", "'2024-02-29'"),
    _edges("moment", "TIMESTAMP", "'1970-01-01 00:00:00'", "'2024-03-10 02:30:00'",
           "'0002-01-01 00:00:01'", "'9998-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.5'"),
    _edges("wall", "TIMESTAMP_NTZ", "'1970-01-01 00:00:00'", "'2024-03-10 02:30:00'",
           "'0002-01-01 00:00:01'", "'9998-12-31 23:59:59.999999'"),
    _edges("span", "INTERVAL DAY TO SECOND", "INTERVAL '0' SECOND", "INTERVAL '-1.000001' SECOND",
           "INTERVAL '99999 23:59:59.999999' DAY TO SECOND"),
    _edges("months", "INTERVAL YEAR TO MONTH", "INTERVAL '0' MONTH", "INTERVAL '-13' MONTH",
           "INTERVAL '999' YEAR"),
    _edges("folded", "STRING COLLATE UTF8_LCASE", "'a'", "'A'", "'b'", "'B '", "''"),
    _edges("trimmed", "STRING COLLATE UTF8_BINARY_RTRIM", "'a'", "'a '", "'A'", "'b'"),
    _edges("listed", "ARRAY<DOUBLE>", "array()", "array(1D, NULL)", "array(double('NaN'))",
           "array(-0D)", "array(0D)", "array(1D)"),
    _edges("pair", "STRUCT<x: DOUBLE, y: STRING>", "named_struct('x', double('NaN'), 'y', 'a')",
           "named_struct('x', -0D, 'y', 'a')", "named_struct('x', 0D, 'y', 'a')",
           "named_struct('x', 1D, 'y', NULL)"),
    _edges("mapped", "MAP<STRING, INT>", "map()", "map('a', 1)", "map('b', 2, 'a', 1)",
           "map('a', 1, 'b', 2)"),
    _edges("any", "VARIANT", "parse_json('1')", "parse_json('{\"a\": [1, null]}')",
           "parse_json('\"x\"')"),
)  # fmt: skip

AS_THEY_ARE = ("span", "months", "folded", "trimmed", "mapped", "any")
"""Columns that a batch cannot collect; in a separate query, so that the other lists are shared."""

SPARK_FAILS = frozenset(
    {
        *((column, "value_range") for column in ("tiny", "whole", "longest")),
        *(
            (column, name)
            for column in ("longest", "wide")
            for name in ["sum", "sum_distinct", "some_sum"]
        ),
        ("wide", "avg"),
        ("wide", "regr_avgy"),
        *(("number_text", name) for name in ("bool_and", "bool_or")),
        *(
            ("any", name)
            for name in [
                "approx_count_distinct",
                "count_distinct",
                "count_pairs",
                "list_distinct",
                "product",
            ]
        ),
    }
)
"""Columns and aggregates on which Spark itself fails at run time in ANSI mode."""
