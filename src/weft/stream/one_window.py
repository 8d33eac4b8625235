"""Whether SQL over answers stays within a window, judged by the plan that Spark made of it.

    micro-batch 7: answers of window A           --SQL--> rows
    micro-batch 8: answers of windows B and C    --SQL--> rows    the same as over A, B, C at once?

All answers of a window are delivered in one micro-batch. So SQL can run over each micro-batch
separately if it combines (ranks, aggregates, joins) only answers of the same window. This is
checked by tracing the window's column, or a field that identifies the window, through Spark's
optimized plan, where subqueries are joins and names are resolved. Plans that are not known to be
right are refused.

Answers may also be put into outer windows (`weft.stream.outer_window`): then they are held until an
outer window is complete, and SQL may combine answers of the same outer window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weft.stream.outer_window import DAY, Outer, outer_edge
from weft.stream.plan_tree import Json, Node

Origin = str | None
"""The origin of an expression: a `window` (with the number of its kind, `session` or `mixed`), its
`end` or `start` (with its kind), `outer`, a combination of these, `=name` for a key of the answers,
or None."""
_ROW_BY_ROW = frozenset(("Project", "Filter", "Generate", "Sort"))
"""Plan nodes that process rows one by one; sorting counts too, because answers have no order."""
_CONVERSIONS = frozenset(("Alias", "KnownNullable", "KnownNotNull", "PreciseTimestampConversion"))
_ADDED = ("TimestampAddInterval", "TimeAdd")
_OUTER = {"LeftOuter": (1,), "RightOuter": (0,), "FullOuter": (0, 1), "ExistenceJoin": (1,)}
_LIMITS = ("GlobalLimit", "LocalLimit", "Offset", "Tail")
_NO_END = (
    "a stream's answers have no end to cut at: write QUALIFY row_number() OVER (PARTITION BY "
    "window ORDER BY ...) <= n for the first of every window, or limit them when you read them"
)


@dataclass(frozen=True)
class Answers:
    """The output of a plan's `MapInArrow` node: answers of a query, with a window and keys."""

    name: str
    keys: tuple[str, ...]
    kind: str
    """A number, the same for windows for which equal starts mean equal ends; or `session` or
    `uneven`, where they do not."""
    length: int | None = None
    """The length of its windows, if all have the same."""
    truncated: Mapping[str, str] = field(default_factory=dict)
    """Columns that represent the window's start, such as a truncated time, and their meaning."""


@dataclass(frozen=True)
class Stays:
    """SQL that stays within a window, and what identifies its rows."""

    keys: tuple[str, ...] | None
    """The columns that, with `window`, identify a row; None if there are none."""
    outer: Outer | None = None
    """The outer windows for which answers must be held."""


@dataclass(frozen=True)
class Leaves:
    """SQL that combines answers of different windows."""

    reason: str


def judge(plan: Json, answers: Sequence[Answers]) -> Stays | Leaves:
    """Judge Spark's optimized plan (its JSON) of SQL over some queries' answers."""
    reading = _Reading({one.name: one for one in answers})
    try:
        root = Node.tree(plan)
        reading.follow(root)
    except _Refused as refused:
        return Leaves(str(refused))
    return Stays(reading.kept_keys(root), next(iter(reading.outer), None))


class _Refused(Exception):
    pass


@dataclass
class _Reading:
    answers: Mapping[str, Answers]
    origins: dict[int, Origin] = field(default_factory=dict)
    """By the id of an attribute."""
    outer: set[Outer] = field(default_factory=set)
    """The outer windows that answers are held for: at most one."""

    def follow(self, node: Node) -> None:
        """Record the origins of a plan's attributes; refuse it if it combines windows."""
        if node.kind == "MapInArrow":
            self._answers(node)
            return
        if node.kind in _LIMITS:
            raise _Refused(_NO_END)
        self._refuse_subqueries(node)
        for child in node.children:
            self.follow(child)
        if node.kind in ("Project", "Aggregate"):
            groups = [self.origin(key) for key in node.trees("groupingExpressions")]
            if "window session" in groups:
                remedy = "GROUP BY its end; Spark would join the sessions of several groups"
                self._refuse("GROUP BY a session", remedy)
            if node.kind == "Aggregate" and not self._together(groups):
                self._refuse("an aggregate", "GROUP BY the window, or window(window, '1 hour')")
            for item in (*node.trees("projectList"), *node.trees("aggregateExpressions")):
                if item.kind == "Alias":
                    self.origins[item.id] = self.origin(item.children[0])
        elif node.kind in ("Window", "WindowGroupLimit"):
            if not self._together(map(self.origin, node.trees("partitionSpec"))):
                self._refuse("OVER", "PARTITION BY the window, or its start")
        elif node.kind == "Join":
            self._join(node)
        elif node.kind == "Union":
            self._union(node)
        elif node.kind == "Expand" and "PreciseTimestampConversion" in _classes(node.said):
            raise _Refused(
                "overlapping windows of windows are not supported over answers: use tumbling ones, "
                "such as window(window, '1 hour')"
            )
        elif node.kind not in _ROW_BY_ROW:
            raise _Refused(f"Spark plans it as {node.kind}, which is not supported over answers")

    def origin(self, node: Node) -> Origin:
        """The origin of an expression."""
        if node.kind == "AttributeReference":
            return self.origins.get(node.id)
        edge = outer_edge(node)
        lag = None if edge is None else self._lag(self.origin(edge.moment))
        if edge is not None and lag is not None:
            outer = edge.outer.lagging(lag)
            return f"outer {outer.size} {outer.offset} {edge.which}"
        if node.kind in _ADDED and self.origin(node.children[0]) == "end":
            before = -(node.children[1].literal or 0)
            is_short = "month" not in str(node.children[1].said.get("dataType"))
            return f"end less {before}" if is_short and 0 < before < DAY else None
        if node.kind == "PreciseTimestampConversion" and node.children[0].kind == "Subtract":
            moment, less = node.children[0].children  # window_time
            found = self.origin(moment) if less.kind == "Literal" else None
            return f"{found} less {less.said['value']}" if _is_mark(found) else None
        if node.kind in _CONVERSIONS:
            return self.origin(node.children[0])
        first = self.origin(node.children[0]) if node.children else None
        if node.kind == "GetStructField" and first is not None and first.startswith("window"):
            kind = first.removeprefix("window ")
            return "end" if node.said["ordinal"] else f"start {kind}" if kind.isdigit() else None
        if node.kind == "GetStructField" and first is not None and first.startswith("outer"):
            _, size, offset, which = first.split(maxsplit=3)
            if which == "window":
                return f"outer {size} {offset} {'end' if node.said['ordinal'] else 'start'}"
        if node.kind == "CreateNamedStruct":
            return self._struct([self.origin(child) for child in node.children])
        return None

    def _lag(self, origin: Origin) -> int | None:
        """How long before its window's end a moment is, if that is the same for all windows."""
        if origin == "end":
            return 0
        if origin is not None and origin.startswith("end less "):
            return int(origin.removeprefix("end less "))
        lengths = [a.length for a in self.answers.values() if origin == f"start {a.kind}"]
        return lengths[0] if lengths else None

    def _struct(self, inside: Sequence[Origin]) -> Origin:
        """The origin of a struct, given its field names and values in turn."""
        marks = [one for one in inside if one is not None and _is_mark(one)]
        if any(not mark.startswith("outer") for mark in marks):
            return f"end of {inside}"
        if not marks:
            return None
        _, size, offset, which = marks[0].split(maxsplit=3)
        is_window = inside == [
            None,
            f"outer {size} {offset} start",
            None,
            f"outer {size} {offset} end",
        ]
        return f"outer {size} {offset} {'window' if is_window else f'{which} of {inside}'}"

    def _together(self, origins: Iterable[Origin]) -> bool:
        """Whether rows that agree in these belong to windows that are delivered, or held, together;
        if they must be held, that is noted."""
        marks = [one for one in origins if one is not None and _is_mark(one)]
        if marks and all(mark.startswith("outer") for mark in marks):
            _, size, offset, _ = marks[0].split(maxsplit=3)
            self.outer.add(Outer(int(size), int(offset)))
            if len(self.outer) > 1:
                raise _Refused(
                    "its windows of windows have several sizes or offsets, so they close at "
                    "different times: write a statement for each"
                )
        return bool(marks)

    def kept_keys(self, root: Node) -> tuple[str, ...] | None:
        """The keys of the answers, if every row is an answer and has its window and keys."""
        kinds = {node.kind for node in _plans(root)}
        if kinds - {"Project", "Filter", "Sort", "Window", "WindowGroupLimit", "MapInArrow"}:
            return None
        shown = {item.said.get("name"): self.origins.get(item.id) for item in _outputs(root)}
        if not (shown.get("window") or "").startswith("window"):
            return None
        (only,) = self.answers.values() if len(self.answers) == 1 else (None,)
        if only is None or any(shown.get(name) != f"={name}" for name in only.keys):
            return None
        return only.keys

    def _answers(self, node: Node) -> None:
        of = self.answers[Node.tree(node.said["functionExpr"]).said["name"]]
        for attribute in node.trees("output"):
            name = str(attribute.said["name"])
            if name == "window":
                self.origins[attribute.id] = f"window {of.kind}"
            elif name in of.truncated:
                self.origins[attribute.id] = f"start {of.kind}: {of.truncated[name]}"
            elif name in of.keys:
                self.origins[attribute.id] = f"={name}"

    def _join(self, node: Node) -> None:
        condition = node.said.get("condition")
        pairs = _equal(Node.tree(condition)) if condition else ()
        sides = [set(_defined(child)) for child in node.children]
        for pair in pairs:
            found = [self.origin(side) for side in pair]
            of = [any(_mentions(side) <= ids for side in pair) for ids in sides]
            if _same(*found) and all(of):
                self._together(found)
                break
        else:
            self._refuse("a join", "join ON the windows of both, which must be of one size")
        kind = str((node.said.get("joinType") or {}).get("object", "")).rpartition(".")[2]
        for side in _OUTER.get(kind.strip("$"), ()):
            for number in sides[side]:  # null where there is no match
                self.origins.pop(number, None)

    def _union(self, node: Node) -> None:
        columns = [_outputs(child) for child in node.children]
        if not all(columns) or len({len(some) for some in columns}) > 1:
            raise _Refused("Spark's plan of its UNION does not show the columns: SELECT them there")
        for place in zip(*columns, strict=True):
            found = [self.origins.get(item.id) for item in place]
            if not all(_same(found[0], other) for other in found):
                self.origins[place[0].id] = None
            elif len(set(found)) > 1:
                mixed = "session" if "window session" in found else "mixed"
                self.origins[place[0].id] = f"window {mixed}"

    def _refuse(self, what: str, remedy: str) -> None:
        raise _Refused(f"{what} over answers of several windows, which arrive one by one: {remedy}")

    def _refuse_subqueries(self, node: Node) -> None:
        for name, value in node.said.items():
            if name != "output" and any(kind.endswith("Subquery") for kind in _classes(value)):
                self._refuse("a subquery", "compare with an aggregate OVER (PARTITION BY window)")


def _is_mark(origin: Origin) -> bool:
    """Whether answers that agree in it are of windows that end, or are held, together."""
    return origin is not None and origin.startswith(("window", "end", "start", "outer"))


def _same(one: Origin, other: Origin) -> bool:
    """Whether equality of these two origins means that their windows end together."""
    if one is None or other is None or not _is_mark(one):
        return False
    return one == other or (one.startswith("window") and other.startswith("window"))


def _classes(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "class" in value:
            yield str(value["class"]).rpartition(".")[2]
        for inner in value.values():
            yield from _classes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _classes(inner)


def _plans(node: Node) -> Iterator[Node]:
    """A plan's nodes, down to the answers."""
    yield node
    if node.kind != "MapInArrow":
        for child in node.children:
            yield from _plans(child)


def _outputs(node: Node) -> list[Node]:
    """A plan's columns, in order; empty if unknown."""
    if node.kind == "MapInArrow":
        return node.trees("output")
    if node.kind in ("Project", "Aggregate"):
        return node.trees("projectList") or node.trees("aggregateExpressions")
    if node.kind == "Window":
        return [*_outputs(node.children[0]), *node.trees("windowExpressions")]
    if node.kind in ("Filter", "Sort", "WindowGroupLimit", "Union"):
        return _outputs(node.children[0])
    if node.kind == "Join":
        kind = str((node.said.get("joinType") or {}).get("object", "")).rpartition(".")[2]
        shown = [_outputs(child) for child in node.children]
        if kind in ("LeftSemi$", "LeftAnti$"):
            return shown[0]
        return [*shown[0], *shown[1]] if kind and all(shown) else []
    return []


def _defined(node: Node) -> Iterator[int]:
    """The ids of all attributes that a plan defines."""
    for plan in _plans(node):
        for name in ("output", "projectList", "aggregateExpressions", "windowExpressions"):
            for item in plan.trees(name):
                yield item.id


def _mentions(expression: Node) -> set[int]:
    return {node.id for node in expression.walk() if node.kind == "AttributeReference"}


def _equal(condition: Node) -> Iterator[tuple[Node, Node]]:
    """The pairs of expressions that a condition requires to be equal."""
    if condition.kind == "And":
        for child in condition.children:
            yield from _equal(child)
    elif condition.kind in ("EqualTo", "EqualNullSafe"):
        yield condition.children[0], condition.children[1]
