"""Switches off Spark's variable substitution, so that `${...}` in SQL is not replaced.

Spark replaces `${...}` by settings, environment variables and JVM properties before it parses, so
the text that was checked would not be the text that runs. weft switches that off while it passes
SQL to Spark, and restores the session's setting afterwards.
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
"""By session: how many callers are inside, and the setting to restore after the last one leaves."""


@contextmanager
def as_written(spark: SparkSession) -> Iterator[None]:
    """SQL is parsed without substitution inside this context; nestable and thread-safe."""
    session = session_identity(spark)
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
    """An object that works on a session."""

    @property
    def spark(self) -> SparkSession: ...


Method = TypeVar("Method", bound=Callable[..., Any])


def texts_as_written(method: Method) -> Method:
    """Decorates a method that passes SQL to Spark, to switch off substitution."""

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


def session_identity(spark: SparkSession) -> str:
    """The identity of a session; Python may have several objects for one session."""
    if hasattr(spark, "_jsparkSession"):
        return str(spark._jsparkSession.sessionUUID())
    return str(spark.client._session_id)  # Spark Connect
