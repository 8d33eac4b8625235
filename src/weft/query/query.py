"""A query: aggregates over windows of a stream, with Spark's semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from weft.algebra.aggregate import Aggregate
from weft.algebra.part import Part
from weft.errors import AggregateError, ExpressionError, QueryError, WindowError
from weft.query.calls import is_aggregate
from weft.query.duration import Duration, format_duration
from weft.query.expression import columns, normalise
from weft.query.finish import Finish
from weft.query.keys import Key, read_key
from weft.query.names import check_column_names, check_owner, check_query_name
from weft.query.output import Output, read_output, read_over_aggregates
from weft.query.query_limits import QueryLimits
from weft.query.quoting import LONG, quoted
from weft.query.source import Source
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Node, Op, rebuild
from weft.query.window import Window, parse_lateness

Value = TypeVar("Value")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Query:
    """An aggregate continuous query: `df.where(P).groupBy(window(time, ...), *keys).agg(...)`.

    `name`, `aggs`, `window`, `where` and `by` are as given. `aggs` maps the names of the outputs
    to Spark SQL over aggregates; `by` has columns, or `expression AS name`; `having` is a condition
    on the answers. The constructor checks its arguments, so that every `Query` can be planned.
    Queries are equal if they mean the same, however they are spelled.

    A query made in Python is trusted: it may call your own functions, and the limits on the size
    of values do not apply. Pass `trusted=False` for text from other people; SQL, files, requests
    and the dashboard make untrusted queries (see docs/threat-model.md).

    `limits` say how much of a stream's resources the query may use (`QueryLimits`, or a mapping
    such as `{"groups": 10_000, "over": "pause"}`); a batch ignores them. `owner` is whom its share
    of the stream's costs is charged to: a team, a customer, a person. `lateness` ("10 minutes") is
    how long its windows stay open for late rows after the stream's watermark has passed their end,
    and so how much later they are answered: as if the query ran alone with a watermark delay that
    is longer by this.

    >>> q = Query("big", aggs={"n": "count(*)", "value": "sum(price * volume)"},
    ...           window=Window(range="12 minutes", slide="5 minutes"),
    ...           where="50000 < volume", by="symbol")
    >>> q.where, q.predicate, q.by
    ('50000 < volume', 'volume > 50000', ('symbol',))
    >>> [str(part) for part in q.parts]
    ['count(*)', 'sum(price * volume)']
    """

    name: str
    window: Window
    where: str | None
    by: tuple[str, ...]
    having: str | None
    source: Source | None
    """The table and time column named in SQL, for the caller to check; ignored in comparisons."""
    trusted: bool
    """Whether the query comes from the program's own code; ignored in comparisons."""
    limits: QueryLimits | None
    """Limits on its use of a stream; ignored in comparisons."""
    shown: tuple[tuple[str, str], ...] | None
    """The columns that its SQL selects, as SQL over the answers, with their names; None: all
    columns. Ignored in comparisons."""
    finish: Finish | None
    """The statement's SQL over the answers; None: the answers are the result."""
    owner: str | None
    """Whom its costs are charged to; ignored in comparisons."""
    lateness: int
    """How long its windows stay open on a stream after the watermark has passed their end:
    microseconds, or units of an integer axis."""
    _aggs: tuple[tuple[str, str], ...]

    def __init__(
        self,
        name: str,
        *,
        aggs: Mapping[str, str],
        window: Window,
        where: str | None = None,
        by: str | Iterable[str] = (),
        having: str | None = None,
        source: Source | None = None,
        trusted: bool = True,
        limits: QueryLimits | Mapping[str, Any] | None = None,
        shown: Iterable[tuple[str, str]] | None = None,
        finish: Finish | Mapping[str, Any] | None = None,
        owner: str | None = None,
        lateness: Duration | None = None,
    ) -> None:
        check_query_name(name)
        object.__setattr__(self, "name", name)
        if not isinstance(aggs, Mapping) or not aggs:
            raise self._fail(
                f"aggs={quoted(aggs)}: at least one output is needed, for instance "
                f'aggs={{"n": "count(*)"}}'
            )
        if not isinstance(window, Window):
            raise self._fail(
                f"window={quoted(window)} is not a Window: write window=Window(range=, slide=)",
                WindowError,
            )
        listed = (by,) if isinstance(by, str) else tuple(by)
        given = (
            *((f"aggs[{output!r}]", sql) for output, sql in aggs.items()),
            *((f"by[{position}]", sql) for position, sql in enumerate(listed)),
            *((field, sql) for field, sql in (("where", where), ("having", having)) if sql),
        )
        for field, sql in given:
            if not isinstance(sql, str):
                raise self._fail(
                    f"{field}={quoted(sql)} is not a string of Spark SQL", ExpressionError
                )
        object.__setattr__(self, "window", window)
        object.__setattr__(self, "where", where)
        object.__setattr__(self, "by", listed)
        object.__setattr__(self, "having", having)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "trusted", trusted)
        object.__setattr__(self, "limits", self._of(QueryLimits.of, limits))
        object.__setattr__(self, "finish", self._of(Finish.of, finish))
        object.__setattr__(self, "owner", self._of(check_owner, owner))
        late = self._of(partial(parse_lateness, window=window), lateness)
        object.__setattr__(self, "lateness", late)
        object.__setattr__(self, "shown", self._read_shown(shown))
        object.__setattr__(self, "_aggs", tuple(aggs.items()))
        self._check()

    @property
    def aggs(self) -> dict[str, str]:
        """The outputs as given: name to SQL, in order."""
        return dict(self._aggs)

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs as expressions over aggregate calls."""
        return tuple(
            self._read(f"aggs[{output!r}]={quoted(sql, LONG)}", read_output, output, sql)
            for output, sql in self._aggs
        )

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The grouping keys: normalised expressions and the names of their columns."""
        return tuple(
            self._read(f"by[{position}]={quoted(sql, LONG)}", read_key, sql)
            for position, sql in enumerate(self.by)
        )

    @cached_property
    def predicate(self) -> str | None:
        """The normalised `where`; None if every row counts."""
        if self.where is None:
            return None
        return self._read(f"where={quoted(self.where, LONG)}", normalise, self.where)

    @cached_property
    def having_filter(self) -> Output | None:
        """The condition on the answers, over aggregate calls, keys and `window`."""
        if self.having is None:
            return None
        return self._read(f"having={quoted(self.having, LONG)}", self._read_having, self.having)

    @cached_property
    def calls(self) -> tuple[Aggregate, ...]:
        """Every aggregate call of the outputs and of `having`, each once."""
        over = (*self.outputs, *([] if self.having_filter is None else [self.having_filter]))
        return tuple(dict.fromkeys(call for output in over for call in output.calls))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts that slices must store, each once."""
        return tuple(dict.fromkeys(part for call in self.calls for part in call.parts))

    @cached_property
    def columns(self) -> frozenset[str]:
        """Every column of the stream that the query reads, in lower case."""
        texts = [key.expression for key in self.keys]
        texts += [self.predicate] if self.predicate else []
        for part in self.parts:
            texts += [*part.args, *([part.where] if part.where else [])]
        return frozenset(column for text in texts for column in columns(text))

    def as_trusted(self) -> Query:
        """The same query, trusted: for SQL that your own program generated."""
        return Query.from_dict(self.to_dict(), trusted=True)

    def limited(self, limits: QueryLimits | None) -> Query:
        """The same query with other limits."""
        return Query.from_dict({**self.to_dict(), "limits": limits})

    def owned(self, owner: str | None) -> Query:
        """The same query with another owner."""
        return self if owner == self.owner else Query.from_dict({**self.to_dict(), "owner": owner})

    def late_by(self, lateness: Duration | None) -> Query:
        """The same query with another lateness."""
        return Query.from_dict({**self.to_dict(), "lateness": lateness})

    @property
    def lateness_given(self) -> str | int | None:
        """The lateness in a form that the constructor accepts; None if there is none."""
        if not self.lateness:
            return None
        return format_duration(self.lateness) if self.window.axis == "time" else self.lateness

    def over(self, window: Window) -> Query:
        """The same query over other windows."""
        return Query.from_dict({**self.to_dict(), "window": window.to_dict()})

    def on(self, source: Source) -> Query:
        """The same query on another source, and with all columns of its answers."""
        return Query.from_dict({**self.to_dict(), "source": source.to_dict(), "shown": None})

    def finished(self, finish: Finish, name: str | None = None) -> Query:
        """The same query, with SQL over its answers."""
        named = self.name if name is None else name
        told = {**self.to_dict(), "name": named, "shown": None, "finish": finish.to_dict()}
        return Query.from_dict(told)

    def _of(self, read: Callable[[Any], Value], given: Any) -> Value:
        try:
            return read(given)
        except QueryError as error:
            raise self._fail(str(error), type(error)) from None

    def _read_shown(
        self, given: Iterable[tuple[str, str]] | None
    ) -> tuple[tuple[str, str], ...] | None:
        if given is None:
            return None
        shown = tuple(tuple(pair) for pair in given)
        for pair in shown:
            if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
                raise self._fail(f"shown={quoted(pair)} is not a pair of SQL and a name")
            self._read(f"shown={quoted(pair[0], LONG)}", read_expression, pair[0])
        return shown  # type: ignore[return-value]

    def _check(self) -> None:
        _ = self.predicate
        names = [key.name for key in self.keys]
        try:
            check_column_names([output for output, _ in self._aggs], names)
        except QueryError as error:
            raise self._fail(str(error), type(error)) from None
        _ = self.outputs, self.having_filter

    def _read_having(self, sql: str) -> Output:
        """Parse HAVING; names of outputs are replaced by the outputs' expressions."""
        outputs = {output.casefold(): text for output, text in self._aggs}

        def inline(node: Node) -> Node:
            if is_aggregate(node):
                return node  # names inside an aggregate are columns
            if isinstance(node, Name) and len(node.parts) == 1:
                text = outputs.get(node.parts[0].strip("`").casefold())
                if text is not None:
                    return Op("PAREN", (read_expression(text),), at=node.at)
            return rebuild(node, inline)

        allowed = frozenset(("window", *(key.name.casefold() for key in self.keys)))
        expression, calls, native = read_over_aggregates(sql, inline(read_expression(sql)), allowed)
        return Output("having", expression, calls, native)

    def _read(self, field: str, read: Callable[..., Value], *args: str) -> Value:
        try:
            return read(*args)
        except (AggregateError, ExpressionError) as error:
            raise self._fail(f"{field}: {error}", type(error)) from None

    def _fail(self, message: str, kind: type[QueryError] = QueryError) -> QueryError:
        return kind(f"query {self.name!r}: {message}")

    @cached_property
    def _meaning(self) -> tuple[object, ...]:
        named = tuple((key.name.casefold(), key.expression) for key in self.keys)
        asked = (self.name, self.outputs, self.window, self.predicate, named, self.having_filter)
        return (*asked, self.finish, self.lateness)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Query):
            return NotImplemented
        return self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    def __repr__(self) -> str:
        terms = [repr(self.name), f"aggs={self.aggs!r}", f"window={self.window!r}"]
        terms += [f"where={self.where!r}"] if self.where is not None else []
        terms += [f"by={list(self.by)!r}"] if self.by else []
        terms += [f"having={self.having!r}"] if self.having is not None else []
        terms += [f"finish={self.finish.sql!r}"] if self.finish is not None else []
        terms += [f"lateness={self.lateness_given!r}"] if self.lateness else []
        return f"Query({', '.join(terms)})"

    def _repr_html_(self) -> str:
        from weft.query.html import table

        rows = [{"output": name, "is": sql} for name, sql in self._aggs]
        terms = {"where": self.where, "by": ", ".join(self.by), "having": self.having}
        terms["lateness"] = str(self.lateness_given or "")
        asked = "; ".join(f"{name} {text}" for name, text in terms.items() if text)
        return table(f"query {self.name!r}: {self.window!r}", rows, note=asked)

    def to_dict(self) -> dict[str, Any]:
        """The query as JSON values, as it was given; `from_dict` reads it back."""
        return {
            "name": self.name,
            "aggs": self.aggs,
            "window": self.window.to_dict(),
            "where": self.where,
            "by": list(self.by),
            "having": self.having,
            "source": self.source and self.source.to_dict(),
            "trusted": self.trusted,
            "limits": self.limits and self.limits.to_dict(),
            "shown": self.shown and [list(pair) for pair in self.shown],
            "finish": self.finish and self.finish.to_dict(),
            "owner": self.owner,
            "lateness": self.lateness_given,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, trusted: bool | None = None) -> Query:
        """Read what `to_dict` wrote.

        For data from other people pass `trusted=False`, which overrides what the data says.
        """
        source = data.get("source")
        return cls(
            data["name"],
            aggs=data["aggs"],
            window=Window.from_dict(data["window"]),
            where=data.get("where"),
            by=data.get("by", ()),
            having=data.get("having"),
            source=Source.from_dict(source) if source else None,
            trusted=data.get("trusted") is True if trusted is None else trusted,
            limits=data.get("limits"),
            shown=data.get("shown"),
            finish=data.get("finish"),
            owner=data.get("owner"),
            lateness=data.get("lateness"),
        )
