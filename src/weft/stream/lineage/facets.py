"""OpenLineage facets that describe a query: schemas, columns, SQL, owner, errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft import __version__
from weft.errors import QueryError
from weft.query.expression import columns
from weft.query.query import Query
from weft.query.sql import write_query
from weft.stream.lineage.datasets import Dataset, owners_of

PRODUCER = f"urn:weft:{__version__}"
_SPEC = "https://openlineage.io/spec"
EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = {
    "schema": ("1-2-0", "SchemaDatasetFacet"),
    "columnLineage": ("1-2-0", "ColumnLineageDatasetFacet"),
    "sql": ("1-1-0", "SQLJobFacet"),
    "jobType": ("2-0-4", "JobTypeJobFacet"),
    "ownership": ("1-0-1", "OwnershipJobFacet"),
    "errorMessage": ("1-0-1", "ErrorMessageRunFacet"),
    "processing_engine": ("1-1-1", "ProcessingEngineRunFacet"),
}


@dataclass(frozen=True)
class Described:
    """A query, what it reads, and where its answers go."""

    query: Query
    parts: tuple[Query, ...]
    """The other queries that its `finish` reads."""
    time: str
    """The column of event time."""
    inputs: tuple[Dataset, ...]
    output: Dataset

    @property
    def sql(self) -> str | None:
        """The query as Spark SQL; None if it cannot be written as such."""
        try:
            return write_query(self.query, time=self.time)
        except QueryError:
            return None if self.query.finish is None else self.query.finish.sql


def facet(kind: str, **body: Any) -> dict[str, Any]:
    """A facet under its name, with the fields that every facet has.

    >>> facet("sql", query="SELECT 1")["sql"]["_schemaURL"].rsplit("/", 1)[1]
    'SQLJobFacet'
    """
    version, name = _FACETS[kind]
    url = f"{_SPEC}/facets/{version}/{name}.json#/$defs/{name}"
    return {kind: {"_producer": PRODUCER, "_schemaURL": url, **body}}


def dataset(one: Dataset, *facets: dict[str, Any]) -> dict[str, Any]:
    """A dataset with its schema and other facets."""
    fields = [{"name": name, "type": kind} for name, kind in one.fields]
    known = facet("schema", fields=fields) if fields else {}
    for other in facets:
        known |= other
    return {"namespace": one.namespace, "name": one.name, "facets": known}


def column_lineage(told: Described) -> dict[str, Any]:
    """The source columns of each column of the answers, and those that decide which rows exist."""
    query = told.query
    made = _made_from(told)
    if query.finish is not None:  # SQL over answers: only Spark knows which column goes where
        read = sorted({told.time.lower()}.union(*(q.columns for q in (query, *told.parts))))
        said = query.finish.sql
        made = {name: (read, "TRANSFORMATION", said) for name, _ in told.output.fields}
    elif query.shown is not None:
        given = {name.lower(): made[name] for name in made}
        made = {name: _selected(sql, given) for sql, name in query.shown}
    fields = {
        name: {"inputFields": _inputs(told, read, "DIRECT", kind, said)}
        for name, (read, kind, said) in made.items()
    }
    deciding = [(told.time, "WINDOW")]
    deciding += [(name, "GROUP_BY") for key in query.keys for name in columns(key.expression)]
    deciding += [(name, "FILTER") for name in (columns(query.predicate) if query.predicate else ())]
    whole = [
        field for name, kind in deciding for field in _inputs(told, [name], "INDIRECT", kind, "")
    ]
    return facet("columnLineage", fields=fields, dataset=whole)


Source = tuple[Sequence[str], str, str]
"""The columns that are read, how they are used, and by which SQL."""


def _made_from(told: Described) -> dict[str, Source]:
    """The sources of the columns of the plain query's answers."""
    query = told.query
    made: dict[str, Source] = {"window": ([told.time], "TRANSFORMATION", "window")}
    for key in query.keys:
        read = sorted(columns(key.expression))
        same = read == [key.expression.strip("`").lower()]
        made[key.name] = (read, "IDENTITY" if same else "TRANSFORMATION", key.expression)
    for output in query.outputs:
        parts = [part for call in output.calls for part in call.parts]
        texts = [text for part in parts for text in (*part.args, part.where) if text]
        read = sorted({name for text in texts for name in columns(text)})
        made[output.name] = (read, "AGGREGATION", query.aggs[output.name])
    return made


def _selected(sql: str, given: dict[str, Source]) -> Source:
    """The sources of an expression selected over answers."""
    names = [name for name in sorted(columns(sql)) if name in given]
    if len(names) == 1 and sql.strip("`").lower() == names[0]:
        return given[names[0]]
    read = sorted({column for name in names for column in given[name][0]})
    return read, "TRANSFORMATION", sql


def _inputs(
    told: Described, read: Iterable[str], type_: str, subtype: str, said: str
) -> list[dict[str, Any]]:
    change = {"type": type_, "subtype": subtype, "description": said, "masking": False}
    found = []
    for column in read:
        for one in owners_of(column, told.inputs):
            names = [name for name, _ in one.fields if name.lower() == column.lower()]
            field = {"namespace": one.namespace, "name": one.name, "field": [*names, column][0]}
            found.append({**field, "transformations": [change]})
    return found
