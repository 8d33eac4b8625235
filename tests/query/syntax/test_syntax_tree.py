"""Trees compare by content, and can be walked and rebuilt."""

from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Node, Op, rebuild, walk
from weft.query.syntax.writer import write

EVERYTHING = (
    "CASE a WHEN b THEN f(c) FILTER (WHERE d) ELSE CAST(e AS INT) END > g AND exists(h, i -> i > j)"
)


def test_places_do_not_matter() -> None:
    assert read_expression("a > 5") == read_expression("  a   >   5")
    assert hash(read_expression("a > 5")) == hash(read_expression("  a   >   5"))


def test_walk_reaches_every_name() -> None:
    names = [node.parts[0] for node in walk(read_expression(EVERYTHING)) if isinstance(node, Name)]
    assert names == list("abcdeghij")


def test_rebuild_changes_every_name() -> None:
    def upper(node: Node) -> Node:
        if isinstance(node, Name):
            return Name(tuple(part.upper() for part in node.parts))
        return rebuild(node, upper)

    assert write(upper(read_expression(EVERYTHING))) == (
        "CASE A WHEN B THEN f(C) FILTER (WHERE D) ELSE CAST(E AS INT) END > G "
        "AND exists(H, i -> I > J)"
    )


def test_rebuilding_nothing_keeps_the_node() -> None:
    node = read_expression("f(a) + b > c")
    assert isinstance(node, Op)
    assert rebuild(node, lambda child: child) is node


def test_a_unit_of_time_is_no_column() -> None:
    for text in ("timestampdiff(SECOND, a, b)", "DateAdd(minute, -5, a + b)"):
        node = read_expression(text)
        assert [part.parts[0] for part in walk(node) if isinstance(part, Name)] == ["a", "b"]
        renamed = rebuild(node, lambda child: child)
        assert write(renamed) == write(node)
    for text in ("f(second, a, b)", "datediff(`second`, a, b)", "datediff(second, a)"):
        assert sum(isinstance(part, Name) for part in walk(read_expression(text))) > 1
        assert "second" in write(read_expression(text))
