"""Converts aggregate calls in SQL to aggregates, or refuses them."""

from __future__ import annotations

from difflib import get_close_matches

from weft.algebra.aggregate import Aggregate
from weft.algebra.catalogue import (
    BY_NAME,
    CALLABLE,
    IGNORING_NULLS,
    OVER_DISTINCT,
    REWRITTEN,
    WITH_COUNT,
)
from weft.algebra.function import Function
from weft.algebra.part import Option
from weft.algebra.sketches import hll_size, kll_size
from weft.errors import AggregateError
from weft.query.expression import check_scalar, function_name
from weft.query.functions import AGGREGATES, UNSERVED
from weft.query.normal import normal
from weft.query.syntax.lexer import place
from weft.query.syntax.literals import string_value
from weft.query.syntax.tree import Call, Case, Cast, Literal, Node, Op, Star, walk
from weft.query.syntax.writer import write


def is_aggregate(node: Node) -> bool:
    """Whether a node calls an aggregate, supported or not."""
    return isinstance(node, Call) and function_name(node) in AGGREGATES


def make_aggregate(sql: str, call: Call) -> Aggregate:
    """The aggregate of a call in the text `sql`; errors quote the place."""
    name = function_name(call)
    if name not in CALLABLE:
        raise _fail(sql, call, f"{name} is not an aggregate that weft supports{hint(name)}")
    for part in walk(call):
        if part is not call and is_aggregate(part):
            assert isinstance(part, Call)
            raise _fail(sql, part, f"{function_name(part)} inside {name}: aggregates do not nest")
    where = call.where
    args = call.args
    if call.order and name not in _TAKE_ORDER:
        raise _fail(sql, call, f"{name} takes no WITHIN GROUP; {', '.join(_TAKE_ORDER)} do")
    if call.distinct and name in REWRITTEN:
        raise _fail(sql, call, f"{name}(DISTINCT ...) is not supported")
    if name == "count_if":
        if len(args) != 1:
            raise _fail(sql, call, "count_if takes one condition")
        # FILTER comes first, as in Spark: the condition is not evaluated on rows it excludes.
        where = args[0] if where is None else Op("AND", (where, args[0]), at=where.at)
        name, args = "count", (Star(at=call.at),)
    elif name.startswith("regr_"):
        name, args = _of_pairs(sql, call, name)
    args, options, ignoring = _constants(sql, call, name, args)
    function = _variant(sql, call, _function(name, args, options), ignoring)
    args = _counted(sql, call, function, args)
    for operand in (*args, *([] if where is None else [where])):
        check_scalar(sql, operand)
    low, high = function.arity
    if not low <= len(args) <= high:
        wanted = f"{low}" if low == high else f"{low} or more"
        raise _fail(sql, call, f"{name} takes {wanted} argument(s), not {len(args)}")
    return Aggregate(
        function.name,
        tuple(write(normal(arg)) for arg in args),
        None if where is None else write(normal(where)),
        options,
    )


_TAKE_ORDER = ("listagg", "string_agg", "mode", "percentile_cont", "percentile_disc")


def _of_pairs(sql: str, call: Call, name: str) -> tuple[str, tuple[Node, ...]]:
    """A regression's function and arguments: its means are over the pairs without a null.

    Spark defines them so; the mean of a decimal argument is a decimal. The other argument is cast
    as in Spark, where a string that is not a number becomes null or an error.
    """
    if len(call.args) != 2:
        raise _fail(sql, call, f"{name} takes 2 arguments, y and x, not {len(call.args)}")
    y, x = call.args
    if name in ("regr_avgx", "regr_avgy"):
        value, other = (x, y) if name == "regr_avgx" else (y, x)
        number = Cast("CAST", other, "DOUBLE", at=other.at)
        present = Op("IS NOT NULL", (number,), at=other.at)
        return "avg", (Case(None, ((present, value),), None, at=value.at),)
    return name, call.args


def _function(name: str, args: tuple[Node, ...], options: tuple[Option, ...]) -> Function:
    """The function of the catalogue for a name with these arguments and constants."""
    if name in ("median", "percentile_cont"):
        name = "percentile"
    if name in WITH_COUNT and options:
        name = WITH_COUNT[name]
    function = BY_NAME[name]
    if function.name == "listagg" and len(args) == 2:
        return BY_NAME["listagg_at"]
    return function


def _fail(sql: str, node: Node, message: str) -> AggregateError:
    return AggregateError(place(sql, node.at, message))


def hint(name: str) -> str:
    """A hint on what to use instead of a function that is not one of weft's aggregates."""
    if name in UNSERVED:
        return f": it {UNSERVED[name]}"
    near = get_close_matches(name, CALLABLE, n=3, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; accepted are {', '.join(sorted(CALLABLE))}"


def _variant(sql: str, call: Call, function: Function, ignoring: bool) -> Function:
    """The function to use for another with DISTINCT or IGNORE NULLS."""
    if call.nulls is not None and function.name not in IGNORING_NULLS:
        raise _fail(sql, call, f"{function.name} takes no {call.nulls} NULLS; first and last do")
    if ignoring:
        function = BY_NAME[IGNORING_NULLS[function.name]]
    if call.distinct and function.distinct != "same":
        if function.distinct == "no":
            accepted = sorted(f.name for f in BY_NAME.values() if f.distinct != "no")
            raise _fail(
                sql,
                call,
                f"{function.name}(DISTINCT ...) is not supported; DISTINCT is accepted in "
                f"{', '.join(dict.fromkeys(accepted))}",
            )
        function = BY_NAME[OVER_DISTINCT[function.name]]
    return function


def _counted(sql: str, call: Call, function: Function, args: tuple[Node, ...]) -> tuple[Node, ...]:
    """The arguments of a count; none if every row counts, as with constants that are not null."""
    stars = any(isinstance(arg, Star) for arg in args)
    if function.name != "count":
        if stars:
            raise _fail(sql, call, f"{function_name(call)} takes no star; count(*) does")
        return args
    if not args:
        raise _fail(sql, call, "count takes a star or expressions, as in count(*)")
    if stars and len(args) > 1:
        raise _fail(sql, call, "count takes a star or expressions, not both")
    present = [
        arg
        for arg in args
        if not (isinstance(arg, Star) or (isinstance(arg, Literal) and arg.kind != "null"))
    ]
    return tuple(present)


def _constants(
    sql: str, call: Call, name: str, args: tuple[Node, ...]
) -> tuple[tuple[Node, ...], tuple[Option, ...], bool]:
    """Split a call's arguments: expressions, constants, and whether nulls are ignored."""
    name = BY_NAME[name].name if name in BY_NAME else name
    ignoring = call.nulls == "IGNORE"
    if name in IGNORING_NULLS and len(args) == 2:
        flag = args[1]
        if not (isinstance(flag, Literal) and flag.kind == "boolean"):
            raise _fail(sql, flag, f"{name}: the second argument must be true or false")
        return args[:1], (), ignoring or flag.text == "TRUE"
    if name in WITH_COUNT and len(args) == 3:
        return args[:2], (_whole(sql, name, "n", args[2]),), ignoring
    if name in ("median", "percentile", "percentile_cont", "percentile_disc"):
        return (*_percentile(sql, call, name), ignoring)
    if name == "mode":
        return (*_mode(sql, call), ignoring)
    if name == "listagg":
        return (*_listed(sql, call), ignoring)
    if name in ("first_n", "last_n"):
        if len(args) != 2:
            raise _fail(sql, call, f"{name} takes an expression and a number: {name}(x, 10)")
        return args[:1], (_whole(sql, name, "n", args[1]),), False
    if name == "approx_count_distinct":
        rsd = 0.05 if len(args) < 2 else _number(sql, name, "rsd", args[1])
        return args[:1] + args[2:], (hll_size(rsd),), False
    if name == "approx_percentile":
        if len(args) not in (2, 3):
            raise _fail(sql, call, "approx_percentile takes (x, percentage) or (x, p, accuracy)")
        accuracy = 10000 if len(args) < 3 else _whole(sql, name, "accuracy", args[2])
        shape, *ranks = _ranks(sql, name, args[1])
        return args[:1], (kll_size(accuracy), shape, *ranks), False
    return args, (), ignoring


def _ranks(sql: str, name: str, given: Node) -> tuple[Option, ...]:
    """Whether one value or an array is requested, and the ranks from 0 to 1."""
    several = isinstance(given, Call) and function_name(given) == "array"
    listed = given.args if isinstance(given, Call) and several else (given,)
    ranks = [_number(sql, name, "percentage", rank) for rank in listed]
    for rank, node in zip(ranks, listed, strict=True):
        if not 0.0 <= rank <= 1.0:
            raise _fail(sql, node, f"{name}: percentage={rank} must be from 0 to 1")
    return ("array" if several else "value", *ranks)


def _percentile(sql: str, call: Call, name: str) -> tuple[tuple[Node, ...], tuple[Option, ...]]:
    """The argument of an exact percentile, and its constants: shape, direction, ranks."""
    args = call.args
    if name == "median" and len(args) == 1:
        return args, ("value", "ASC", 0.5)
    if name == "percentile" and len(args) == 2:
        shape, *ranks = _ranks(sql, name, args[1])
        return args[:1], (shape, "ASC", *ranks)
    if name in ("percentile_cont", "percentile_disc") and len(args) == len(call.order) == 1:
        shape, *ranks = _ranks(sql, name, args[0])
        return (call.order[0].value,), (shape, call.order[0].direction or "ASC", *ranks)
    forms = {"median": "median(x)", "percentile": "percentile(x, p), without a frequency"}
    accepted = forms.get(name, f"{name}(p) WITHIN GROUP (ORDER BY x)")
    raise _fail(sql, call, f"{name} is supported as {accepted}")


def _mode(sql: str, call: Call) -> tuple[tuple[Node, ...], tuple[Option, ...]]:
    """The argument of a mode, and its tie-break: by default the least (ASC), open in Spark."""
    args = call.args
    if not args and len(call.order) == 1:
        # As in Spark: with DESC the greatest of tied values, else the least.
        return (call.order[0].value,), (call.order[0].direction or "ASC",)
    flagged = len(args) == 2 and isinstance(args[1], Literal) and args[1].kind == "boolean"
    if call.order or not (len(args) == 1 or flagged):
        raise _fail(
            sql,
            call,
            "mode is supported as mode(x), mode(x, true), mode() WITHIN GROUP (ORDER BY x)",
        )
    return args[:1], ("ASC",)


def _listed(sql: str, call: Call) -> tuple[tuple[Node, ...], tuple[Option, ...]]:
    """The arguments of listagg: values and order; and its constants: separator and direction."""
    args = call.args
    if len(args) not in (1, 2):
        raise _fail(sql, call, "listagg takes (x) or (x, separator)")
    given = args[1] if len(args) == 2 else Literal("null", "NULL")
    separator = "" if isinstance(given, Literal) and given.kind == "null" else None
    if isinstance(given, Literal) and separator is None:
        separator = string_value(given)
    if separator is None:
        raise _fail(sql, given, "listagg: the separator must be a constant text")
    ways = {one.direction or "ASC" for one in call.order}
    if len(ways) > 1:
        raise _fail(sql, call, "listagg: WITHIN GROUP is supported in one direction, ASC or DESC")
    itself = [normal(one.value) for one in call.order] == [normal(args[0])]
    if not call.order or (call.distinct and itself):
        return args[:1], (separator, *(ways or ("ASC",)))
    if call.distinct:
        raise _fail(sql, call, "listagg(DISTINCT x): WITHIN GROUP is ORDER BY x, as in Spark")
    # A struct, so that rows with a null order value are kept; they come first.
    by = Call("struct", tuple(one.value for one in call.order), at=call.order[0].at)
    return (args[0], by), (separator, *ways)


def _number(sql: str, name: str, field: str, node: Node) -> float:
    if isinstance(node, Literal) and node.kind == "number":
        return float(node.text.upper().rstrip("BDFLSY"))
    raise _fail(sql, node, f"{name}: {field} must be a constant number, not {write(node)}")


def _whole(sql: str, name: str, field: str, node: Node) -> int:
    if isinstance(node, Literal) and node.text.isdigit() and int(node.text) > 0:
        return int(node.text)
    raise _fail(
        sql, node, f"{name}: {field} must be a constant whole number above 0, not {write(node)}"
    )
