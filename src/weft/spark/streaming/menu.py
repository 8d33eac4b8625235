"""The menu: what a stream projects, with cached results of Spark's analysis.

Spark fixes the projection when a stream starts. A change that needs nothing else takes effect in
the next micro-batch; for any other change the stream is restarted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.engine.fragments.fragments import FragmentLimits, FragmentPlan, plan_fragments
from weft.errors import EngineError, ExpressionError, WeftError
from weft.plan.time_axis import TimeAxis
from weft.query import limits
from weft.query.query import Query
from weft.query.trust import check_untrusted
from weft.query.window import Session, Window
from weft.spark.arrow import arrow_schema, nullable_schema
from weft.spark.batch.fragments import expression_types
from weft.spark.calendars import check_calendars
from weft.spark.check import check_queries
from weft.spark.finishing import Form, finished_form
from weft.spark.streaming.projection import Projection
from weft.spark.verify.native import native

_DIVIDED = 256
"""Most sets of predicates whose fragment plans are cached: a change leaves most trees unchanged,
and is checked before it is made."""


@dataclass
class Menu:
    """The columns that tasks get, and the types of all expressions that were ever needed."""

    df: DataFrame
    axis: TimeAxis
    projection: Projection
    buckets: dict[tuple[str, ...], str] = field(default_factory=dict)
    """By columns of keys, the column with a row's bucket."""
    bucketed: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The same by expressions of keys."""
    wide: set[str] = field(default_factory=set)
    """Columns whose values are aggregated."""
    checked: set[str] = field(default_factory=set)
    """Queries that are known to run on the rows, by their text."""
    shapes: dict[tuple[object, ...], tuple[T.StructType, pa.Schema]] = field(default_factory=dict)
    """The schemas of answers, in Spark and in Arrow."""
    forms: dict[tuple[object, ...], Form] = field(default_factory=dict)
    """The forms of the results of SQL over answers."""
    divided: dict[tuple[str, ...], FragmentPlan] = field(default_factory=dict)
    """The fragment plans of the sets of predicates that were used last."""

    @classmethod
    def of(cls, df: DataFrame, axis: TimeAxis, offer: Sequence[str] = ()) -> Menu:
        """A menu with the expressions that are offered in addition to those of the queries."""
        menu = cls(df, axis, Projection(df, {}))
        if offer:
            menu._offer(offer)
        return menu

    def copy(self) -> Menu:
        """A copy for trying out a change; both share the cached results of Spark's analysis."""
        return Menu(
            self.df,
            self.axis,
            self.projection.copy(),
            dict(self.buckets),
            dict(self.bucketed),
            set(self.wide),
            self.checked,
            self.shapes,
            self.forms,
            self.divided,
        )

    def _offer(self, expressions: Sequence[str]) -> None:
        window = Window(range=1) if self.axis.axis == "integer" else Window(range="1 second")
        for at, given in enumerate(expressions):
            query = Query(f"offer {at + 1}", aggs={"n": f"count({given})"}, window=window)
            check_untrusted([query])
            try:
                self.check([query])
            except WeftError as error:
                raise ExpressionError(f"offer: {given!r}: {error}") from None
            sql = query.calls[0].args[0]
            if self.projection.may_raise(sql):
                raise ExpressionError(
                    f"offer: {sql!r} can fail on a row that no query takes, which would stop the "
                    f"stream: offer what it is made of, or a form that gives null, such as "
                    f"try_divide(a, b) or try_cast(s AS INT)"
                )
            self.wide.add(self.projection.column(sql))
            self.bucket({sql: self.projection.column(sql, normal=True)})

    def check(self, queries: Sequence[Query]) -> None:
        """Refuse queries that cannot run on the rows, by name; cache the types of the others."""
        limits.check_queries(queries)
        check_calendars(self.df, self.axis, queries)
        new = {_asks(query): query for query in queries}
        new = {text: query for text, query in new.items() if text not in self.checked}
        if new:
            types = check_queries(self.df, self.axis, list(new.values()))
            self.projection.inner.update(types)
            self.checked.update(new)

    def types_of(self, expressions: Sequence[str]) -> Mapping[str, str]:
        """The names of the Spark types of some expressions; those without a type are left out."""
        known = self.projection.inner
        asked = [sql for sql in expressions if sql not in known]
        if asked:
            known.update(expression_types(self.df, asked))
        return {sql: known[sql] for sql in expressions if sql in known}

    def fragments(self, predicates: Sequence[str]) -> FragmentPlan:
        """How the fragments of some predicates are found."""
        asked = tuple(predicates)
        if asked not in self.divided:
            while len(self.divided) >= _DIVIDED:
                self.divided.pop(next(iter(self.divided)))
            self.divided[asked] = plan_fragments(
                predicates, self.types_of, FragmentLimits.of_terms()
            )
        return self.divided[asked]

    def bucket(self, keys: Mapping[str, str]) -> str | None:
        """The column with the bucket of rows by some keys; None if one bucket holds all rows.

        The keys are given with the columns that hold them.
        """
        if not keys:
            return None
        columns = tuple(keys.values())
        name = self.buckets.setdefault(columns, f"h{len(self.buckets)}")
        self.bucketed.setdefault(tuple(keys), name)
        return name

    def hashed(self) -> list[tuple[str, list[str]]]:
        """The columns with a row's bucket, each with the hashable SQL of the columns it is from."""
        types = self.projection.types()
        return [
            (name, [_hashed(key, types[key]) for key in keys])
            for keys, name in self.buckets.items()
        ]

    def answers(self, query: Query) -> tuple[T.StructType, pa.Schema]:
        """The schema of a query's answers (that of the plain query), in Spark and in Arrow."""
        # Queries with equal keys and outputs have equal schemas: Spark analyses each shape once.
        shape: tuple[Any, ...] = (
            query.window.slide > query.window.range,
            isinstance(query.window, Session),
            tuple((key.name, key.native) for key in query.keys),
            tuple((output.name, output.native) for output in query.outputs),
        )
        if shape not in self.shapes:
            if isinstance(query.window, Session) and query.window.maximum:
                query = query.over(Session.of_micros(query.window.gap))  # Spark has no maximum
            schema = nullable_schema(native(self.df, self.axis, query).schema)
            self.shapes[shape] = schema, arrow_schema(schema)
        return self.shapes[shape]

    def finished(self, query: Query, parts: Mapping[str, Query]) -> Form:
        """The form of the result of a query's SQL over its answers and those of its parts."""
        finish = query.finish
        assert finish is not None
        missing = next((name for name in finish.parts if name.casefold() not in parts), None)
        if missing is not None:
            raise EngineError(f"query {query.name!r} is SQL over {missing!r}, which does not run")
        queries = [query, *(parts[name.casefold()] for name in finish.parts)]
        shape = (finish, *queries)
        if shape not in self.forms:
            frames = [(one, self.answers(one)[0]) for one in queries]
            self.forms[shape] = finished_form(self.df.sparkSession, finish, frames)
        return self.forms[shape]

    def beyond(self, other: Menu) -> list[str]:
        """The expressions that this menu projects and another does not."""
        more = [c.sql for c in self.projection.columns[len(other.projection.columns) :]]
        more += [
            f"a hash of {', '.join(keys)}" for keys in self.bucketed if keys not in other.bucketed
        ]
        return list(dict.fromkeys(more))


def _hashed(key: str, kind: T.DataType) -> str:
    """A key in a form that Spark can hash, which maps are not."""
    return f"to_json(struct({key}))" if "map<" in kind.simpleString() else key


def _asks(query: Query) -> str:
    """The text of a query that Spark's analysis depends on."""
    told = query.to_dict()
    return str([told[part] for part in ("aggs", "where", "by", "having", "trusted")])
