"""Texts reach Spark as they were written: `${...}` in them is not replaced.

Spark puts settings, environment variables and JVM properties in the place of `${...}` before it
parses, so what was checked would not be what runs. weft switches that off while it hands texts to
Spark, and puts the session's setting back afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from weft.errors import EngineError

SUBSTITUTE = "spark.sql.variable.substitute"
_lock = threading.Lock()
_using: dict[str, tuple[int, str | None]] = {}
"""By session: how many are inside, and the setting to put back when the last has left."""


@contextmanager
def as_written(spark: SparkSession) -> Iterator[None]:
    """Texts that are parsed inside are parsed as they are; may be nested, and used by threads."""
    session = _identity(spark)
    with _lock:
        inside, before = _using.get(session, (0, None))
        if inside == 0:
            before = spark.conf.get(SUBSTITUTE, None)
            _switch_off(spark)
        _using[session] = inside + 1, before
    try:
        yield
    finally:
        with _lock:
            inside, before = _using.pop(session)
            if inside > 1:
                _using[session] = inside - 1, before
            elif before is None:
                spark.conf.unset(SUBSTITUTE)
            else:
                spark.conf.set(SUBSTITUTE, before)


class HasSpark(Protocol):
    """Whatever works on a session."""

    @property
    def spark(self) -> SparkSession: ...


Method = TypeVar("Method", bound=Callable[..., Any])


def texts_as_written(method: Method) -> Method:
    """A method that hands texts to Spark as they were written."""

    @wraps(method)
    def inside(self: HasSpark, /, *args: Any, **kwargs: Any) -> Any:
        with as_written(self.spark):
            return method(self, *args, **kwargs)

    return cast(Method, inside)


def _switch_off(spark: SparkSession) -> None:
    try:
        spark.conf.set(SUBSTITUTE, "false")
        off = str(spark.conf.get(SUBSTITUTE, "true")).lower() == "false"
    except PySparkException:
        off = False
    if not off:
        raise EngineError(
            f"{SUBSTITUTE} cannot be switched off on this Spark, so that Spark might run another "
            f"query than the one that was checked: start Spark with {SUBSTITUTE}=false"
        )


def _identity(spark: SparkSession) -> str:
    """What tells one session from another; Python may have several objects for one."""
    if hasattr(spark, "_jsparkSession"):
        return str(spark._jsparkSession.sessionUUID())
    return str(spark.client._session_id)  # Spark Connect
