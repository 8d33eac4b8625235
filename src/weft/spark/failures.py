"""What Spark says when it fails, in a sentence or two and without its stack."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import __version__ as SPARK_VERSION
from pyspark.errors import PySparkException

_PACKAGES = {
    "kafka": f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_VERSION}",
    "avro": f"org.apache.spark:spark-avro_2.13:{SPARK_VERSION}",
    "kinesis": f"org.apache.spark:spark-streaming-kinesis-asl_2.13:{SPARK_VERSION}",
    "protobuf": f"org.apache.spark:spark-protobuf_2.13:{SPARK_VERSION}",
    "delta": "io.delta:delta-spark_2.13:4.0.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
}
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")
_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Exception|Error)): (.*)$", re.MULTILINE)
_STACK = re.compile(r"\n\s+at |\nJVM stacktrace|\n\nDriver stacktrace|\nTraceback |;\n'|\n== ")


def spark_message(error: BaseException) -> str | None:
    """What went wrong, if it went wrong in Spark; None for an error that is not Spark's."""
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
    """Spark's name for what went wrong, such as PATH_NOT_FOUND; empty if it has none."""
    if isinstance(error, PySparkException):
        return error.getCondition() or ""
    # Java's own kinds of exception come through as they are, with the name in their text.
    found = _CONDITION.search(str(error)) if isinstance(error, Py4JJavaError) else None
    return found[1] if found else ""


def connector_advice(format: str) -> str:
    """How to get a connector onto Spark's class path."""
    package = _PACKAGES.get(format.lower())
    if package is None:
        return (
            "check its spelling, or name its package in the job file under spark: "
            "spark.jars.packages"
        )
    also = " and install delta-spark" if format.lower() == "delta" else ""
    return f"add to the job file, under spark:, spark.jars.packages: {package}{also}"


def short(text: str) -> str:
    """A message of Spark without the plan or stack behind it, in one line.

    >>> short("[UNRESOLVED] A column `x`. SQLSTATE: 42703; line 1 pos 4;\\n'Project [x]\\n+- ...")
    '[UNRESOLVED] A column `x`.'
    """
    text = _STACK.split(text)[0]
    text = re.sub(r"\s*SQLSTATE: \w+", "", text)
    return re.sub(r"; line \d+ pos \d+;?$", "", " ".join(text.split()))


def root_cause(first: str, trace: str = "") -> str:
    """The innermost cause that says anything, else the message that there is.

    >>> root_cause("org.apache.spark.SparkException: Job aborted", "x\\nCaused by: "
    ...            "java.io.IOException: disk full\\n\\tat a.b(C.java)")
    'disk full (IOException)'
    """
    found = [(name, said) for name, said in _CAUSE.findall(trace) if said.strip()]
    if not found:
        return short(first)
    name, said = found[-1]
    return f"{short(said)} ({name.rsplit('.', 1)[-1]})"


def _condition(error: PySparkException) -> str:
    if condition_of(error) == "JAVA_GATEWAY_EXITED":
        return "Java does not start, which Spark runs on: `weft doctor` says what is missing"
    text = str(error)
    kind = type(error).__name__
    if kind == "PythonException":
        lines = [
            line for line in text.splitlines() if re.match(r"\s*[\w.]+(Error|Exception): ", line)
        ]
        return short(lines[-1] if lines else text)
    if "[STREAM_FAILED]" in text or kind == "StreamingQueryException":
        said = text.split("terminated with exception: ", 1)[-1]
        return f"the stream failed: {root_cause(said, text)}"
    if kind == "UnknownException":
        return root_cause(text, text)
    return short(text)


def _trace(error: Py4JJavaError) -> str:
    try:
        return str(error)
    except Py4JError:  # the JVM is gone, and its stack with it
        return ""
