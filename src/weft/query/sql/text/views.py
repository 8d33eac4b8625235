"""Views that a text defines: a statement that reads one gets its query in its own WITH.

    CREATE VIEW five AS SELECT window, count(*) AS n FROM t GROUP BY window(ts, '5 minutes');
    SELECT window(window, '1 hour') AS w, max(n) AS m FROM five GROUP BY window(window, '1 hour')

The second is read as `WITH five AS (SELECT ...) SELECT ...`, so that it is self-contained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.query.names import quoted_name
from weft.query.sql.select.nodes import unquoted
from weft.query.syntax.lexer import Token

_READABLE = frozenset(("VIEW", "TABLE", "STREAM"))
_FUNCTIONS = frozenset(("TUMBLE", "HOP", "CUMULATE", "SESSION"))
"""Table functions in other dialects."""
_CLAUSES = frozenset(
    (
        *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "SORT"),
        *("LIMIT", "CLUSTER", "DISTRIBUTE", "UNION", "INTERSECT", "EXCEPT", "MINUS"),
    )
)
MOST = 20
"""The most views that one statement may read: it gets the text of each of them."""


@dataclass(frozen=True, eq=False)
class View:
    """A view that a statement defines for the statements after it."""

    name: str
    sql: str
    """Its query."""
    reads: tuple[View, ...]
    """The views that it reads in turn."""
    place: int
    """Where in the text it is defined; a view reads only views that are defined before it."""


Views = Mapping[str, View]
"""Views by their names in lower case."""


def defined_view(
    text: str, tokens: Sequence[Token], inner: Sequence[Token], name: str | None, known: Views
) -> View | None:
    """The view that a statement defines, or None; `inner` is the query of the statement."""
    head = [token.word for token in tokens if token.start < inner[0].start]
    if name is None or head[:1] != ["CREATE"] or not _READABLE.intersection(head):
        return None
    if "(" in head:
        return None  # it renames the columns of its query, or has options
    begin, end = inner[0].start, inner[-1].end
    return View(name, text[begin:end], read_views(inner, known), begin)


def read_views(tokens: Sequence[Token], known: Views) -> tuple[View, ...]:
    """The views that a query reads, directly or indirectly, in order of definition."""
    if not known:
        return ()
    own = _defined(tokens)
    named = {unquoted(tokens[at].text).lower() for at in _tables(tokens)}
    direct = [view for name, view in known.items() if name in named - own]
    found = {view: None for one in direct for view in (*one.reads, one)}
    return tuple(sorted(found, key=lambda view: view.place))


def problem(views: Sequence[View]) -> str:
    """Why a statement cannot read these views; empty if it can."""
    if len(views) > MOST:
        return f"it reads {len(views)} views of the text, and {MOST} are the most"
    names = [view.name.lower() for view in views]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return f"it reads two views that are called {twice!r}, one after the other: rename one"
    return ""


def _tables(tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes at which a query names a table without a schema."""
    clauses = [""]
    for at, token in enumerate(tokens):
        before = tokens[at - 1].word if at else ""
        if token.text == "(":
            clauses.append("")
        elif token.text == ")":
            clauses = clauses[:-1] or [""]
        elif token.word in _CLAUSES:
            # FROM begins no clause in `extract(HOUR FROM x)` and `IS DISTINCT FROM`.
            if token.word != "FROM" or at == 0 or (clauses[-1] and before != "DISTINCT"):
                clauses[-1] = token.word
        elif token.kind in ("name", "quoted") and (
            (before in ("FROM", "JOIN", ",") and clauses[-1] == "FROM")
            or before == "TABLE"
            or (before == "(" and at > 1 and tokens[at - 2].word in _FUNCTIONS)
        ):
            after = tokens[at + 1].text if at + 1 < len(tokens) else ""
            if after not in (".", "("):
                yield at


def with_views(text: str, tokens: Sequence[Token], views: Sequence[View]) -> str:
    """A query with the views that it reads defined in its WITH."""
    defined = ", ".join(f"{quoted_name(view.name)} AS ({view.sql})" for view in views)
    rest = text[tokens[0].start : tokens[-1].end]
    if tokens[0].word != "WITH":
        return f"WITH {defined} {rest}"
    first = tokens[1 + (tokens[1].word == "RECURSIVE")].start
    return f"{text[tokens[0].start : first]}{defined}, {text[first : tokens[-1].end]}"


def _defined(tokens: Sequence[Token]) -> set[str]:
    """The names that the query's own WITH defines, and not its WINDOW: `WINDOW w AS (...)`."""
    return {
        unquoted(tokens[at].text).lower()
        for at in range(len(tokens) - 2)
        if tokens[at + 1].word == "AS"
        and tokens[at + 2].text == "("
        and not _is_window_name(tokens, at)
    }


def _is_window_name(tokens: Sequence[Token], at: int) -> bool:
    """Whether a name is one of `WINDOW a AS (...), b AS (...)`."""
    while at > 0 and tokens[at - 1].text == ",":
        at = next((i for i in reversed(range(at - 1)) if tokens[i].word == "AS"), 0) - 1
    return at > 0 and tokens[at - 1].word == "WINDOW"
