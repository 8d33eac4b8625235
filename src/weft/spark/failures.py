"""Error messages of Spark in one or two sentences, without the stack trace."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from weft.errors import EngineError
from weft.spark.connectors import CONNECTORS, connector, spark_version

_NOT_FOUND = ("DATA_SOURCE_NOT_FOUND", "STREAMING_PYTHON_DATA_SOURCE_NOT_FOUND")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")
_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Exception|Error)): (.*)$", re.MULTILINE)
# The exception that follows a traceback's indented lines, in one line or several.
_TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t]+.*\n|\n)+([A-Za-z_][\w.]*): "
    r"(.*(?:\n(?!\s*at |\n|Traceback|Caused by|During handling).*)*)",
    re.MULTILINE,
)
_STACK = re.compile(r"\n\s+at |\nJVM stacktrace|\n\nDriver stacktrace|\nTraceback |;\n'|\n== ")


def spark_message(error: BaseException) -> str | None:
    """The message of an error of Spark; None for other errors."""
    if isinstance(error, PySparkException):
        return _condition(error)
    if isinstance(error, Py4JNetworkError):
        return "Spark's JVM has gone away, perhaps for lack of memory (spark.driver.memory)"
    if isinstance(error, Py4JJavaError):
        return root_cause(str(error.java_exception.toString()), _trace(error))
    if isinstance(error, Py4JError):
        return short(str(error))
    return None


def condition_of(error: BaseException) -> str:
    """Spark's error condition, such as PATH_NOT_FOUND; empty if there is none."""
    if isinstance(error, PySparkException):
        return error.getCondition() or ""
    # Exceptions of Java classes are not converted; the condition is in their text.
    found = _CONDITION.search(str(error)) if isinstance(error, Py4JJavaError) else None
    return found[1] if found else ""


def is_unknown_format(error: BaseException) -> bool:
    """Whether Spark failed because a data source is missing."""
    # For known formats, such as kafka, Spark has a message without a condition.
    return condition_of(error) in _NOT_FOUND or "Failed to find data source" in str(error)


def has_format(spark: SparkSession, format: str) -> bool:
    """Whether Spark finds a data source of this name."""
    try:
        spark.read.format(format).load()
    except (PySparkException, Py4JJavaError) as error:
        return not is_unknown_format(error)  # any other error means that the format exists
    return True


def connector_advice(format: str) -> str:
    """How to get a connector onto Spark's class path."""
    name = format.lower()
    if name not in CONNECTORS:
        return (
            "check its spelling, or name its package in the job file under spark: "
            "spark.jars.packages"
        )
    try:
        connector(name).jars(spark_version())
    except EngineError as error:
        return str(error)
    return (
        f"add to the job file connectors: [{name}]; in Python, start Spark with "
        f"weft.spark.connectors.settings([{name!r}])"
    )


def short(text: str) -> str:
    """A message of Spark in one line, without the plan or stack trace that follows.

    >>> short("[UNRESOLVED] A column `x`. SQLSTATE: 42703; line 1 pos 4;\\n'Project [x]\\n+- ...")
    '[UNRESOLVED] A column `x`.'
    """
    text = _STACK.split(text)[0]
    text = re.sub(r"\s*SQLSTATE: \w+", "", text)
    return re.sub(r"; line \d+ pos \d+;?$", "", " ".join(text.split()))


def root_cause(first: str, trace: str = "") -> str:
    """The innermost cause with a message, or else the first message.

    >>> root_cause("org.apache.spark.SparkException: Job aborted", "x\\nCaused by: "
    ...            "java.io.IOException: disk full\\n\\tat a.b(C.java)")
    'disk full (IOException)'
    """
    python = python_cause(trace)
    if python is not None:
        return python
    found = [(name, said) for name, said in _CAUSE.findall(trace) if said.strip()]
    if not found:
        return short(first)
    name, said = found[-1]
    return f"{short(said)} ({name.rsplit('.', 1)[-1]})"


def python_cause(trace: str) -> str | None:
    """The exception at the end of a Python worker's traceback; None if there is no traceback.

    >>> python_cause("Job aborted: An exception was thrown from the Python worker:\\n"
    ...              "Traceback (most recent call last):\\n  File \\"x.py\\", line 1, in f\\n"
    ...              "weft.errors.EngineError: query 'q': sum overflows\\n\\n\\tat a.b(C.scala)")
    "query 'q': sum overflows (EngineError)"
    """
    found = _TRACEBACK.findall(trace)
    if not found:
        return None
    name, said = found[-1]
    return f"{short(said)} ({name.rsplit('.', 1)[-1]})"


def _condition(error: PySparkException) -> str:
    if condition_of(error) == "JAVA_GATEWAY_EXITED":
        return "Java does not start, which Spark runs on: `weft doctor` says what is missing"
    text = str(error)
    kind = type(error).__name__
    if kind == "PythonException":
        return python_cause(text) or short(text)
    if "[STREAM_FAILED]" in text or kind == "StreamingQueryException":
        said = text.split("terminated with exception: ", 1)[-1]
        return f"the stream failed: {root_cause(said, text)}"
    if kind == "UnknownException":
        return root_cause(text, text)
    return short(text)


def _trace(error: Py4JJavaError) -> str:
    try:
        return str(error)
    except Py4JError:  # the JVM is gone, and so is its stack trace
        return ""
