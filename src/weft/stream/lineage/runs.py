"""When events are sent: a run of a query begins with START and ends with COMPLETE or FAIL.

started, added, resumed, replaced   START      the query is answered from now on
dropped, replaced, stopped          COMPLETE   it was answered until now
failed, stopped by an error         FAIL       with the error
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from weft.stream.events import Event
from weft.stream.lineage.facets import EVENT, PRODUCER, Described, column_lineage, dataset, facet
from weft.stream.lineage.transport import Transport


@dataclass(frozen=True)
class Run:
    """A run that has begun: the fields that all its events have."""

    identity: str
    job: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    outputs: tuple[Mapping[str, Any], ...]


class LineageRuns:
    """Sends the runs of a stream's queries; `describe` returns the description of a query by name.

    A query that only serves another's SQL over answers has no run: `describe` returns None for it.
    """

    def __init__(
        self,
        transport: Transport,
        describe: Callable[[str], Described | None],
        *,
        stream: str,
        engine: str,
        hide: Callable[[str], str],
    ) -> None:
        self._transport, self._describe, self._hide = transport, describe, hide
        self._stream, self._engine = stream, engine
        self._runs: dict[str, Run] = {}

    def tell(self, event: Event) -> None:
        """Send the lineage events that follow from an event."""
        name, facts = event.name, event.facts
        if name == "started":
            for query in facts["queries"]:
                self._start(query, event.at)
        elif name in ("added", "resumed"):
            self._start(facts["query"], event.at)
        elif name == "replaced":
            self._end(facts["query"], event.at)
            self._start(facts["query"], event.at)
        elif name == "dropped":
            self._end(facts["query"], event.at)
        elif name == "failed":
            self._end(facts["query"], event.at, facts["error"])
        elif name == "stopped":
            for query in list(self._runs):
                self._end(query, event.at, facts["error"])

    def close(self) -> None:
        """Send waiting events."""
        self._transport.close()

    def _start(self, name: str, at: float) -> None:
        if name in self._runs:  # it was only paused
            return
        told = self._describe(name)
        if told is None:
            return
        kind = {"processingType": "STREAMING", "integration": "WEFT", "jobType": "QUERY"}
        facets = facet("jobType", **kind)
        if told.sql is not None:
            facets |= facet("sql", query=self._hide(told.sql), dialect="spark")
        if told.query.owner is not None:
            facets |= facet("ownership", owners=[{"name": told.query.owner, "type": "OWNER"}])
        run = Run(
            str(uuid.uuid4()),
            {"namespace": "weft", "name": f"{self._stream}.{name}", "facets": facets},
            tuple(dataset(one) for one in told.inputs),
            (dataset(told.output, column_lineage(told)),),
        )
        self._runs[name] = run
        self._send("START", run, at)

    def _end(self, name: str, at: float, error: str | None = None) -> None:
        run = self._runs.pop(name, None)
        if run is not None:
            self._send("COMPLETE" if error is None else "FAIL", run, at, error)

    def _send(self, kind: str, run: Run, at: float, error: str | None = None) -> None:
        facets = facet("processing_engine", name="Spark", version=self._engine)
        if error is not None:
            said = self._hide(error)
            facets |= facet("errorMessage", message=said, programmingLanguage="Python")
        when = datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="milliseconds")
        self._transport.send(
            {
                "eventType": kind,
                "eventTime": when,
                "run": {"runId": run.identity, "facets": facets},
                "job": run.job,
                "inputs": list(run.inputs),
                "outputs": list(run.outputs),
                "producer": PRODUCER,
                "schemaURL": EVENT,
            }
        )
