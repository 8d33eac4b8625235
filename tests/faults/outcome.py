"""The faults and their outcomes, as rows of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import EngineError
from weft.spark.failures import root_cause

if TYPE_CHECKING:
    from tests.faults.rig import Rig

RIGHT = "right answers"
STOPPED = "clear stop, then right answers"


@dataclass(frozen=True)
class Outcome:
    """One fault: what was done to the stream, what it did, and how it ended."""

    fault: str
    happened: str
    ended: str
    rows: int
    """The number of rows that were compared with the batch answer."""


Family = Callable[["Rig"], Iterable[Outcome]]
"""A family of faults, each injected into a separate stream."""


class Wrong(EngineError):
    """A stream gave a wrong answer, or did not stop with a clear error."""


def stopped_by(error: BaseException | str, *words: str) -> str:
    """The line of an error that gives the reason; it must contain all of the given words.

    Without words, for errors of Spark itself, it is the innermost cause.

    >>> stopped_by("aborted\\nCaused by: java.io.EOFException: cut short\\n\\tat a.b(C.java)")
    'cut short (EOFException)'
    """
    text = str(error)
    if not words:
        said = text.rsplit("terminated with exception: ", 1)[-1]
        return shortened(root_cause(said, said), "")
    for word in words:
        if word not in text:
            raise Wrong(f"the stop does not say {word!r}: {text[:500]}")
    line = next((line for line in text.splitlines() if words[0] in line), text)
    return shortened(line, words[0])


def shortened(line: str, around: str, most: int = 140) -> str:
    """The part of a line around a word, with paths shortened.

    >>> shortened("x" * 200 + " so /tmp/a/b/00001.json is damaged: put it back", "is damaged", 60)
    '... so 00001.json is damaged: put it back'
    >>> shortened("no room [STREAM_FAILED] Query [id = 1, runId = 2]", "no room")
    'no room'
    """
    before, spark, _ = line.partition(" [STREAM_FAILED]")
    line = before if spark and around in before else line
    line = re.sub(r"(?:file:)?/(?:[^/\s'\"]+/)+", "", " ".join(line.split()))
    at = max(0, line.find(around) - most // 2)
    cut = line[at : at + most]
    if at + most < len(line):
        cut = cut.rsplit(" ", 1)[0] + " ..."
    if at and " " in cut:
        cut = "... " + cut.split(" ", 1)[1]
    return cut


def table(outcomes: Iterable[tuple[str, Outcome]]) -> str:
    """The outcomes with their families as a Markdown table."""
    lines = [
        "| family | what was done | what happened | how it ended | rows compared |",
        "|---|---|---|---|---|",
    ]
    for family, one in outcomes:
        happened = one.happened.replace("|", "\\|")
        lines.append(f"| {family} | {one.fault} | {happened} | {one.ended} | {one.rows:,} |")
    return "\n".join(lines) + "\n"


def merged(page: str, marker: str, families: Sequence[str], run: Sequence[str], text: str) -> str:
    """A new table, with the page's old rows for families that were not run now.

    >>> old = "<!-- f -->\\n| family |\\n|---|\\n| a | 1 |\\n| b | 2 |\\n<!-- end of f -->"
    >>> print(merged(old, "f", ["a", "b"], ["b"], "| family |\\n|---|\\n| b | 3 |\\n"), end="")
    | family |
    |---|
    | a | 1 |
    | b | 3 |
    """
    before = page.partition(f"<!-- {marker} -->")[2].partition(f"<!-- end of {marker} -->")[0]
    head, new = text.splitlines()[:2], text.splitlines()[2:]
    kept = [line for line in before.splitlines() if _family(line) in set(families) - set(run)]
    rows = sorted([*kept, *new], key=lambda line: families.index(_family(line)))
    return "\n".join([*head, *rows]) + "\n"


def _family(line: str) -> str:
    return line.split("|")[1].strip() if line.startswith("| ") else ""


def write_between(page: Path, marker: str, text: str) -> None:
    """Replace the text between `<!-- marker -->` and `<!-- end of marker -->` in a page."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise EngineError(f"{page} has no place for {marker!r}: {begin.strip()} and {end}")
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")
