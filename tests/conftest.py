"""Order: what is fast and pure fails first; Spark and slow tests come last.

Run in several processes (`make test`), each has a Spark of its own at most: the batch tests stay
together, and so do the streams.
"""

from pathlib import Path

import pytest

SPARK = Path(__file__).parent / "spark"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: (SPARK in item.path.parents, item.get_closest_marker("slow") is not None)
    )
    for item in items:
        if SPARK in item.path.parents:
            streams = SPARK / "streaming" in item.path.parents
            item.add_marker(pytest.mark.xdist_group("streams" if streams else "batch"))
