"""What a dashboard shows: a job, a checkpoint or a stored plan, opened by its path."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from weft.errors import CheckpointError, JobError, PlanError, WeftError
from weft.plan.plan import Plan
from weft.sinks.files import Folder
from weft.stream.catalogue import Catalogue, Entry

Kind = Literal["job", "checkpoint", "plan"]
MOST = 20_000
"""Most queries of a plan that the page shows; `weft explain` shows larger plans."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The plan as of one change, and the catalogue that it comes from, if there is one."""

    change: int
    plan: Plan
    catalogue: Catalogue | None = None

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The catalogue's entries by name in lower case; empty for a stored plan."""
        listed = self.catalogue.entries if self.catalogue else ()
        return {entry.query.name.lower(): entry for entry in listed}


class ApiSource(Protocol):
    """What the API needs to know about a job, a checkpoint or a stored plan."""

    kind: Kind
    name: str

    def snapshot(self) -> Snapshot:
        """The plan as it is now."""
        ...

    def before(self) -> Snapshot | None:
        """The plan as it was before the last change; None if there was none."""
        ...

    def live(self) -> dict[str, Any]:
        """How the stream is doing: `state`, and what it last posted."""
        ...


class PlanSource:
    """A plan in a file, as written by `weft plan --json` or `Plan.to_dict`. It never changes."""

    kind: Kind = "plan"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self._snapshot = Snapshot(0, Plan.from_dict(data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, WeftError):
                raise
            raise PlanError(
                f"{path} is not a stored plan ({type(error).__name__}: {error}): accepted is what "
                f"`weft plan --json` prints"
            ) from None
        check_size(self._snapshot.plan)

    def snapshot(self) -> Snapshot:
        """The plan."""
        return self._snapshot

    def before(self) -> None:
        """Nothing: a stored plan has no past."""
        return

    def live(self) -> dict[str, Any]:
        """Nothing runs."""
        return {"state": "plan", "history": []}


def open_source(target: str) -> ApiSource:
    """Open a job file, the folder of a checkpoint or a stored plan, whichever the path is."""
    from weft.job.reading import is_job, load_job
    from weft.job.streams import as_stream
    from weft.serve.stream import StreamSource

    path = Path(target)
    if "://" in target or path.is_dir():
        location = target if "://" in target else str(path.resolve())
        if not Folder(location).sub("weft").sub("catalogue").names():
            raise CheckpointError(
                f"{target}: no stream has been started on this checkpoint yet; name its job file "
                f"to see the plan that it would start with"
            )
        return StreamSource(location, name=path.name)
    if not path.exists():
        raise JobError(f"{target} does not exist: accepted are a job, a checkpoint, a stored plan")
    if path.suffix.lower() != ".json" or is_job(path):
        job = as_stream(load_job(path, strict=False))
        checkpoint = job.locate(job.checkpoint) if job.checkpoint else None
        return StreamSource(checkpoint, name=path.name, job=job, job_file=path.resolve())
    return PlanSource(path)


def check_size(plan: Plan) -> None:
    """Refuse a plan that is too large for a page to show."""
    if len(plan.labels) > MOST:
        raise PlanError(
            f"the plan has {len(plan.labels):,} queries, and the page shows up to {MOST:,}: "
            f"use `weft explain` or `weft plan`"
        )
