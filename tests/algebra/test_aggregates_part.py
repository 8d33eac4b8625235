"""Equal parts are stored once."""

import json

from weft.algebra.part import Part


def test_equal_parts_are_shared() -> None:
    assert len({Part("sum", ("x",)), Part("sum", ("x",)), Part("sum", ("x",), "y > 1")}) == 2


def test_counted_keeps_arguments_and_filter() -> None:
    part = Part("first_n", ("x",), "y > 1", (3,))
    assert part.counted() == Part("count", ("x",), "y > 1")


def test_to_dict_and_back() -> None:
    part = Part("kll", ("x",), "y > 1", (200, "value", 0.5))
    assert Part.from_dict(json.loads(json.dumps(part.to_dict()))) == part


def test_text() -> None:
    assert str(Part("count")) == "count(*)"
    assert str(Part("first_n", ("x",), None, (3,))) == "first_n(x, 3)"
