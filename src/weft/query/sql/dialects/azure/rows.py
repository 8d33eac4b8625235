"""Azure's answers per row, as Spark SQL: SlidingWindow, LAG, LAST and ISFIRST.

LAG, LAST and ISFIRST read the rows of FROM, before WHERE applies, so they become columns of FROM:

    SELECT x, LAG(x) OVER (LIMIT DURATION(hour, 1)) AS before FROM t TIMESTAMP BY ts WHERE x > 5
    SELECT x, weft_row_0 AS before FROM (SELECT *, lag(x) ... AS weft_row_0 FROM t) t WHERE x > 5

A sliding window has an answer at each moment at which a row enters or leaves it, as long as it
contains rows. So each row is joined with those moments of its group; for a row at 34:

    window of 5    (29, 34] at 34, when it enters      (34, 39] at 39, when it has left: no row
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.errors import QueryError
from weft.query.duration import MICROSECONDS
from weft.query.names import quoted_name
from weft.query.sql.dialects.azure.windows import length_of
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.select.select import Select
from weft.query.sql.tokens.blocks import Block
from weft.query.sql.tokens.over import level, split
from weft.query.syntax.lexer import Token, closed, place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name

SLIDING = ("slidingwindow", "sliding")
AT = "weft_at"
"""The column with the moment of a sliding window's answer."""
_MOMENT = "weft_moment"
_FUNCTIONS = ("LAG", "LAST", "ISFIRST")
_CLAUSES = ("PARTITION", "LIMIT", "WHEN")
_DAY = MICROSECONDS["day"]


@dataclass
class Derived:
    """Subqueries that will be put into FROM, by their placeholders (in upper case)."""

    texts: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> str:
        """Add a subquery, and return its placeholder."""
        name = f"weft_derived_{len(self.texts)}"
        self.texts[name.upper()] = text
        return name


@dataclass(frozen=True)
class OneTable:
    """A FROM of one table or step, and its name in the other clauses."""

    text: str
    alias: str

    @classmethod
    def read(cls, source: str, tokens: Sequence[Token], sql: str, what: str) -> OneTable:
        """Read a FROM, without its TIMESTAMP BY; refused if it is a join."""
        names = [token for token in tokens if token.word != "AS"]
        if len(names) not in (1, 2) or any(t.kind not in ("name", "quoted") for t in names):
            reason = f"{what} over a join or a subquery: make its rows a step of WITH"
            raise QueryError(place(sql, tokens[0].start if tokens else 0, reason))
        return cls(source, names[-1].text)


@dataclass(frozen=True)
class RowCall:
    """`LAG(...) OVER (...)` and the like: where it is in the text, and its parts."""

    begin: int
    end: int
    name: str
    arguments: tuple[str, ...]
    partition: tuple[str, ...]
    limit: int
    """How far it looks back, in microseconds; for ISFIRST, the length of an interval."""
    when: str

    def in_spark(self, time: str) -> str:
        """The call as a Spark window function."""
        keys = [*self.partition]
        if self.name == "ISFIRST":
            moment = f"unix_micros({time})"
            within = f"{moment} - 1 - pmod({moment} - 1, {self.limit})"
            by = ", ".join([*keys, within, *([f"({self.when})"] if self.when else [])])
            first = f"row_number() OVER (PARTITION BY {by} ORDER BY {time}) = 1"
            condition = f"({self.when}) AND {first}" if self.when else first
            return f"CAST(CASE WHEN {condition} THEN 1 ELSE 0 END AS BIGINT)"
        value, rest = self.arguments[0], self.arguments[1:]
        row = f"struct({time} AS t, {'struct(*)' if value == '*' else value} AS v)"
        row = f"CASE WHEN {self.when} THEN {row} END" if self.when else row
        over = f"PARTITION BY {', '.join(keys)} ORDER BY {time}" if keys else f"ORDER BY {time}"
        back = 0 if self.name == "LAST" else int(rest[0]) if rest else 1
        default = rest[self.name == "LAG" :]
        if back > 1:
            found = f"lag({row}, {back}) OVER ({over})"
        else:
            until = "1 PRECEDING" if back else "CURRENT ROW"
            frame = f"ROWS BETWEEN UNBOUNDED PRECEDING AND {until}"
            found = f"last({row}, true) OVER ({over} {frame})"
        earliest = f"{time} - {_interval(self.limit)}"
        otherwise = f" ELSE {default[0]}" if default else ""
        return f"CASE WHEN ({found}).t > {earliest} THEN ({found}).v{otherwise} END"


def row_calls(sql: str, tokens: Sequence[Token], block: Block) -> Iterator[RowCall]:
    """The calls of one SELECT that read other rows, in order."""
    index = block.begin
    while index < block.end - 1:
        token = tokens[index]
        named = token.kind == "name" and token.word in _FUNCTIONS
        if not named or tokens[index + 1].text != "(" or tokens[index - 1].text == ".":
            index += 1
            continue
        end = closed(tokens, index + 1)
        over = tokens[end + 1].word == "OVER" if end + 1 < block.end else False
        until = closed(tokens, end + 2) if over else end
        yield _row_call(sql, tokens, index, end, until)
        index = until + 1


def _row_call(sql: str, tokens: Sequence[Token], begin: int, end: int, until: int) -> RowCall:
    name = tokens[begin].word
    arguments = [_text(sql, one) for one in split(tokens[begin + 2 : end])]
    inside = tokens[end + 3 : until]
    marks = {inside[at].word: at for at in level(inside) if inside[at].word in _CLAUSES}
    partition = _between(inside, marks, "PARTITION")[1:]
    limit, when = _between(inside, marks, "LIMIT"), _between(inside, marks, "WHEN")
    if name == "ISFIRST":
        length = _length(sql, tokens[begin], arguments)
        if length is None or _DAY % length:
            reason = "ISFIRST takes (unit, length), and the length divides a day"
            raise QueryError(place(sql, tokens[begin].start, reason))
        arguments = []
    else:
        given = [one.word for one in limit[:2]]
        length = (
            _length(sql, limit[0], [_text(sql, one) for one in split(limit[2:-1])])
            if given == ["DURATION", "("]
            else None
        )
        if length is None or not arguments:
            reason = f"accepted is {name}(x) OVER ([PARTITION BY k] LIMIT DURATION(unit, length))"
            raise QueryError(place(sql, tokens[begin].start, reason))
    if name == "LAG" and len(arguments) > 1:
        back = arguments[1]
        if not back.isdigit() or int(back) < 1 or (when and int(back) > 1):
            reason = "LAG takes a constant of 1 or more to look back, and with WHEN no more than 1"
            raise QueryError(place(sql, tokens[begin].start, reason))
    return RowCall(
        tokens[begin].start,
        tokens[until].end,
        name,
        tuple(arguments),
        tuple(_text(sql, one) for one in split(partition)),
        length,
        _text(sql, when),
    )


def _between(inside: Sequence[Token], marks: dict[str, int], word: str) -> Sequence[Token]:
    """The tokens after a keyword, up to the next keyword."""
    if word not in marks:
        return ()
    begin = marks[word]
    end = min((at for at in marks.values() if at > begin), default=len(inside))
    return inside[begin + 1 : end]


def _length(sql: str, at: Token, arguments: Sequence[str]) -> int | None:
    """`(unit, number)` in microseconds; None if it is something else."""
    if len(arguments) != 2:
        return None
    unit, number = map(read_expression, arguments)
    text = ", ".join(arguments)
    return length_of(Select(text, "", 0, (), Name(("t",)), None, (), None), at.text, unit, number)


def sliding(sql: str, key: Sequence[Token]) -> int | None:
    """The length of a sliding window in GROUP BY; None if the key is no sliding window."""
    if len(key) < 3 or key[1].text != "(" or key[0].word.lower() not in SLIDING:
        return None
    inside = key[2 : closed(key, 1)]
    if len(inside) > 2 and inside[0].word == "DURATION" and inside[1].text == "(":
        inside = inside[2 : closed(inside, 1)]
    length = _length(sql, key[0], [_text(sql, one) for one in split(inside)])
    if length is None:
        reason = "SlidingWindow takes (unit, size) or (Duration(unit, size))"
        raise QueryError(place(sql, key[0].start, reason))
    return length


def at_every_change(
    table: OneTable, condition: str, keys: Sequence[str], time: str, length: int
) -> str:
    """The rows of a table, each once for every answer of the sliding window that includes it."""
    name, span = quoted_name(unquoted(table.alias)), _interval(length)
    numbered = [f"weft_key_{at}" for at in range(len(keys))]
    listed = "".join(f", {key} AS {name}" for key, name in zip(keys, numbered, strict=True))
    rows = f"SELECT *, {time} AS {_MOMENT}{listed} FROM {table.text} {condition}"
    moments = f"explode(array({_MOMENT}, {_MOMENT} + {span})) AS {AT}"
    points = f"SELECT DISTINCT {', '.join([*numbered, moments])} FROM ({rows})"
    inner = f"weft_p.{AT} - {span} < weft_r.{_MOMENT} AND weft_r.{_MOMENT} <= weft_p.{AT}"
    same = "".join(f" AND weft_r.{key} <=> weft_p.{key}" for key in numbered)
    return (
        f"(SELECT weft_r.*, weft_p.{AT} FROM ({rows}) weft_r JOIN ({points}) weft_p "
        f"ON {inner}{same}) AS {name}"
    )


def _interval(micros: int) -> str:
    return f"INTERVAL '{micros // 1_000_000}.{micros % 1_000_000:06d}' SECOND"


def _text(sql: str, tokens: Sequence[Token]) -> str:
    return sql[tokens[0].start : tokens[-1].end] if tokens else ""
