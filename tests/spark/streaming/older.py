"""A stream of which an older weft runs the first half, and the current one the second.

    git worktree add ../older <commit> && cd <the tree of today>
    PYTHONPATH=../older/src python tests/spark/streaming/older.py 0.2.0

writes `checkpoints/0.2.0.zip` beside this file: a checkpoint and the answers so far.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import weft

FOLDER = Path(__file__).with_name("checkpoints")
HALF = 6
PLACE = b"/stream"
"""The archive's placeholder for the folder in which it was made."""
GIVEN: dict[str, Any] = {"trigger": "available_now", "watermark": "5 minutes"}


def queries() -> list[weft.Query]:
    """A query for each kind of state: slices, structures, fragments, sessions, calendars."""
    aggs = {"n": "count(*)", "s": "sum(x)", "hi": "max(y)"}
    window = weft.Window(range="20 minutes", slide="30 seconds")
    return [
        weft.Query("sliding", aggs=aggs, window=window, by=["k"]),
        weft.Query("some", aggs={"a": "avg(d)"}, window=weft.Window(range="7 minutes"), where="b"),
        weft.Query(
            "kinds",
            aggs={"u": "count(DISTINCT g)", "d": "stddev(x)", "l": "sort_array(collect_set(g))"},
            window=weft.Window(range="10 minutes", slide="5 minutes"),
            by=["k"],
        ),
        weft.Query(
            "patient", aggs=aggs, window=weft.Window(range="5 minutes"), lateness="10 minutes"
        ),
        weft.Query("visits", aggs=aggs, window=weft.Session(gap="20 seconds"), by=["k"]),
        weft.Query("days", aggs=aggs, window=weft.Calendar(range="1 day", zone="Asia/Kolkata")),
    ]


def put(feed: Any) -> None:
    """Write the files of both halves, without late rows; the last row closes all windows."""
    for at in range(2 * HALF):
        feed.minutes(4 * at, 4 * at + 6, late=3)
    feed.end()


def main(version: str) -> None:
    """Run the first half, and archive the checkpoint and the answers."""
    from conftest import Feed
    from weft.spark.session import local_session

    spark = local_session(2, settings={"spark.sql.session.timeZone": "UTC"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        feed = Feed(folder / "in")
        put(feed)
        for path in sorted(feed.folder.iterdir())[HALF:]:
            path.unlink()
        loom = weft.Loom(feed.stream(spark), time="ts", watermark=GIVEN["watermark"])
        for query in queries():
            loom.add(query)
        made = loom.start(
            f"{folder}/out", checkpoint=f"{folder}/ck", trigger=GIVEN["trigger"], buckets=2
        )
        made.await_termination()
        spark.stop()
        FOLDER.mkdir(exist_ok=True)
        target = FOLDER / f"{version}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.glob("out/**/*")) + sorted(folder.glob("ck/**/*")):
                # Programs and the status belong to one run; the machine's paths are replaced.
                of_run = "programs" in path.parts or path.name in ("status.json", "costs.json")
                if path.is_file() and not of_run and path.suffix != ".crc":
                    data = path.read_bytes().replace(str(folder).encode(), PLACE)
                    archive.writestr(str(path.relative_to(folder)), data)
        print(target, target.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1])
