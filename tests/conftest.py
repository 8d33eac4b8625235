"""Order: what is fast and pure fails first; Spark and slow tests come last."""

from pathlib import Path

import pytest

SPARK = Path(__file__).parent / "spark"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: (SPARK in item.path.parents, item.get_closest_marker("slow") is not None)
    )
