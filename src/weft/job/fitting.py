"""What a schema cannot check in a job: durations, variables, and fields that must fit together."""

from __future__ import annotations

from collections.abc import Iterator

from weft.errors import WeftError
from weft.job.document import Document, Steps
from weft.job.model import FILE_FORMATS, Job
from weft.job.variables import is_name, variables
from weft.query.duration import parse_duration

_OFF = ("max_ahead", "idle")
"""Duration fields that also accept "off"."""


def misfits(document: Document, job: Job) -> list[str]:
    """The mistakes in a job that fits the schema, each with its place."""
    checks = (_variables, _durations, _source, _times, _places, _modes)
    jobs = [job.on(source) for source in job.tables.values()] or [job]
    jobs += [job.on(job.history)] if job.history is not None else []
    for check in checks:  # one kind at a time: later checks rely on earlier ones
        found = [one.at(steps, said) for one in jobs for steps, said in check(document, one)]
        if found:
            return list(dict.fromkeys(found))
    return []


def _variables(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    for steps in document.values:
        value = document.value
        for step in steps:
            value = value[step]
        if not (isinstance(value, str) and _is_filled(steps)):
            continue
        for name in variables(value):
            if not is_name(name):
                yield steps, f"has ${{{name}}}, which is not the name of a variable"
            elif name not in job.environ:
                yield steps, f"needs the environment variable {name}, which is not set"


def _durations(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    given = {
        ("source", "watermark"): job.source.watermark,
        ("source", "max_ahead"): None
        if job.source.max_ahead in ("auto", "off")
        else job.source.max_ahead,
        ("trigger",): None if _available_now(job.trigger) else job.trigger,
        ("idle",): None if job.idle == "off" else job.idle,
    }
    for steps, text in given.items():
        if text is None:
            continue
        name = str(steps[-1])
        try:
            length = parse_duration(text, name)
        except WeftError:
            also = {"trigger": "available_now, or "}.get(name, "off, or " if name in _OFF else "")
            example = "a duration such as 30 seconds or 1 hour 15 minutes"
            yield steps, f"={text!r}: accepted is {also}{example}"
            continue
        if length < 0:
            yield steps, f"={text!r}: must not be negative"
        elif length == 0 and name == "idle":
            yield steps, f"={text!r}: must be positive; off is for none"


def _source(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    source = job.source
    if source.table is not None and source.path:
        yield ("source", "table"), f"={source.table!r}: a source has a table or a path, not both"
    named = source.path or source.table or "path" in source.options
    if source.format.lower() in FILE_FORMATS and not named:
        yield ("source",), f"lacks 'path': the format {source.format} reads files"
    if source.format.lower() == "kafka":
        if "kafka.bootstrap.servers" not in source.options:
            yield ("source",), "lacks the option kafka.bootstrap.servers, which format kafka needs"
        topics = {"subscribe", "subscribepattern", "assign"}
        if not topics & {name.lower() for name in source.options}:
            yield (
                ("source",),
                "lacks an option that names topics: subscribe, subscribePattern or assign",
            )
        if source.values == "avro" and source.avro_schema is None:
            yield ("source", "values"), "='avro': needs avro_schema, the file of the Avro schema"
    if source.avro_schema is not None and source.values != "avro":
        yield ("source", "avro_schema"), f"={source.avro_schema!r}: goes with values: avro"


def _times(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    """Queries in the job file whose time column differs from the job's."""
    if "time" not in document.value.get("source", {}):
        return
    inside = {query.name for statement in job.statements for query in statement.queries}
    for query in job.queries:
        said = query.source.time if query.source is not None else None
        time = job.source.time if said is None or query.name in inside else said.strip("`")
        if time.lower() != job.source.time.lower():
            yield (
                ("source", "time"),
                f"={job.source.time!r}: query {query.name!r} has its windows over {time!r}; a job "
                f"has one time column",
            )
            return


def _places(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    at = ".".join((*map(str, job.source.steps), "path"))
    used = {job.locate(path): at for path in job.source.path}
    given: dict[Steps, str | None] = {
        ("sink", "path"): None if job.sink is None else job.sink.path,
        ("checkpoint",): job.checkpoint,
        ("late_to",): job.late_to,
    }
    for steps, path in given.items():
        if path is None:
            continue
        before = used.setdefault(job.locate(path).rstrip("/"), ".".join(map(str, steps)))
        if before != ".".join(map(str, steps)):
            yield steps, f"={path!r}: is {before} already; each needs a place of its own"


def _modes(document: Document, job: Job) -> Iterator[tuple[Steps, str]]:
    engine, strategy = job.plan.get("engine"), job.plan.get("strategy")
    if job.output_mode == "update":
        if job.sink is not None and job.sink.kind in ("delta", "iceberg"):
            yield ("output_mode",), f"='update': a sink of kind {job.sink.kind} accepts append"
        if engine == "rewrite":
            yield ("output_mode",), "='update': the rewrite engine accepts append"
    finals = job.plan.get("finals", "auto")
    if engine == "rewrite" and finals != "auto":
        yield (
            ("plan", "finals"),
            f"={finals!r}: the rewrite engine combines slices in Spark SQL, by no structure; use "
            f"engine: operator",
        )
    if engine == "operator" and strategy in ("coverage", "factor"):
        yield (
            ("plan", "strategy"),
            f"={strategy!r}: makes windows from windows, which the operator engine does not; use "
            f"engine: rewrite, or a strategy such as weave",
        )

    if job.late == "deliver" and job.late_to is None:
        yield ("late",), "='deliver': say where to, with late_to: and a directory"
    if job.late == "count" and job.late_to is not None:
        yield ("late_to",), f"={job.late_to!r}: goes with late: deliver"
    if job.late == "deliver" and engine == "rewrite":
        yield (
            ("late",),
            "='deliver': the rewrite engine cannot say which rows; use engine: operator",
        )


def _available_now(trigger: str | None) -> bool:
    return trigger is not None and trigger.replace("_", "").lower() == "availablenow"


def _is_filled(steps: Steps) -> bool:
    """Whether variables in a field are expanded: those of paths, options and settings are."""
    if steps[0] in ("checkpoint", "late_to", "spark", "openlineage"):
        return True
    filled = {
        "source": ("path", "options", "table"),
        "sink": ("path", "servers", "topic", "options", "table", "url"),
    }
    return len(steps) > 1 and steps[1] in filled.get(str(steps[0]), ())
