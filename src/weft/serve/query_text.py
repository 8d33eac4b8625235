"""A query as the page shows it: as SQL, if it can be written in SQL."""

from __future__ import annotations

from weft.errors import QueryError
from weft.query.query import Query
from weft.query.sql import write_query
from weft.query.sql.dialects.dialect import DialectName
from weft.query.window import Session


def shown_sql(query: Query) -> str:
    """The SQL of a query; for a statement over answers, also that statement.

    >>> from weft.query.sql import parse_statement
    >>> most, = parse_statement("SELECT max(n) AS m FROM (SELECT window, k, count(*) AS n FROM t "
    ...                         "GROUP BY window(ts, '1 hour'), k) GROUP BY window", "most")
    >>> print(shown_sql(most))
    -- weft_answers_0 are the answers of
    -- name: most
    SELECT window, k, count(*) AS n
    FROM t
    GROUP BY window(ts, '1 hour'), k;
    <BLANKLINE>
    SELECT max(n) AS m FROM (SELECT window AS `window`, `k` AS `k`, `n` AS `n` FROM weft_answers_0)
    GROUP BY window
    """
    try:
        if query.finish is None:
            return write_query(query, _dialect(query))
        plain = Query.from_dict({**query.to_dict(), "finish": None})
        parts = "".join(f"-- weft_answers_{at} are those of {name!r}\n"
                        for at, name in enumerate(query.finish.parts, start=1))  # fmt: skip
        answers = write_query(plain, _dialect(query))
        return f"-- weft_answers_0 are the answers of\n{answers};\n{parts}\n{query.finish.sql}"
    except QueryError:  # calendar windows, for which no dialect has a function
        return f"-- {query!r}".replace("\n", "\n-- ")


def _dialect(query: Query) -> DialectName:
    """Spark SQL, except for sessions with a maximum, which only Azure Stream Analytics has."""
    return "asa" if isinstance(query.window, Session) and query.window.maximum else "spark"
