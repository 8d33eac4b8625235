"""Refuses windows that a stream with its settings cannot answer, and says what to do instead."""

from __future__ import annotations

from weft.errors import EngineError
from weft.query.window import Session
from weft.stream.catalogue import Catalogue


def check_windows(catalogue: Catalogue) -> None:
    """Refuse the first window that cannot be answered."""
    _check_sessions(catalogue)
    _check_lateness(catalogue)


def _check_sessions(catalogue: Catalogue) -> None:
    """Refuse sessions in update mode, and sessions and calendar windows with engine='rewrite'."""
    settings = catalogue.settings
    named = [q.name for q in catalogue.queries if isinstance(q.window, Session)]
    if named and settings.mode == "update":
        raise EngineError(
            f"query {named[0]!r}: output_mode='update' gives early answers, and an open session "
            f"has no end yet: start with output_mode='append', as Spark's own sessions need"
        )
    named = [query.name for query in catalogue.queries if not query.window.has_fixed_length]
    if named and settings.engine == "rewrite":
        raise EngineError(
            f"query {named[0]!r}: engine='rewrite' has no sessions and no calendar windows on a "
            f"stream: use engine='operator'"
        )


def _check_lateness(catalogue: Catalogue) -> None:
    """Refuse the lateness of a query whose windows cannot close later than the stream's."""
    finished = {
        name.casefold(): query.name
        for query in catalogue.queries
        if query.finish is not None
        for name in (query.name, *query.finish.parts)
    }
    for query in catalogue.queries:
        if not query.lateness:
            continue
        given = f"query {query.name!r}: lateness={query.lateness_given!r}"
        if catalogue.settings.engine == "rewrite":
            raise EngineError(
                f"{given}: engine='rewrite' has Spark's watermark for all of its windows: use "
                f"engine='operator'"
            )
        if isinstance(query.window, Session):
            raise EngineError(
                f"{given}: sessions close by the stream's watermark only: leave lateness out, and "
                f"give the stream a longer watermark"
            )
        if query.name.casefold() in finished:
            raise EngineError(
                f"{given}: {finished[query.name.casefold()]!r} is SQL over the answers of windows "
                f"that close together: add the SELECT with the window as a query of its own, with "
                f"its lateness, or leave lateness out"
            )
