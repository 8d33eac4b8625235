"""Checks Spark's tree of statements that run unchanged: it must be only a query of known tables.

Like `spark_tree` for expressions, but for the plan that Spark's parser gives, in which every node
has a class: a class that is not in `PLANS` or among the accepted expressions (a command, a script,
a parameter), an unknown table, or a function that accesses more than the rows is refused. Fields
that the JSON does not show are refused too, unless they are known to contain nothing that runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from weft.query.functions import (
    CLOCK_WORDS,
    GENERATORS,
    NOT_DETERMINISTIC,
    TIME_WINDOWS,
    WINDOW_FUNCTIONS,
)
from weft.query.limits import allows
from weft.query.trust.spark_tree import CLASSES, FUNCTIONS

PLANS = frozenset(
    """
    Aggregate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LocalLimit
    LocalRelation Offset OneRowRelation PipeOperator Pivot Project RepartitionByExpression Sample
    Sort SubqueryAlias Union UnresolvedHaving UnresolvedHint UnresolvedInlineTable UnresolvedPivot
    UnresolvedEventTimeWatermark UnresolvedQualify UnresolvedRelation
    UnresolvedSubqueryColumnAliases UnresolvedTableValuedFunction UnresolvedWith Unpivot
    WithWindowDefinition
    """.split()  # noqa: SIM905
)
"""The plan nodes that only read tables and transform rows."""
EXPRESSIONS = CLASSES | frozenset(
    """
    AggregateExpression Any AnyValue AttributeReference Coalesce Collate Cube CurrentDate
    CurrentRow$ CurrentTimestamp Every Exists First GroupingSets InSubquery Last LateralSubquery
    ListQuery MultiAlias NamePlaceholder$ NamedArgumentExpression Overlay PipeExpression Rollup
    ScalarSubquery SemiStructuredExtract SortOrder SpecifiedWindowFrame StringLocate StringTrim
    StringTrimLeft StringTrimRight Substring UnboundedFollowing$ UnboundedPreceding$
    UnresolvedAlias UnresolvedCollation UnresolvedGenerator UnresolvedOrdinal UnresolvedStar
    UnresolvedStarExceptOrReplace UnresolvedWindowExpression UnspecifiedFrame$ WindowExpression
    WindowSpecDefinition WindowSpecReference
    """.split()  # noqa: SIM905
)
_UNSEEN = frozenset(
    (
        *(("UnresolvedRelation", "options"), ("LocalRelation", "data"), ("Join", "hint")),
        *(("WithWindowDefinition", "windowDefinitions"), ("UnresolvedStar", "target")),
        *(("UnresolvedWindowExpression", "windowSpec"), ("Literal", "value")),
        ("UnresolvedEventTimeWatermark", "delay"),
    )
)
"""Fields that Spark's JSON leaves empty, and that contain nothing that runs.

Except for `windowDefinitions`, which callers must check separately (`named_windows`).
"""
_SETTINGS = frozenset(("evalContext", "evalMode", "escapeChar", "groupingSetIndexes"))
CLOCKS = frozenset(
    ("current_timestamp", "current_date", "current_time", "now", "curdate", "localtimestamp")
)
"""The functions of time that a statement that runs once may call."""
_RANDOM = frozenset(("rand", "random", "randn", "uuid", "monotonically_increasing_id"))
CALLS = FUNCTIONS | GENERATORS | WINDOW_FUNCTIONS | TIME_WINDOWS | CLOCKS | _RANDOM
"""Further functions that a statement that runs unchanged may call."""
_NOT_COLUMNS = frozenset(
    name for name in (*NOT_DETERMINISTIC, *CLOCK_WORDS) if name not in CLOCKS | _RANDOM
)

_HINTS = frozenset(
    (
        *("broadcast", "broadcastjoin", "mapjoin", "merge", "mergejoin", "shuffle_merge"),
        *("shuffle_hash", "shuffle_replicate_nl"),
    )
)
"""Hints that choose a join strategy, but no number of partitions."""
_LONGEST_RANGE = 100_000_000

Json = Any


def statement_refusal(plan: Json, tables: Collection[str], *, again: bool = False) -> str | None:
    """Why Spark's plan of a statement is refused; None if it is a query of these tables.

    `tables` are the names, in lower case, that a statement may read. One that runs repeatedly
    (`again`) and must give the same result may not use the time or random values.

    >>> plan = [{"class": "org.apache.spark.sql.catalyst.analysis.UnresolvedRelation",
    ...          "num-children": 0, "multipartIdentifier": "[parquet, /etc/passwd]"}]
    >>> statement_refusal(plan, {"t"})
    "it reads 'parquet./etc/passwd', which is no table of its source; there is 't'"
    """
    nodes = list(_nodes(plan))
    known = {name.casefold() for name in tables} | set(_defined(nodes))
    for node in nodes:
        reason = _refusal(node, known, tables) or (_changing(node) if again else None)
        if reason is not None:
            return reason
    return None


def _changing(node: Mapping[str, Any]) -> str | None:
    """Why a node may give a different result when it runs again."""
    name = {"CurrentDate": "current_date", "CurrentTimestamp": "current_timestamp"}.get(_kind(node))
    if _kind(node) == "UnresolvedFunction":
        name = ".".join(_listed(node["nameParts"])).lower()
    elif _kind(node) == "UnresolvedAttribute":  # the clock needs no parentheses
        name = next((word for word in _listed(node["nameParts"]) if word in CLOCK_WORDS), None)
    if name in CLOCKS | _RANDOM:
        return f"{name} {NOT_DETERMINISTIC.get(name, 'gives another value at every call')}"
    return None


def named_windows(plan: Json) -> int:
    """The number of WINDOW clauses, whose definitions the JSON does not show."""
    return sum(_kind(node) == "WithWindowDefinition" for node in _nodes(plan))


def _nodes(value: Json) -> Iterator[Mapping[str, Any]]:
    """Every node of a plan, including those of expressions and of subqueries."""
    if isinstance(value, Mapping):
        if "class" in value:
            yield value
        for inner in value.values():
            yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)


def _kind(node: Mapping[str, Any]) -> str:
    return str(node["class"]).rpartition(".")[2]


def _defined(nodes: list[Mapping[str, Any]]) -> Iterator[str]:
    """The names that WITH defines."""
    for node in nodes:
        if _kind(node) == "UnresolvedWith":
            for relation in node.get("cteRelations") or ():
                yield str(relation.get("_1", "")).casefold()


def _refusal(
    node: Mapping[str, Any], known: Collection[str], tables: Collection[str]
) -> str | None:
    kind = _kind(node)
    if kind not in PLANS and kind not in EXPRESSIONS:
        return f"Spark reads {kind} in it, which is not accepted from an untrusted statement"
    for name, value in node.items():
        if value is None and name not in _SETTINGS and (kind, name) not in _UNSEEN:
            return f"Spark does not show {name} of {kind}, so that it cannot be judged"
    if kind == "UnresolvedWith" and node.get("allowRecursion"):
        return "WITH RECURSIVE may have no end"
    if kind == "UnresolvedHint" and str(node.get("name", "")).lower() not in _HINTS:
        return f"the hint {node.get('name')} is not accepted from an untrusted statement"
    if kind == "UnresolvedRelation":
        return _table_refusal(_listed(node["multipartIdentifier"]), known, tables)
    if kind == "UnresolvedAttribute":
        parts = _listed(node["nameParts"])
        if len(parts) == 1 and parts[0].lower() in _NOT_COLUMNS:
            return _call_refusal(parts[0].lower())
    if kind == "UnresolvedFunction":
        return _call_refusal(".".join(_listed(node["nameParts"])).lower())
    if kind == "UnresolvedTableValuedFunction":
        name = ".".join(_listed(node["name"])).lower()
        if name in GENERATORS or (name == "range" and _is_short(node.get("functionArgs"))):
            return None
        return f"it reads the rows of {name}(), which is no table"
    if kind == "UnresolvedGenerator":
        return _call_refusal(str((node.get("name") or {}).get("funcName", "")).lower())
    return None


def _is_short(args: Json) -> bool:
    """Whether the arguments of a range() are constants, none of them large."""
    nodes = list(_nodes(args))
    return all(
        _kind(node) == "Literal" and str(node.get("value")).isdigit() for node in nodes
    ) and all(int(node["value"]) <= _LONGEST_RANGE for node in nodes)


def _table_refusal(parts: list[str], known: Collection[str], tables: Collection[str]) -> str | None:
    if len(parts) == 1 and parts[0].casefold() in known:
        return None
    listed = ", ".join(map(repr, sorted(tables)))
    verb = "is" if len(tables) == 1 else "are"
    shown = ".".join(parts)[:80]
    return f"it reads {shown!r}, which is no table of its source; there {verb} {listed}"


def _call_refusal(name: str) -> str | None:
    if name in CALLS or allows(name):
        return None
    why = NOT_DETERMINISTIC.get(name)
    return f"{name} {why}" if why else f"it calls {name!r}, which is not allowed"


def _listed(said: object) -> list[str]:
    """The parts of a name in the form of Spark's JSON: `[a, b]`."""
    return str(said)[1:-1].split(", ")


def tables_read(plan: Json) -> list[tuple[str, ...]]:
    """The tables that a statement reads, as name parts, without those that it defines itself."""
    nodes = list(_nodes(plan))
    defined = set(_defined(nodes))
    found = (_listed(n["multipartIdentifier"]) for n in nodes if _kind(n) == "UnresolvedRelation")
    read = dict.fromkeys(tuple(parts) for parts in found)
    return [parts for parts in read if parts[0].casefold() not in defined]
