"""Whether a loom's answers are the plain queries' answers, in one Spark job."""

from __future__ import annotations

from typing import Any

from weft.spark.compare import Pair, compare
from weft.spark.loom import Loom
from weft.spark.verify import scaled


def assert_agree(loom: Loom, **options: Any) -> int:
    """Run the loom and compare every query with the plain one; return the rows compared."""
    with loom.run(**options) as results:
        pairs = []
        for query in loom.queries:
            expected, scales = scaled(loom.df, loom.axis, query)
            keys = ["window", *(key.name for key in query.keys)]
            pairs.append(Pair(query.name, keys, expected, results[query.name], scales))
        differences = compare(pairs)
    wrong = [f"{difference}\n{loom.queries[at]!r}" for at, difference in enumerate(differences)
             if not difference.ok]  # fmt: skip
    assert not wrong, "\n".join(wrong)
    return sum(difference.rows for difference in differences)
