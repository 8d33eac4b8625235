"""The application: a JSON API over a source, its OpenAPI description, and the page's files."""

from __future__ import annotations

import threading
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import StringConstraints
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from weft import __version__
from weft.errors import EngineError, WeftError
from weft.query.names import LONGEST
from weft.serve import changing, events
from weft.serve.answers import latest_answers
from weft.serve.as_of import Asking
from weft.serve.files import page_files
from weft.serve.guard import App, Policy, RequestGuard
from weft.serve.models import (
    Answers,
    AsOfAnswers,
    Detail,
    Done,
    Live,
    Meta,
    NewQuery,
    PlanView,
    Preview,
    Problem,
    QueryText,
    Refusal,
)
from weft.serve.preview import place_of, preview, read_queries
from weft.serve.query_text import shown_sql
from weft.serve.source import ApiSource, Snapshot
from weft.serve.stream import StreamSource
from weft.serve.view import plan_view

REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Refusal, "description": why}
    for code, why in (
        (400, "The request cannot be served."),
        (401, "The token is missing or wrong."),
        (403, "Refused: another site's page, or a read-only dashboard."),
        (404, "There is no such query."),
        (408, "The body took too long to arrive."),
        (409, "The stream cannot do that now."),
        (413, "The body is too large."),
        (422, "The request does not have the required form."),
    )
}
LISTENING: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
    429: {"model": Refusal, "description": "Too many pages listen already."},
}
BUSY: dict[int | str, dict[str, Any]] = {
    429: {"model": Refusal, "description": "Too many clients are asking the stream already."},
}
MESSAGE = 4000
"""Most characters of an error's message, which may quote the request; no client needs all of it."""
KeyText = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Name = Annotated[str, Path(min_length=1, max_length=LONGEST, pattern=r"^[^/]+$")]


class PlanText:
    """The plan's JSON, made once per change, however many pages request it."""

    def __init__(self, source: ApiSource) -> None:
        self._source = source
        self._made: tuple[Snapshot, bytes] | None = None

    def get(self) -> tuple[int, bytes]:
        """The change's number and the JSON."""
        now, made = self._source.snapshot(), self._made
        if made is None or made[0] is not now:
            view = plan_view(now, self._source.before())
            made = self._made = (now, view.model_dump_json().encode())
        return now.change, made[1]


def make_app(source: ApiSource, policy: Policy, stopping: threading.Event | None = None) -> App:
    """The application behind its guard; setting `stopping` ends the event streams of all pages."""
    app = FastAPI(
        title="weft dashboard",
        version=__version__,
        description="Shows the plan and the state of a stream, and changes its queries.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,  # both load scripts from elsewhere
    )
    _errors(app)
    _reading(app, source, policy, stopping or threading.Event())
    _changing(app, source)
    _page(app)
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    return RequestGuard(app, policy)


def _reading(app: FastAPI, source: ApiSource, policy: Policy, stopping: threading.Event) -> None:
    text = PlanText(source)
    text.get()  # so that the first page need not wait for it
    listeners = events.Listeners()

    @app.get("/api/meta", responses=REFUSALS)
    def meta() -> Meta:
        """What this server shows, and what may be changed."""
        why = "This dashboard is read-only." if policy.read_only else changing.obstacle(source)
        return Meta(
            version=__version__,
            source=source.kind,
            name=source.name,
            read_only=policy.read_only,
            locked=policy.locked,
            changes=not why,
            why=why,
            time=source.time if isinstance(source, StreamSource) else None,
        )

    @app.get("/api/plan", response_model=PlanView, responses={304: {}, **REFUSALS})
    def plan(request: Request) -> Response:
        """The plan: trees, queries, slices, coverage, costs, and the effects of the last change."""
        change, body = text.get()
        tag = f'"{change}-{len(body)}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(body, media_type="application/json", headers={"etag": tag})

    @app.get("/api/live", responses=REFUSALS)
    def live() -> Live:
        """How the stream is doing, with its last micro-batches."""
        return events.live_view(source)

    @app.get(
        "/api/events",
        response_class=Response,
        responses={**REFUSALS, **LISTENING},
    )
    async def stream_events() -> Response:
        """Server-sent events `live`, each with the part of the body of `/api/live` that is new."""
        full = refusal(429, "Listeners", f"{listeners.most} pages listen already")
        return events.EventStream(events.events(source, stopping), listeners, full)

    @app.get("/api/queries/{name}", responses=REFUSALS)
    def query(name: Name) -> Detail:
        """A query as SQL."""
        asked = _asked(source.snapshot(), name)
        return Detail(name=asked.name, sql=shown_sql(asked))

    @app.get("/api/queries/{name}/answers", responses=REFUSALS)
    def answers(name: Name, limit: Annotated[int, Query(ge=1, le=5000)] = 500) -> Answers:
        """The latest answers of a query, if its sink can be read."""
        snapshot = source.snapshot()
        entry = snapshot.entries.get(name.lower())
        sink = source.sink() if isinstance(source, StreamSource) else None
        number = entry.number if entry else None
        return latest_answers(sink, _asked(snapshot, name), number, limit)

    asking = Asking(source)

    @app.get("/api/answers", responses={**REFUSALS, **BUSY})
    def as_of(
        query: Annotated[str, Query(min_length=1, max_length=LONGEST)],
        at: Annotated[str | None, Query(max_length=64)] = None,
        key: Annotated[list[KeyText], Query(max_length=32)] = [],  # noqa: B006
        limit: Annotated[int, Query(ge=1, le=5000)] = 500,
        max_age: Annotated[str | None, Query(max_length=64)] = None,
    ) -> AsOfAnswers:
        """A query's answers for the last window that ends at or before `at`, or the current one.

        They come from the state of the running stream, without waiting for the watermark. `key` is
        `column=value`, or just `column` for null, and is repeatable. `max_age`, such as
        `5 seconds`, accepts a cached answer of at most that age.
        """
        return asking.answer(_asked(source.snapshot(), query).name, at, key, limit, max_age)

    @app.post("/api/preview", responses=REFUSALS)
    def try_out(asked: QueryText, request: Request) -> Preview:
        """Which tree each query would join and what it would cost, or the error and its position.

        Nothing is changed.
        """
        queries = _read(source, asked)
        told = preview(source.snapshot(), queries)
        # Clients with read access only must not cause work for the running stream.
        may = not policy.read_only and policy.admits(request.headers.get("authorization", ""))
        needs = changing.needs(source, queries) if may else None
        return told.model_copy(update={"needs": needs})


def _changing(app: FastAPI, source: ApiSource) -> None:
    secure: dict[str, Any] = {
        "responses": REFUSALS,
        "openapi_extra": {"security": [{"token": []}]},
    }

    @app.post("/api/queries", status_code=201, **secure)
    def add(asked: NewQuery) -> Done:
        """Add queries to the stream."""
        changing.changeable(source)
        queries, backfill = _read(source, asked), asked.backfill
        return changing.add(source, queries, sql=asked.sql, name=asked.name, backfill=backfill)

    @app.delete("/api/queries/{name}", **secure)
    def drop(name: Name) -> Done:
        """Drop a query; its state is freed."""
        return _change("dropped", name)

    @app.post("/api/queries/{name}/pause", **secure)
    def pause(name: Name) -> Done:
        """Pause a query: it delivers no answers, but its state is kept up to date."""
        return _change("paused", name)

    @app.post("/api/queries/{name}/resume", **secure)
    def resume(name: Name) -> Done:
        """Resume a paused query: it is answered again from the next window that closes."""
        return _change("resumed", name)

    def _change(verb: changing.Verb, name: str) -> Done:
        return changing.change(source, verb, _asked(source.snapshot(), name).name)


def _read(source: ApiSource, asked: QueryText) -> Any:
    time = source.time if isinstance(source, StreamSource) else None
    return read_queries(asked.sql, asked.name, time, source.snapshot())


def _asked(snapshot: Snapshot, name: str) -> Any:
    for query in snapshot.plan.queries:
        if query.name.lower() == name.lower():
            return query
    if not snapshot.plan.queries:
        raise EngineError("this plan is made of bare windows and has no queries to look at")
    raise HTTPException(404, f"no query {name[:80]!r} in this plan")


def _page(app: FastAPI) -> None:
    for path, file in page_files().items():

        def give(request: Request, file: Any = file) -> Response:
            headers = {"etag": file.tag, "cache-control": "no-cache"}
            if request.headers.get("if-none-match") == file.tag:
                return Response(status_code=304, headers=headers)
            return Response(file.body, media_type=file.type, headers=headers)

        app.add_route(path, give, methods=["GET"], include_in_schema=False)


def refusal(status: int, kind: str, message: str, **headers: str) -> JSONResponse:
    """An error in the form that every response of the API uses."""
    short = message if len(message) <= MESSAGE else f"{message[:MESSAGE]}..."
    problem = Problem(kind=kind, message=short, place=place_of(message))
    return JSONResponse(Refusal(error=problem).model_dump(), status, headers=headers)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(WeftError)
    def weft_error(request: Request, error: WeftError) -> JSONResponse:
        status = 400 if isinstance(error, ValueError) else 409
        return refusal(status, type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)
    def form(request: Request, error: RequestValidationError) -> JSONResponse:
        told = "; ".join(
            f"{'.'.join(str(step) for step in one['loc'])}: {one['msg']}" for one in error.errors()
        )
        return refusal(422, "Form", told)

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> JSONResponse:
        kinds = {404: "NotFound", 405: "Method"}
        headers = dict(error.headers or {})
        return refusal(
            error.status_code, kinds.get(error.status_code, "HTTP"), str(error.detail), **headers
        )

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = FastAPI.openapi(app)
            schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]
