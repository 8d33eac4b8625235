"""Workloads in files: YAML, JSON or SQL.

rate: 375.0                 # rows per second, optional
queries:
  - name: big_trades
    aggs: {value: sum(price * volume), n: count(*)}
    range: 12 minutes       # an integer on an integer axis
    slide: 5 minutes        # left out: the window tumbles
    offset: 1 minute        # optional
                            # for sessions, instead of these: gap: 30 minutes;
                            # for sessions with a maximum as in Azure, also: maximum: 2 hours
                            # calendar windows: range: 3 months, slide: 1 month, zone: Europe/Berlin
    where: volume > 50000
    by: [symbol]
    having: n > 10
    limits: {groups: 10000, over: pause}   # how much of a stream's resources it may use
    owner: payments         # whom its share of a stream's costs is charged to
    lateness: 10 minutes    # how long after the watermark it still accepts late rows
  - name: hourly_hi
    sql: SELECT symbol, max(price) AS hi FROM t GROUP BY window(ts, '1 hour'), symbol
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from weft.errors import QueryError, WorkloadError
from weft.query.calendar import Calendar, is_calendar
from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.quoting import quoted
from weft.query.sql import parse_queries, read_statements
from weft.query.window import Session, Window
from weft.query.workload import Workload

_TOP = ("queries", "rate")
_WINDOW = ("range", "slide", "offset", "zone")
_SESSION = ("gap", "maximum")
_QUERY = (
    *("name", "aggs", *_WINDOW, *_SESSION, "where", "by", "having", "limits", "owner"),
    "lateness",
)
_SUFFIXES = (".yaml", ".yml", ".json", ".sql")


def load_workload(path: str | PathLike[str], *, strict: bool = True) -> Workload:
    """Read a workload; an error names the file, the entry and the field.

    Unless `strict`, statements of SQL that are refused are left out.
    """
    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES:
        raise WorkloadError(f"{file}: unknown kind of file; accepted are {', '.join(_SUFFIXES)}")
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkloadError(f"{file}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise WorkloadError(f"{file}: is not UTF-8 text") from None
    try:
        if file.suffix.lower() == ".sql":
            return Workload(parse_queries(text)) if strict else _as_far_as_read(file, text)
        return _from_data(_parse(file, text))
    except QueryError as error:
        raise type(error)(f"{file}: {error}") from None


def _as_far_as_read(file: Path, text: str) -> Workload:
    """The queries of the statements that can be parsed, and why others cannot."""
    read, taken = [], set[str]()
    for one in read_statements(text):
        names = {query.name.casefold() for query in one.queries} or {one.name.casefold()}
        if names & taken:
            reason = f"query {one.name!r}: the name is taken by a statement before it"
            one = replace(one, queries=(), finish=None, refusal=QueryError(reason))
        taken |= names
        read.append(one)
    queries = [query for one in read if one.refusal is None for query in one.queries]
    refused = [f"{file}: {one.refusal}" for one in read if one.refusal is not None]
    return Workload(queries, refused=refused, statements=read)


def _parse(file: Path, text: str) -> Any:
    try:
        return json.loads(text) if file.suffix.lower() == ".json" else yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # not JSON; a huge number
        raise WorkloadError(f"cannot be read: {error}") from None


def _from_data(data: Any) -> Workload:
    if isinstance(data, list):
        data = {"queries": data}
    if not isinstance(data, Mapping) or not isinstance(data.get("queries"), list):
        raise WorkloadError("a list of queries under 'queries:' is expected")
    _check_fields(data, _TOP, "the file")
    queries = [
        query
        for position, entry in enumerate(data["queries"], start=1)
        for query in _queries(position, entry)
    ]
    return Workload(queries, data.get("rate"))


def _queries(position: int, entry: Any) -> list[Query]:
    where = f"queries[{position}]"
    if isinstance(entry, Mapping) and entry.get("name") is not None:
        where += f" ({entry['name']})"
    try:
        return read_entry(entry, position)
    except QueryError as error:
        raise type(error)(f"{where}: {error}") from None


def read_entry(entry: Any, position: int) -> list[Query]:
    """The queries of one list entry; unnamed SQL is named by its position, from 1."""
    if not isinstance(entry, Mapping):
        raise WorkloadError(f"{quoted(entry)} is not a query: a mapping with name, aggs and range")
    if "sql" in entry:
        _check_fields(entry, ("name", "sql", "limits", "owner", "lateness"), "a query in sql")
        if not isinstance(entry["sql"], str):
            raise WorkloadError(f"sql={quoted(entry['sql'])} is not a text")
        found = parse_queries(entry["sql"], name=entry.get("name") or f"q{position}", whole=True)
        limits = QueryLimits.of(entry.get("limits"))
        found = found if limits is None else [query.limited(limits) for query in found]
        if entry.get("lateness") is not None:
            found = [query.late_by(entry["lateness"]) for query in found]
        return [query.owned(entry.get("owner") or query.owner) for query in found]
    _check_fields(entry, _QUERY, "a query")
    sessions = any(entry.get(name) is not None for name in _SESSION)
    for field in ("name", "aggs", *(() if sessions else ("range",))):
        if field not in entry:
            raise WorkloadError(f"{field} is missing")
    window = _window(entry)
    optional = ("where", "having", "limits", "owner", "lateness")
    rest = {name: entry[name] for name in optional if entry.get(name) is not None}
    by = entry.get("by") or ()
    if not isinstance(by, (str, list, tuple)):
        raise WorkloadError(f"by={quoted(by)} is not a list of columns")
    return [Query(entry["name"], aggs=entry["aggs"], window=window, by=by, trusted=False, **rest)]


def _window(entry: Mapping[str, Any]) -> Window:
    """The windows of an entry, or its sessions."""
    given = {name: entry[name] for name in _WINDOW if entry.get(name) is not None}
    sessions = {name: entry[name] for name in _SESSION if entry.get(name) is not None}
    if "gap" in sessions:
        if given:
            raise WorkloadError(f"gap is of sessions, which have no {', no '.join(given)}")
        return Session(**sessions)
    if sessions:
        raise WorkloadError("maximum is of sessions: give their gap too, such as gap: 5 minutes")
    if "zone" in given or is_calendar(given["range"]):
        return Calendar(**given)
    return Window(**given)


def _check_fields(data: Mapping[Any, Any], accepted: tuple[str, ...], what: str) -> None:
    for field in data:
        if field not in accepted:
            raise WorkloadError(
                f"{quoted(field)} is not a field of {what}; accepted are {', '.join(accepted)}"
            )
