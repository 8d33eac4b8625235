"""Writes queries as text in any dialect; an error names what a dialect cannot express."""

from __future__ import annotations

from collections.abc import Mapping

from weft.errors import QueryError
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.sql.dialects.dialect import Dialect, DialectName
from weft.query.sql.reading import find_dialect, parse_query
from weft.query.sql.select.nodes import unquoted
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Node, rebuild
from weft.query.syntax.writer import write
from weft.query.window import Session

TABLE, TIME = "stream", "ts"
"""Table and time of a query whose source is not known; `ts` is also the loom's default."""


def write_query(
    query: Query, dialect: DialectName = "spark", *, table: str | None = None,
    time: str | None = None,
) -> str:  # fmt: skip
    """Write a query as one statement of a dialect, with its name and lateness in comments.

    Read back, it is an equal query, except for quotes around names that are keywords. `table` and
    `time` default to those of the query's source, or else to `stream` and `ts`.

    >>> from weft.query.window import Window
    >>> q = Query("big", aggs={"value": "sum(price * volume)"}, by="symbol",
    ...           window=Window(range="10 minutes", slide="5 minutes"), where="volume > 50000")
    >>> print(write_query(q, "cql", table="trades"))
    -- name: big
    SELECT symbol, sum(price * volume) AS value
    FROM trades [RANGE '10 minutes' SLIDE '5 minutes']
    WHERE volume > 50000
    GROUP BY symbol
    >>> print(write_query(q, "flink", table="trades"))
    -- name: big
    SELECT window_start, window_end, symbol, sum(price * volume) AS `value`
    FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    WHERE volume > 50000
    GROUP BY window_start, window_end, symbol
    """
    known = find_dialect(dialect)
    try:
        late = f"-- lateness: {query.lateness_given}\n" if query.lateness else ""
        text = f"-- name: {query.name}\n{late}{_statement(query, known, table, time)}"
        again = parse_query(text, dialect=dialect)  # a name may be a keyword there and not here
        if known.reads_spark:
            _refuse_other_meaning(query, again)
        return text
    except QueryError as error:
        raise type(error)(
            f"query {query.name!r} cannot be written in {known.title}: {error}"
        ) from None


def _refuse_other_meaning(query: Query, again: Query) -> None:
    """Refuse what is read back as something else: `log(x)`, which RisingWave takes to the base 10.

    The dialects that are read as Spark SQL are written with any function of Spark's.
    """
    if query == again:
        return
    theirs = {**again.aggs, "WHERE": again.where, "GROUP BY": again.by, "HAVING": again.having}
    mine = {**query.aggs, "WHERE": query.where, "GROUP BY": query.by, "HAVING": query.having}
    for name, sql in mine.items():
        if theirs.get(name) != sql:
            raise QueryError(f"{name}: {sql} would be {theirs.get(name)} there")
    raise QueryError(f"it would be {again!r} there")


def _statement(query: Query, dialect: Dialect, table: str | None, time: str | None) -> str:
    words = dialect.words
    source = query.source
    if query.finish is not None:
        raise QueryError("SQL over the answers of windows cannot be translated")
    if isinstance(query.window, Session):
        _check_session(query.window, dialect)
    if isinstance(query.window, Calendar):
        raise QueryError(
            f"no dialect has a window function for calendar windows ({query.window!r}): in Spark "
            f"SQL, group by date_trunc"
        )
    frame = dialect.frame(
        query.window,
        _path(dialect, table or (source.table if source else TABLE)),
        _time(dialect, time or (source and source.time) or TIME),
    )
    keys = {key.name: read_expression(key.native) for key in query.keys}
    outputs = {
        # Aggregates that Spark lacks are spelled out in plain Spark SQL.
        output.name: read_expression(output.native if dialect.name == "spark" else sql)
        for output, sql in zip(query.outputs, query.aggs.values(), strict=True)
    }
    used = {*query.columns, *(name.casefold() for name in (*keys, *outputs))}
    for column in frame.columns:
        if column in used:
            raise QueryError(f"{column} is a column of the window there: rename the query's own")
    listed = [words.write(key) for key in keys.values()]
    by = f" OVER (PARTITION BY {', '.join(listed)})" if frame.partitioned and listed else ""
    grouped = [*(f"{item}{by}" for item in frame.group), *listed]
    items = [*frame.shown]
    items += [_item(dialect, node, name) for name, node in keys.items()]
    items += [f"{words.write(node)} AS {words.name(name)}" for name, node in outputs.items()]
    lines = [f"SELECT {', '.join(items)}", f"FROM {frame.source}"]
    if query.where is not None:
        lines.append(f"WHERE {words.write(read_expression(query.where))}")
    if grouped:
        lines.append(f"GROUP BY {', '.join(grouped)}")
    if query.having is not None:
        window = "session_window" if isinstance(query.window, Session) else "window"
        having = _having(dialect, read_expression(query.having), {**keys, **outputs}, window)
        lines.append(f"HAVING {write(having)}")
    return "\n".join(lines)


def _check_session(window: Session, dialect: Dialect) -> None:
    """Refuse sessions that a dialect does not have."""
    if dialect.name == "asa":
        return
    if dialect.name not in ("spark", "flink"):
        raise QueryError(f"{dialect.title} has no sessions that mean the same as Spark's")
    if window.maximum is not None:
        raise QueryError(
            f"{dialect.title} has no sessions with a maximum, and {window!r} has one: leave it "
            f"out, or write the query for Azure Stream Analytics"
        )


def _item(dialect: Dialect, key: Node, name: str) -> str:
    text = dialect.words.write(key)
    if isinstance(key, Name) and unquoted(key.parts[-1]) == name:
        return text
    return f"{text} AS {dialect.words.name(name)}"


def _path(dialect: Dialect, table: str) -> str:
    node = read_expression(table)
    if not isinstance(node, Name):
        raise QueryError(f"table={table!r} is not the name of a table")
    return dialect.words.write(node)


def _time(dialect: Dialect, time: str) -> str:
    node = read_expression(time)
    if dialect.name != "spark" and not isinstance(node, Name):
        raise QueryError(f"its time must be a column, not {time}: compute it in the stream first")
    return dialect.words.write(node)


def _having(dialect: Dialect, node: Node, columns: Mapping[str, Node], window: str) -> Node:
    """HAVING in a dialect, with columns replaced by their expressions where it requires that."""
    meanings = {name.casefold(): meaning for name, meaning in columns.items()}

    def inlined(part: Node) -> Node:
        if isinstance(part, Name) and unquoted(part.parts[0]).casefold() == "window":
            return part
        if isinstance(part, Name) and len(part.parts) == 1 and not dialect.names_outputs:
            meaning = meanings.get(unquoted(part.parts[0]).casefold())
            return part if meaning is None else meaning
        return rebuild(part, inlined)

    def bounded(part: Node) -> Node:
        # Azure's names are in brackets by now.
        if not (isinstance(part, Name) and unquoted(part.parts[0]).strip("[]").lower() == "window"):
            return rebuild(part, bounded)
        if dialect.name == "spark":
            return Name((window, *part.parts[1:]), at=part.at)
        bound = [unquoted(field).strip("[]").lower() for field in part.parts[1:]]
        if dialect.words.window is None or bound not in (["start"], ["end"]):
            raise QueryError(f"{dialect.title} cannot ask for {write(part)} in HAVING")
        return Name((dialect.words.window[bound == ["end"]],), at=part.at)

    return bounded(dialect.words.from_spark(inlined(node)))
