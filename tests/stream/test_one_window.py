"""SQL over answers, by Spark's plans of it: what keeps windows separate, and what combines them.

The plans are Spark's JSON, reduced to the fields that weft reads; `tests/spark/test_finishing.py`
tests random statements with real plans.
"""

from __future__ import annotations

from typing import Any

import pytest

from weft.stream.one_window import Answers, Leaves, Stays, judge

PLAN = "org.apache.spark.sql.catalyst.plans.logical."
EXPRESSION = "org.apache.spark.sql.catalyst.expressions."
TEN, TWENTY, SESSION, UNEVEN = (
    Answers(f"a{kind}", ("k",), kind) for kind in ("0", "1", "session", "uneven")
)


def node(kind: str, *children: list[Any], **said: Any) -> list[Any]:
    inside = [one for child in children for one in child]
    return [{"class": kind, "num-children": len(children), **said}, *inside]


def attribute(number: int, name: str = "x") -> list[Any]:
    return node(f"{EXPRESSION}AttributeReference", name=name, exprId={"id": number})


def alias(number: int, child: list[Any], name: str = "x") -> list[Any]:
    return node(f"{EXPRESSION}Alias", child, name=name, exprId={"id": number})


def field(child: list[Any], ordinal: int) -> list[Any]:
    return node(f"{EXPRESSION}GetStructField", child, ordinal=ordinal)


def minus(child: list[Any], by: int) -> list[Any]:
    """As Spark's window_time has it."""
    literal = node(f"{EXPRESSION}Literal", value=str(by))
    conversion = f"{EXPRESSION}PreciseTimestampConversion"
    return node(conversion, node(f"{EXPRESSION}Subtract", node(conversion, child), literal))


def equal(one: list[Any], other: list[Any]) -> list[Any]:
    return node(f"{EXPRESSION}EqualTo", one, other)


def answers(of: Answers, base: int = 0) -> list[Any]:
    """The answers of a query: `window` has the number base + 1, `k` base + 2, `n` base + 3."""
    output = [attribute(base + at, name) for at, name in enumerate(("window", "k", "n"), start=1)]
    read = node(f"{PLAN}Range", output=[])
    function = node(f"{EXPRESSION}PythonUDF", name=of.name)
    return node(f"{PLAN}MapInArrow", read, functionExpr=function, output=output)


def project(child: list[Any], *items: list[Any]) -> list[Any]:
    return node(f"{PLAN}Project", child, projectList=list(items))


def grouped(child: list[Any], *keys: list[Any]) -> list[Any]:
    items = [*keys, alias(99, attribute(3))]
    return node(f"{PLAN}Aggregate", child, groupingExpressions=list(keys),
                aggregateExpressions=items)  # fmt: skip


def join(one: list[Any], other: list[Any], condition: list[Any] | None, kind: str = "Inner") -> Any:
    said = {"object": f"org.apache.spark.sql.catalyst.plans.{kind}$"}
    return node(f"{PLAN}Join", one, other, joinType=said, condition=condition)


WINDOW, KEY, START, END = attribute(1), attribute(2), field(attribute(1), 0), field(attribute(1), 1)


@pytest.mark.parametrize("key", [WINDOW, START, END, minus(END, 1)])
def test_groups_of_a_window_stay_within_it(key: list[Any]) -> None:
    plan = grouped(project(answers(TEN), alias(7, key), attribute(3)), attribute(7))
    assert judge(plan, [TEN]) == Stays(None)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [((), "an aggregate"), ((KEY,), "an aggregate"), ((attribute(3),), "an aggregate")],
)
def test_groups_without_the_window_leave_it(keys: tuple[list[Any], ...], reason: str) -> None:
    found = judge(grouped(answers(TEN), *keys), [TEN])
    assert isinstance(found, Leaves)
    assert found.reason.startswith(reason)


def test_sessions_that_start_together_end_apart() -> None:
    by_end = grouped(project(answers(SESSION), alias(7, END)), attribute(7))
    by_start = grouped(project(answers(SESSION), alias(7, START)), attribute(7))
    assert judge(by_end, [SESSION]) == Stays(None)
    assert isinstance(judge(by_start, [SESSION]), Leaves)
    joined = judge(grouped(answers(SESSION), WINDOW), [SESSION])
    assert isinstance(joined, Leaves)  # Spark would join the sessions of several groups
    assert "sessions of several groups" in joined.reason


def test_a_union_keeps_what_its_sides_agree_on() -> None:
    sides = [answers(TEN), answers(TWENTY, 10)]

    def union(*items: list[Any]) -> list[Any]:
        parts = [project(side, item) for side, item in zip(sides, items, strict=True)]
        return grouped(node(f"{PLAN}Union", *parts), attribute(50))

    ends = union(alias(50, END), alias(51, field(attribute(11), 1)))
    starts = union(alias(50, START), alias(51, field(attribute(11), 0)))
    assert judge(ends, [TEN, TWENTY]) == Stays(None)
    assert isinstance(judge(starts, [TEN, TWENTY]), Leaves)
    assert isinstance(judge(union(alias(50, END), alias(51, attribute(12))), [TEN, TWENTY]), Leaves)


@pytest.mark.parametrize(("kind", "stays"), [("LeftSemi", True), ("Inner", False)])
def test_a_union_of_a_join_is_seen_through_or_refused(kind: str, stays: bool) -> None:
    """A join in one branch of a UNION must not affect how the other branch is judged."""
    joined = join(answers(TEN, 10), answers(TEN, 20), equal(attribute(11), attribute(21)), kind)
    union = node(f"{PLAN}Union", project(answers(TEN), WINDOW, KEY, attribute(3)), joined)
    found = judge(grouped(union, WINDOW), [TEN])
    assert isinstance(found, Stays if stays else Leaves)
    shifted = project(joined, alias(31, attribute(13)), attribute(12), attribute(13))
    union = node(f"{PLAN}Union", project(answers(TEN), WINDOW, KEY, attribute(3)), shifted)
    assert isinstance(judge(grouped(union, WINDOW), [TEN]), Leaves)


def test_starts_of_uneven_windows_and_other_arithmetic_tell_nothing() -> None:
    by_start = grouped(project(answers(UNEVEN), alias(7, START)), attribute(7))
    assert isinstance(judge(by_start, [UNEVEN]), Leaves)
    assert isinstance(judge(grouped(answers(UNEVEN), WINDOW), [UNEVEN]), Stays)
    literal = node(f"{EXPRESSION}Literal", value="9")
    added = node(f"{EXPRESSION}Add", END, literal)  # try_add makes null of many
    plan = grouped(project(answers(TEN), alias(7, added)), attribute(7))
    assert isinstance(judge(plan, [TEN]), Leaves)


def test_a_truncated_time_is_a_start() -> None:
    days = Answers("days", ("k",), "0", truncated={"n": "to_date(ts)"})
    assert isinstance(judge(grouped(answers(days), attribute(3)), [days]), Stays)


@pytest.mark.parametrize(
    ("of", "condition", "stays"),
    [
        (TEN, equal(WINDOW, attribute(11)), True),
        (TEN, equal(START, field(attribute(11), 0)), True),
        (TWENTY, equal(START, field(attribute(11), 0)), False),
        (TWENTY, equal(END, field(attribute(11), 1)), True),
        (TEN, equal(END, minus(field(attribute(11), 1), 1)), False),
        (TEN, equal(START, field(attribute(11), 1)), False),
        (TEN, equal(KEY, attribute(12)), False),
        (TEN, equal(WINDOW, WINDOW), False),
        (TEN, None, False),
    ],
)
def test_a_join_is_of_windows_that_end_together(
    of: Answers, condition: list[Any] | None, stays: bool
) -> None:
    found = judge(join(answers(TEN), answers(of, 10), condition), [TEN, of])
    assert isinstance(found, Stays if stays else Leaves)


@pytest.mark.parametrize(("kind", "stays"), [("Inner", True), ("LeftOuter", False)])
def test_the_other_side_of_an_outer_join_may_be_null(kind: str, stays: bool) -> None:
    joined = join(answers(TEN), answers(TEN, 10), equal(WINDOW, attribute(11)), kind)
    assert isinstance(judge(grouped(joined, attribute(11)), [TEN]), Stays if stays else Leaves)
    assert isinstance(judge(grouped(joined, WINDOW), [TEN]), Stays)


@pytest.mark.parametrize("kind", ["GlobalLimit", "Offset", "Sample", "Expand"])
def test_plans_that_are_not_known_to_be_right_are_refused(kind: str) -> None:
    assert isinstance(judge(node(f"{PLAN}{kind}", answers(TEN)), [TEN]), Leaves)


def test_a_subquery_in_an_expression_is_refused() -> None:
    subquery = node(f"{EXPRESSION}ScalarSubquery", plan=answers(TEN, 10))
    found = judge(node(f"{PLAN}Filter", answers(TEN), condition=subquery), [TEN])
    assert isinstance(found, Leaves)
    assert "a subquery" in found.reason


def test_rows_have_keys_if_they_are_answers_with_all_of_them() -> None:
    named = [alias(7, WINDOW, "window"), attribute(2, "k")]
    assert judge(project(answers(TEN), *named), [TEN]) == Stays(("k",))
    assert judge(project(answers(TEN), named[0]), [TEN]) == Stays(None)
    assert judge(project(answers(TEN), named[0], alias(8, KEY, "other")), [TEN]) == Stays(None)
