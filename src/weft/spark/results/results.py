"""The answers of a run: a typed DataFrame per query, or all in one long table; lazy."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window as Over
from pyspark.storagelevel import StorageLevel

from weft.errors import EngineError
from weft.plan.explain import describe_window
from weft.plan.lower import lowered
from weft.plan.time_axis import quote
from weft.query import html
from weft.query.query import Query
from weft.query.window import Session
from weft.spark.as_written import texts_as_written
from weft.spark.batch.rewrite import apply
from weft.spark.batch.run import Batch, Direct, SharedFrame
from weft.spark.finishing import finished
from weft.spark.results.long import long_table
from weft.spark.results.wide import wide_table


class Results(Mapping[str, DataFrame]):
    """The answers of a loom. `results["name"]` has the plain Spark query's columns and rows.

    Nothing is computed before a DataFrame is used. Combined partials that several queries use are
    persisted (memory and disk) at their first use, so that reading 256 queries one by one runs the
    shared job once; `unpersist()` releases them, as does leaving a `with` block.
    """

    def __init__(self, batch: Batch, *, persist: bool) -> None:
        self.batch = batch
        self._persist = persist
        self._kept: dict[int, DataFrame] = {}
        self._place: dict[str, tuple[int, Query]] = {}
        for number, piece in enumerate(batch.pieces):
            queries = [piece.query] if isinstance(piece, Direct) else piece.queries
            self._place.update({query.name.lower(): (number, query) for query in queries})

    @property
    def spark(self) -> SparkSession:
        """The session of the answers."""
        return self.batch.pieces[0].frame.sparkSession

    @texts_as_written
    def __getitem__(self, name: str) -> DataFrame:
        _, query = self._find(name)
        if query.finish is None:
            return self.answers(name)
        queries = [self._find(part)[1] for part in (name, *query.finish.parts)]
        return finished(query.finish, [(one, self.answers(one.name)) for one in queries])

    @texts_as_written
    def answers(self, name: str) -> DataFrame:
        """A query's answers, without its statement's SQL over them."""
        number, query = self._find(name)
        piece = self.batch.pieces[number]
        if isinstance(piece, Direct):
            return piece.frame
        return apply(self._frame(number), lowered(piece.layout, query, self.batch.axis))

    def __iter__(self) -> Iterator[str]:
        queries = [query for _, query in self._place.values()]
        parts = {name for query in queries if query.finish for name in query.finish.parts}
        return (query.name for query in queries if query.name not in parts)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @texts_as_written
    def all(self) -> DataFrame:
        """Every answer in one long table: `query`, `window`, the keys, the aggregates by name.

        A column is null for queries that do not have it. If queries use one name for different
        types, each type has its own column, `name_type`, so that nothing is cast.
        """
        return long_table(
            [self._piece(number) for number in range(len(self.batch.pieces))], self.batch.axis
        )

    @texts_as_written
    def changed(self, name: str) -> DataFrame:
        """The rows of a query whose aggregates differ from those of the key's previous window."""
        _, query = self._find(name)
        answers = self.answers(name)
        values = F.struct(*(F.col(quote(value)) for value in query.aggs))
        keys = [F.col(quote(key.name)) for key in query.keys] or [F.lit(0)]
        over = Over.partitionBy(*keys).orderBy(F.col("window.start"))
        before, first = F.lag(values).over(over), F.row_number().over(over) == 1
        marked = answers.withColumn("weft_changed", first | ~values.eqNullSafe(before))
        return marked.where("weft_changed").drop("weft_changed")

    @texts_as_written
    def wide(self, keys: Sequence[str] = (), queries: Sequence[str] | None = None) -> DataFrame:
        """One row per key and instant, one column per query and aggregate: a feature table.

        An instant is a time at which a window of any of the queries is complete. Each column has
        the answer of the query's newest window that is complete by then, null if the key has no
        row in that window: only what was known at that instant. Columns are named by aggregate and
        range (`value_1h`), or `query_aggregate` if that is not unique.
        """
        names = list(self) if queries is None else list(queries)
        asked = [self._find(name)[1] for name in names]
        for query in asked:
            if isinstance(query.window, Session):
                raise EngineError(
                    f"wide(): query {query.name!r} asks for sessions, which end at no instant that "
                    f"others share; name queries with fixed windows"
                )
            if sorted(key.name for key in query.keys) != sorted(keys):
                raise EngineError(
                    f"wide(keys={list(keys)!r}): query {query.name!r} is grouped by "
                    f"{[key.name for key in query.keys]!r}; name queries that have these keys"
                )
        return wide_table(
            [(query, self.answers(query.name)) for query in asked], list(keys), self.batch.axis
        )

    def persist(self) -> Results:
        """Persist the combined partials from their first use on."""
        self._persist = True
        return self

    def unpersist(self) -> None:
        """Release the persisted partials."""
        for frame in self._kept.values():
            frame.unpersist()
        self._kept.clear()

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unpersist()

    def __repr__(self) -> str:
        return f"Results({', '.join(map(repr, self))})"

    def _repr_html_(self) -> str:
        """The queries as a table, for notebooks; computes nothing."""
        asked = [query for _, query in self._place.values()]
        rows = [
            {
                "query": query.name,
                "window": describe_window(query.window),
                "keys": ", ".join(key.name for key in query.keys),
                "answers": ", ".join(query.aggs),
            }
            for query in asked[: html.SHOWN]
        ]
        note = "each is a DataFrame: results['name'], or all of them: results.all()"
        title = f"answers of {len(asked):,} quer{'y' if len(asked) == 1 else 'ies'}"
        return html.table(title, rows, more=len(asked) - len(rows), note=note)

    def _find(self, name: str) -> tuple[int, Query]:
        if name.lower() not in self._place:
            raise KeyError(f"no query {name!r}; there are {', '.join(map(repr, self))}")
        return self._place[name.lower()]

    def _piece(self, number: int) -> SharedFrame | Direct:
        piece = self.batch.pieces[number]
        if isinstance(piece, Direct):
            return piece
        return SharedFrame(piece.layout, piece.grouping_set, self._frame(number))

    def _frame(self, number: int) -> DataFrame:
        piece = self.batch.pieces[number]
        if not self._persist or isinstance(piece, Direct):
            return piece.frame
        if number not in self._kept:
            # Spark treats plans over one folder as equal even if its files have changed. The
            # cached frame must not be reused by other runs: one over more files would get these
            # answers. So make the plan unique.
            own = piece.frame.where(F.lit(uuid.uuid4().hex).isNotNull())
            self._kept[number] = own.persist(StorageLevel.MEMORY_AND_DISK)
        return self._kept[number]
