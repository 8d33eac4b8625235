"""The vocabulary of Flink SQL: what it spells or means differently from Spark."""

from __future__ import annotations

from weft.query.sql.dialects.vocabulary import Vocabulary

_SAME = (
    *("count", "sum", "avg", "min", "max", "stddev_samp", "stddev_pop", "var_samp", "var_pop"),
    *("stddev", "variance", "abs", "ceil", "floor", "sqrt", "exp", "ln", "log10", "power"),
    *("upper", "lower", "coalesce", "nullif", "concat", "substring", "sign", "mod"),
)

DEFAULTS = {
    "LISTAGG": ("','",),
    "FIRST_VALUE": ("TRUE",),
    "LAST_VALUE": ("TRUE",),
    "STR_TO_MAP": ("','", "'='"),
}
"""What follows the first argument where nothing is given: separators, and to ignore nulls."""
WORDS = Vocabulary(
    "Flink SQL",
    operators=frozenset(
        (
            *("+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT"),
            *("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"),
            *("IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN"),
            *("LIKE", "NOT LIKE", "NEG", "PAREN", "AS", "TRUE"),
        )
    ),
    functions={
        **{name: name for name in _SAME},
        "pow": "power",
        "signum": "sign",
        "length": "char_length",
    },
    types={
        **{name: name for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT")},
        **{name: name for name in ("DOUBLE", "STRING", "DATE")},
        "TIMESTAMP_NTZ": "TIMESTAMP",
        "TIMESTAMP": "TIMESTAMP_LTZ",
    },
    synonyms={
        "VARCHAR": "STRING",
        "INTEGER": "INT",
        **dict.fromkeys(("TIMESTAMP(3)", "TIMESTAMP(6)"), "TIMESTAMP_NTZ"),
    },
    more_types={
        **dict.fromkeys(("VARCHAR(MAX)", "CHAR"), "STRING"),
        "TIMESTAMP_LTZ(3)": "TIMESTAMP",
    },
    literals={"DATE": "DATE", "TIMESTAMP_NTZ": "TIMESTAMP"},
    false_friends={
        "greatest": "it is null if any argument is: compute it in the stream first",
        "least": "it is null if any argument is: compute it in the stream first",
        "collect": "write collect_list(column) in Spark SQL",
        "array_agg": "it keeps nulls: write collect_list(column) in Spark SQL",
        "initcap": "words end at every other character than letters and digits: compute it in the "
        "stream first",
        "proctime": "processing time cannot be shared: use a column of event time",
    },
    reserved=frozenset(
        (
            *("abs", "array", "at", "avg", "begin", "bigint", "binary", "boolean", "both", "call"),
            *("char", "check", "collect", "column", "commit", "condition", "connect", "constraint"),
            *("convert", "count", "create", "cube", "current", "cursor", "cycle", "day", "decimal"),
            *("default", "delete", "desc", "describe", "double", "drop", "dynamic", "each"),
            *("element", "equals", "exec", "explain", "external", "fetch", "float", "floor", "for"),
            *("foreign", "free", "function", "get", "global", "grant", "hold", "hour", "if"),
            *("import", "insert", "int", "integer", "key", "language", "large", "last", "lead"),
            *("level", "local", "log", "match", "max", "member", "merge", "method", "min"),
            *("minute", "mod", "module", "month", "multiset", "new", "no", "none", "numeric"),
            *("of", "offset", "old", "only", "open", "out", "overlaps", "parameter", "partition"),
            *("percent", "percentile_cont", "period", "position", "power", "precision", "primary"),
            *("prepare", "procedure", "range", "rank", "raw", "real", "reference", "references"),
            *("release", "reset", "result", "return", "rollback", "rollup", "row", "rows"),
            *("savepoint", "schema", "scope", "scroll", "search", "second", "session", "set"),
            *("similar", "smallint", "specific", "sql", "start", "static", "string", "sum"),
            *("symmetric", "system", "tables", "temporary", "tinyint", "to", "trigger", "truncate"),
            *("unique", "unknown", "update", "upper", "usage", "use", "user", "value", "varchar"),
            *("varying", "view", "views", "week", "whenever", "without", "year"),
            *("catalog", "database", "databases", "functions", "language", "rename", "statement"),
        )
    ),
    window=("window_start", "window_end"),
    first_is_one=True,
    whole_averages=True,
)
