"""The JSON that the API takes and gives; its OpenAPI description is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weft.query.names import LONGEST

SQL = 32_768
"""Most characters of SQL in a request."""


class ClientRequest(BaseModel):
    """The base of what clients send; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class QueryText(ClientRequest):
    """Queries in SQL."""

    sql: Annotated[str, Field(min_length=1, max_length=SQL)]
    name: Annotated[str, Field(min_length=1, max_length=LONGEST)] | None = None
    """The query's name; a comment `-- name: x` in the SQL names it too."""


class NewQuery(QueryText):
    """Queries to be added to the stream."""

    backfill: bool = False
    """Also answer open windows whose slices are still in state."""


class Place(BaseModel):
    """Where in the text an error is, counted from 1."""

    line: int
    column: int


class Problem(BaseModel):
    """Why a request was refused."""

    kind: str
    message: str
    place: Place | None = None


class Refusal(BaseModel):
    """The body of every answer that is an error."""

    error: Problem


class Meta(BaseModel):
    """What this server shows, and what may be changed."""

    version: str
    source: Literal["job", "checkpoint", "plan"]
    name: str
    read_only: bool
    locked: bool
    """Whether every other request needs the token."""
    changes: bool
    """Whether queries can be added, dropped and paused here."""
    why: str
    """Why they cannot; empty if they can."""
    time: str | None
    """The stream's time column."""


class QueryView(BaseModel):
    """A query in the plan. Times are units of the axis: microseconds, or integers."""

    name: str
    tree: int
    range: int
    slide: int
    phase: int
    window: str
    aggs: dict[str, str]
    where: str | None
    by: list[str]
    having: str | None
    lateness: str | int | None
    """How long its windows stay open after the watermark has passed them, as a duration."""
    cost: float
    alone: float
    number: int | None
    paused: bool
    complete_from: int | None


class CoverageNode(BaseModel):
    """A window of a coverage plan, and the one that it is computed from."""

    window: str
    range: int
    slide: int
    upstream: int | None
    pieces: int | None
    factor: bool
    cost: float
    queries: list[int]


class TreeView(BaseModel):
    """A tree: queries that share one set of slices, or windows computed from windows."""

    number: int
    queries: list[int]
    edge_rate: float | None
    overlap: float
    cost: float
    unshared_cost: float
    cuts: list[tuple[int, int]]
    """The slices' edges as progressions `(offset, step)`, without those that lie in another."""
    stores: list[int]
    """The stores that keep the slices of its queries in a running stream."""
    coverage: list[CoverageNode] | None


class ChangeView(BaseModel):
    """What the last change did to the plan."""

    number: int
    added: list[str]
    dropped: list[str]
    paused: list[str]
    resumed: list[str]
    moved: list[str]
    """Queries that are served by another store since the change."""
    cost_before: float
    cost_after: float
    trees_before: int
    trees_after: int
    note: str


class FailureView(BaseModel):
    """A query that failed and is no longer answered."""

    name: str
    batch: int
    message: str
    expression: str
    """The expression that failed, as its author wrote it; empty if unknown."""


class PlanView(BaseModel):
    """The plan with everything that is needed to draw it."""

    change: int
    axis: Literal["time", "integer"]
    unit: int
    """Axis units per unit of rates: microseconds in a second, or 1 on an integer axis."""
    rate: float
    strategy: str
    model: Literal["paper", "engine"]
    engine: str
    cost: float
    no_share: float
    share_all: float
    notes: list[str]
    queries: list[QueryView]
    trees: list[TreeView]
    last_change: ChangeView | None
    failed: list[FailureView]


class Live(BaseModel):
    """How the stream is doing, by its last report."""

    state: Literal["running", "stopped", "failed", "new", "plan"]
    change: int
    at: float | None = None
    by: dict[str, Any] | None = None
    status: dict[str, Any] | None = None
    history: list[dict[str, Any]]
    """The last micro-batches; `run` distinguishes the runs of the stream."""
    marks: list[dict[str, Any]] = []
    """The last changes, failures, starts and stops."""


class Joined(BaseModel):
    """What a query would do to the plan."""

    name: str
    window: str
    tree: int
    joins: list[str]
    """The first of the queries that it would share slices with."""
    others: int
    """How many queries it would share with."""
    alone: float
    edges_before: float | None
    edges_after: float | None


class Preview(BaseModel):
    """What adding queries would do; nothing was changed."""

    queries: list[Joined]
    cost_before: float
    cost_after: float
    trees_before: int
    trees_after: int
    note: str
    needs: list[str] | None = None
    """Expressions that the running stream does not project, so that it would restart. None: no
    stream runs, or it did not say."""


class Detail(BaseModel):
    """A query as text."""

    name: str
    sql: str


class AnswerColumn(BaseModel):
    """A column of the answers."""

    name: str
    type: str
    role: Literal["key", "value"]


class Answers(BaseModel):
    """A query's latest answers, oldest window first."""

    query: str
    readable: bool
    reason: str
    """Why there are no answers to read, if there are none."""
    slide: int
    columns: list[AnswerColumn]
    windows: list[tuple[int, int]]
    """Start and end of each row's window, in axis units."""
    rows: list[list[Any]]


class AsOfColumn(BaseModel):
    """A column of as-of answers."""

    name: str
    type: str


class AsOfAnswers(BaseModel):
    """A query's answers for one window, as of a micro-batch."""

    query: str
    batch: int
    """The micro-batch: the answers count exactly the rows up to it."""
    open: bool
    """Whether more rows may come into the window."""
    window: tuple[int, int] | None
    """Its start and end, in axis units; null for sessions, of which `windows` has each."""
    watermark: int
    columns: list[AsOfColumn]
    windows: list[tuple[int, int]]
    """Start and end of each row's window."""
    rows: list[list[Any]]
    groups: int
    """The number of rows in all; `rows` has at most as many as were requested."""


class Done(BaseModel):
    """A change that was made."""

    queries: list[str]
    done: Literal["added", "dropped", "paused", "resumed"]
    by: Literal["running", "stored"]
    """Whether the running stream made the change, or it was written for the next start."""
