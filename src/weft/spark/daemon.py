"""Spark's daemon for Python workers, with what weft's workers need at hand before they are forked.

Three things make workers start and answer sooner; none changes what they do:

- Arrow, pandas, Numba, Spark's messages about state and weft are loaded once, and not by every
  worker; so is what Numba knows of types before it takes its first function from the cache.
- Spark puts its own Python code first on the path as zip files, which Python compiles anew in
  every process, and reads through again at the beginning of every task. Where they lie in a pyspark
  that is installed, it is taken as it is installed.
- A worker collects garbage after every task. What was loaded before is left out of that.

`spark.python.daemon.module` names this module; `local_session` does.
"""

import gc
import sys
from importlib.util import find_spec


def prefer_installed() -> None:
    """Take Spark's zip files off the path if pyspark is installed beside them."""
    before = list(sys.path)
    sys.path[:] = [place for place in before if not _is_zip_of_spark(place)]
    found = find_spec("pyspark")
    if found is None or find_spec("py4j") is None or not _is_beside(found.origin, before):
        sys.path[:] = before


def _is_beside(origin: str | None, path: list[str]) -> bool:
    """Whether an installed pyspark is the very one that has Spark's zip files in it."""
    folder = (origin or "").replace("\\", "/").rpartition("/")[0]
    places = [place.replace("\\", "/") for place in path if _is_zip_of_spark(place)]
    return bool(folder) and all(place.startswith(f"{folder}/") for place in places)


def _is_zip_of_spark(place: str) -> bool:
    name = place.replace("\\", "/").rpartition("/")[2]
    return name.endswith(".zip") and name.startswith(("pyspark", "py4j"))


if __name__ == "__main__":
    prefer_installed()
    import pyarrow.pandas_compat  # noqa: F401
    import pyspark.sql.streaming.proto.StateMessage_pb2
    import pyspark.worker  # noqa: F401
    from numba.core.registry import cpu_target
    from pyspark.daemon import manager

    import weft.engine.preaggregate
    import weft.spark.streaming.operator
    import weft.stream.micro_batch  # noqa: F401

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    gc.collect()
    gc.freeze()
    manager()
