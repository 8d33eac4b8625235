"""Where a dialect's expressions differ from Spark's, and how they are translated both ways.

A `Query` holds Spark SQL. What a dialect spells differently is translated. What it spells the same
but means differently is refused, and so is what it cannot express.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NoReturn

from weft.errors import ExpressionError
from weft.query.calls import is_aggregate
from weft.query.expression import function_name
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.tokens.blocks import blocks
from weft.query.sql.tokens.over import aliased, split
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.masking import join_types
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Case, Cast, Literal, Name, Node, Op, Star, rebuild, walk
from weft.query.syntax.writer import write

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE_TYPES = frozenset(("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"))
_COUNTS = frozenset(
    (
        *("count", "count_if", "count_distinct", "approx_count_distinct", "length", "char_length"),
        *("len", "position", "locate", "instr", "cardinality", "size", "timestampdiff", "datediff"),
        *("year", "quarter", "month", "week", "dayofyear", "dayofmonth", "dayofweek", "day"),
        *("hour", "minute", "second", "unix_timestamp", "unix_seconds", "unix_millis"),
    )
)
"""Functions that return an integer."""
_KEEP_WHOLE = frozenset(("sum", "min", "max", "abs", "coalesce", "ifnull", "nullif", "mod"))
"""Functions that return an integer if their arguments are integers."""
_WORDS = frozenset(
    (
        *("and", "or", "not", "in", "is", "null", "true", "false", "between", "case", "when"),
        *("then", "else", "end", "like", "ilike", "rlike", "regexp", "escape", "div", "as"),
        *("distinct", "from", "where", "select", "group", "by", "having", "filter", "over"),
        *("interval", "date", "timestamp", "timestamp_ntz", "timestamp_ltz", "time"),
        *("cast", "try_cast", "extract", "any", "some", "all", "exists", "ignore", "respect"),
        *("nulls", "on", "join", "union", "order", "limit", "with", "within", "window", "table"),
        *("current_date", "current_timestamp", "current_time", "localtimestamp", "grouping"),
        *("inner", "left", "right", "full", "cross", "natural", "semi", "anti", "lateral"),
        *("sort", "cluster", "distribute", "intersect", "except", "minus", "pivot", "unpivot"),
        *("tablesample", "qualify", "values", "using", "into", "top", "range", "slide"),
    )
)


@dataclass(frozen=True)
class Vocabulary:
    """A dialect's vocabulary. If `operators` is None, all its expressions are Spark's own."""

    title: str
    operators: frozenset[str] | None = None
    functions: Mapping[str, str] = field(default_factory=dict)
    """The functions that it shares with Spark: its name by Spark's, in lower case."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Its name for each Spark type, in CAST."""
    literals: Mapping[str, str] = field(default_factory=dict)
    """Its keyword for each of Spark's typed literals, such as `TIMESTAMP_NTZ '...'`."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Other names of its types, with Spark's name for each."""
    more_types: Mapping[str, str] = field(default_factory=dict)
    """Other types, for whole statements only, with Spark's name for each."""
    false_friends: Mapping[str, str] = field(default_factory=dict)
    """Functions that mean something else in Spark, with what to do instead."""
    reserved: frozenset[str] = frozenset()
    quotes: tuple[str, str] = ("`", "`")
    filters: bool = True
    """Whether aggregates take FILTER."""
    standard_strings: bool = False
    """Whether strings and names are quoted as in standard SQL, though `operators` is None."""
    first_is_one: bool = False
    """Whether the first element of an array is `[1]`; in Spark it is `[0]`."""
    whole_averages: bool = False
    """Whether AVG of integers is an integer, where Spark's is a fraction."""
    window: tuple[str, str] | None = ("window.start", "window.end")
    """The names of the window's start and end in HAVING; None if there are none."""

    # Reading.

    def refuse_tokens(self, sql: str, tokens: tuple[Token, ...]) -> None:
        """Refuse constants that mean something else in Spark."""
        if self.operators is None and not self.standard_strings:
            return
        for token in tokens:
            reason = None
            if token.kind == "string" and token.text[0] != "'":
                reason = "write 'text' for a string, and a name without double quotes"
            elif token.kind == "string" and "\\" in token.text:
                reason = "a backslash means itself here and more in Spark: match it otherwise"
            elif token.kind == "number" and token.text[-1].isalpha():
                reason = f"{self.title} knows no letter after a number: write CAST(... AS type)"
            if reason is not None:
                raise ExpressionError(place(sql, token.start, reason))

    def to_spark(self, sql: str, node: Node) -> Node:
        """Translate a tree of this dialect into Spark SQL."""
        if self.operators is None:
            return node

        def fail(part: Node, message: str) -> NoReturn:
            raise ExpressionError(place(sql, part.at, message))

        theirs = {name: spark for spark, name in self.functions.items()}
        types = self._spark_types
        literals = {name: spark for spark, name in self.literals.items()}

        def change(part: Node) -> Node:
            part = rebuild(part, change)
            if isinstance(part, Name):
                return Name(tuple(map(_needless, part.parts)), at=part.at)
            if isinstance(part, Call):
                name = function_name(part)
                if name in self.false_friends:
                    fail(part, f"{name} is not what Spark means by it: {self.false_friends[name]}")
                if self._averages_whole(part):
                    fail(part, self._whole_average)
                return replace(part, name=theirs[name]) if name in theirs else part
            if isinstance(part, Cast) and part.function != "EXTRACT":
                if part.to not in types and not part.to.startswith("DECIMAL("):
                    accepted = ", ".join(self.types.values())
                    fail(part, f"CAST to {part.to}: accepted types are {accepted}")
                return replace(part, to=types.get(part.to, part.to))
            if isinstance(part, Literal) and part.kind == "typed":
                word = part.text.split(" ")[0]
                if word != "INTERVAL" and word not in literals:
                    fail(part, f"{word} '...' is not a constant of {self.title}")
                if word in literals:
                    return replace(part, text=literals[word] + part.text[len(word) :])
            reason = self._refused(part)
            if reason is not None:
                fail(part, reason)
            if self.first_is_one and isinstance(part, Op) and part.op == "[]":
                return part if _is_string(part.args[1]) else _element(part)
            return part

        return change(node)

    @property
    def _spark_types(self) -> dict[str, str]:
        """Spark's type for each name of a type in this dialect."""
        return {**{name: spark for spark, name in self.types.items()}, **self.synonyms}

    def statement_in_spark(self, sql: str) -> str:
        """Translate the functions and types of a whole statement into Spark's.

        Operators are checked only in expressions that can be parsed on their own.
        """
        tokens = join_types(sql, tokenize(sql))
        self.refuse_tokens(sql, tuple(tokens))
        self._check_expressions(sql)
        theirs = {name: spark for spark, name in self.functions.items()}
        types = {**self._spark_types, **self.more_types}
        for index in reversed(range(len(tokens))):
            token = tokens[index]
            after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            before = tokens[index - 1] if index else None
            name, text = token.text.lower(), None
            if token.kind == "name" and after == "(" and (before is None or before.text != "."):
                if name in self.false_friends:
                    reason = f"{name} is not what Spark means by it: {self.false_friends[name]}"
                    raise ExpressionError(place(sql, token.start, reason))
                text = theirs.get(name)
            elif token.kind == "literal" and before is not None and before.word == "AS":
                text = types.get(token.text.upper())
            if text is not None and text != name:
                sql = f"{sql[: token.start]}{text}{sql[token.end :]}"
        return sql

    def refuse_operators(self, sql: str) -> None:
        """Refuse the operators of a whole statement that would not mean the same in Spark."""
        for text, node in self._expressions(sql):
            for part in walk(node):
                reason = self._refused(part)
                if reason is not None:
                    raise ExpressionError(place(text, part.at, reason))

    def _check_expressions(self, sql: str) -> None:
        for text, node in self._expressions(sql):
            self.to_spark(text, node)

    def _expressions(self, sql: str) -> Iterator[tuple[str, Node]]:
        """The expressions of a statement that can be parsed on their own."""
        tokens = tokenize(sql)
        for block in blocks(tokens):
            for begin, end in block.clauses.values():
                for item in split(tokens[begin + 1 : end]):
                    expression = aliased(item)[0] if item else ()
                    text = sql[expression[0].start : expression[-1].end] if expression else ""
                    with suppress(ExpressionError):
                        yield text, read_expression(text)

    def _averages_whole(self, call: Call) -> bool:
        averages = self.whole_averages and function_name(call) == "avg"
        return averages and all(map(_is_whole, call.args))

    @property
    def _whole_average(self) -> str:
        return (
            f"{self.title} averages integers to an integer, Spark to a fraction: write "
            f"AVG(CAST(... AS {self.types.get('DOUBLE', 'DOUBLE')}))"
        )

    def _refused(self, node: Node) -> str | None:
        """Why an operator would not mean the same in Spark; None if it would."""
        if not isinstance(node, Op):
            return None
        if node.op == "/" and all(map(_is_whole, node.args)):
            return (
                f"{self.title} divides integers without a remainder, Spark with one: write "
                f"CAST(... AS {self.types.get('DOUBLE', 'DOUBLE')}) / ..."
            )
        strings = any(isinstance(arg, Literal) and arg.kind == "string" for arg in node.args)
        if node.op == "+" and strings:
            return "+ adds numbers only: join strings in the stream first"
        if node.op in ("LIKE", "NOT LIKE") and self.quotes[0] == "[" and "[" in write(node.args[1]):
            return "a pattern with [...] is not one of Spark's: use several LIKE"
        return None

    # Writing.

    def name(self, text: str) -> str:
        """A name, quoted if necessary."""
        if _PLAIN.fullmatch(text) and text.lower() not in _WORDS | self.reserved:
            return text
        opening, closing = self.quotes
        if closing == "]" and ("]" in text or "'" in text or '"' in text or "`" in text):
            raise ExpressionError(f"{self.title} cannot quote the name {text!r}")
        return f"{opening}{text.replace('`', '``') if closing == '`' else text}{closing}"

    def write(self, node: Node) -> str:
        """Write a Spark tree as text in this dialect."""
        return write(self.from_spark(node))

    def from_spark(self, node: Node) -> Node:
        """Translate a Spark tree into this dialect; an error says what the dialect lacks."""
        if self.operators is None:
            return node
        node = rebuild(node, self.from_spark)
        if isinstance(node, Name):
            return Name(tuple(self.name(unquoted(part)) for part in node.parts), at=node.at)
        if isinstance(node, Literal):
            return self._literal(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Cast):
            if node.function != "CAST" or node.to not in self.types:
                if node.function == "CAST" and node.to.startswith("DECIMAL("):
                    return node
                raise self._lacks(f"{node.function}(... AS {node.to})")
            return replace(node, to=self.types[node.to])
        if isinstance(node, Op):
            if node.op not in self.operators:
                raise self._lacks(node.op)
            reason = self._refused(node)
            if reason is not None:
                raise ExpressionError(f"{write(node)}: {reason}")
        elif not isinstance(node, (Case, Star)):
            raise self._lacks(type(node).__name__.lower())
        return node

    def _literal(self, node: Literal) -> Literal:
        text = node.text
        if node.kind == "number" and text[-1].isalpha():
            raise self._lacks(f"number such as {text}")
        if node.kind == "string":
            quote = text[0]
            if quote not in "'\"" or "\\" in text:
                raise self._lacks(f"string such as {text}")
            if quote == '"':
                inner = text[1:-1].replace('""', '"').replace("'", "''")
                return replace(node, text=f"'{inner}'")
        if node.kind == "typed":
            word = text.split(" ")[0]
            if word not in self.literals:
                raise self._lacks(f"constant such as {text}")
            return replace(node, text=self.literals[word] + text[len(word) :])
        if node.kind == "boolean" and "TRUE" not in (self.operators or ()):
            raise self._lacks(f"constant such as {text}")
        return node

    def _call(self, node: Call) -> Call:
        name = function_name(node)
        if name not in self.functions:
            raise self._lacks(f"{name}(), or weft does not know it to mean the same there")
        if self._averages_whole(node):
            raise ExpressionError(f"{write(node)}: {self._whole_average}")
        if node.nulls is not None:
            raise self._lacks(f"{node.nulls} NULLS")
        if node.order:
            raise self._lacks("WITHIN GROUP (ORDER BY ...)")
        if node.where is not None and not self.filters:
            raise self._lacks("FILTER (WHERE ...)")
        if node.distinct and not is_aggregate(node):
            raise self._lacks("DISTINCT here")
        return replace(node, name=self.functions[name])

    def _lacks(self, what: str) -> ExpressionError:
        return ExpressionError(f"{self.title} has no {what}")


def _is_whole(node: Node) -> bool:
    """Whether a value is certainly an integer, whatever the types of the columns."""
    if isinstance(node, Literal):
        return node.kind == "number" and node.text.isdigit()
    if isinstance(node, Call):
        name = function_name(node)
        return name in _COUNTS or (name in _KEEP_WHOLE and all(map(_is_whole, node.args)))
    if isinstance(node, Case):
        values = [value for _, value in node.whens]
        values += [] if node.otherwise is None else [node.otherwise]
        return all(_is_whole(value) or _is_null(value) for value in values)
    if isinstance(node, Cast):
        return node.function == "EXTRACT" or node.to.upper() in _WHOLE_TYPES
    if isinstance(node, Op) and node.op in ("+", "-", "*", "%", "NEG", "PAREN", "/", "DIV"):
        return all(map(_is_whole, node.args))
    return False


def _is_string(node: Node) -> bool:
    return isinstance(node, Literal) and node.kind == "string"


def _element(node: Op) -> Node:
    """An array element counted from 1, or the value of a map key; null if there is none."""
    return Call("try_element_at", node.args, at=node.at)


def _is_null(node: Node) -> bool:
    return isinstance(node, Literal) and node.kind == "null"


_TYPES = ("`date`", "`time`", "`timestamp`")


def _needless(text: str) -> str:
    """A name without the quotes that other dialects require and Spark does not."""
    return text[1:-1] if text.lower() in _TYPES else text
