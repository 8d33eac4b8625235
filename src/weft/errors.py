"""Every error that weft raises on purpose.

    WeftError
    ├── QueryError              a query is wrong or not supported
    │   ├── WindowError         a range, slide or offset
    │   ├── AggregateError      an aggregate or its arguments
    │   ├── ExpressionError     a predicate, key or expression
    │   └── WorkloadError       a set of queries (duplicate names, mixed axes)
    ├── PlanError               a plan cannot be made or read
    │   └── BudgetError         a method exceeded its node or memory budget
    ├── FinalsError             a final structure cannot serve an aggregate
    ├── JobError                a job file has errors
    ├── EngineError             Spark cannot run the plan as asked
    └── CheckpointError         a stream's stored catalogue or state is unusable

An error names the query, the field, the value and what would be accepted.
"""

from __future__ import annotations


class WeftError(Exception):
    """Base of every error that weft raises on purpose."""


class QueryError(WeftError, ValueError):
    """A query is wrong or not supported."""


class WindowError(QueryError):
    """A range, slide or offset is not acceptable."""


class AggregateError(QueryError):
    """An aggregate is unknown or used in a way that cannot be shared."""


class ExpressionError(QueryError):
    """A predicate, key or expression cannot be understood or is not deterministic."""


class WorkloadError(QueryError):
    """A set of queries does not fit together."""


class PlanError(WeftError, ValueError):
    """A plan cannot be made as asked, or its stored form cannot be read."""


class BudgetError(PlanError):
    """A method exceeded its node or memory budget; the message says which method to use instead."""


class FinalsError(WeftError, ValueError):
    """A final structure cannot serve this aggregate; the message says which can."""


class JobError(WeftError, ValueError):
    """A job file has errors; the message has a line for each, with its place."""


class EngineError(WeftError):
    """Spark cannot run the plan as asked."""


class CheckpointError(WeftError):
    """A stream's stored catalogue or state is missing, damaged or of an unknown version."""
