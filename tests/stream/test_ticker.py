"""When an idle stream ticks, and with which time; and which checkpoints support it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from weft.engine.parcel import Parcel
from weft.engine.tick import tick_parcels
from weft.errors import CheckpointError, EngineError
from weft.stream.catalogue import Settings
from weft.stream.idle import Ticker, chosen_idle
from weft.stream.progress import Progress
from weft.stream.status_file import sample_of
from weft.stream.ticks import OFFSET, TickFile
from weft.stream.trigger import Trigger

SECOND = 1_000_000
MADE = Settings("ts", "timestamp", "1 minute", (0,), 1, "append")


class Clock:
    """A clock that stands still until it is advanced."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Stream:
    """A stream of which only the ticks are tested."""

    def __init__(self, folder: Path, idle: str | None = "10 seconds") -> None:
        self.checkpoint, self.idle, self.clock = str(folder), idle, Clock()
        self.progress = Progress()
        self.start()

    def start(self) -> None:
        self.ticker = Ticker(self.checkpoint, self.idle, self.progress, self.clock)

    def rows(self, latest: int) -> None:
        self.progress = replace(self.progress, max_event_time=latest * SECOND)
        self.ticker.delivered(5, latest * SECOND, None)

    def after(self, seconds: float, *, waiting: bool = True, deliver: bool = True) -> float | None:
        """The tick after some more seconds, in seconds; None if there is none."""
        self.clock.now += seconds
        if not self.ticker.look(lambda: waiting):
            return None
        tick = TickFile(self.checkpoint).read()
        assert tick is not None
        if deliver:
            self.ticker.delivered(0, self.progress.max_event_time, tick)
        return tick / SECOND


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    return Stream(tmp_path)


def test_event_time_goes_on_with_the_clock_once_per_idle(stream: Stream) -> None:
    stream.rows(1000)
    assert stream.after(9) is None
    assert stream.after(2) == 1011
    assert stream.after(9) is None
    assert stream.after(1) == 1021
    assert stream.after(50) == 1071


def test_rows_begin_it_anew_and_time_never_goes_back(stream: Stream) -> None:
    stream.rows(1000)
    assert stream.after(30) == 1030
    stream.rows(1002)
    assert stream.after(12) is None  # 1014 was long ago
    assert stream.after(20) == 1034


def test_a_stream_without_rows_or_at_work_does_not_tick(stream: Stream) -> None:
    assert stream.after(100) is None  # the event time is unknown
    stream.rows(1000)
    assert stream.after(100, waiting=False) is None
    assert stream.after(0) == 1100


def test_the_next_tick_waits_until_the_last_is_delivered(stream: Stream) -> None:
    stream.rows(1000)
    assert stream.after(10, deliver=False) == 1010
    assert stream.after(10) is None
    stream.ticker.delivered(0, 1000 * SECOND, 1010 * SECOND)
    assert stream.after(0) == 1020


def test_a_restart_goes_on_from_the_last_tick_without_the_time_in_between(stream: Stream) -> None:
    stream.rows(1000)
    assert stream.after(40) == 1040
    stream.clock.now += 10_000
    stream.start()
    assert stream.after(9) is None
    assert stream.after(2) == 1051


def test_off_and_none_never_tick(tmp_path: Path) -> None:
    for idle in ("off", None):
        stream = Stream(tmp_path / str(idle), idle)
        stream.rows(1000)
        assert stream.after(10_000) is None


def test_what_a_start_may_choose() -> None:
    made = replace(MADE, idle="5 seconds")
    assert chosen_idle(None, MADE, new=True) is None
    assert chosen_idle(None, made, new=False) == "5 seconds"
    assert chosen_idle("1 minute", made, new=False) == "1 minute"
    assert chosen_idle("off", made, new=False) == "off"
    assert chosen_idle("off", MADE, new=False) is None
    assert chosen_idle("1 minute", replace(MADE, idle="off"), new=False) == "1 minute"


@pytest.mark.parametrize(
    ("given", "settings", "reason"),
    [
        ("soon", MADE, "idle='soon'.*also accepted is 'off'"),
        ("0 seconds", MADE, "idle='0 seconds': must be positive; 'off' switches it off"),
        ("1 minute", replace(MADE, engine="rewrite"), "use engine='operator', or leave idle out"),
        ("1 minute", replace(MADE, kind="integer"), "'ts' is of type integer.*name a timestamp"),
        ("1 minute", replace(MADE, kind="date"), "'ts' is of type date.*name a timestamp"),
    ],
)
def test_what_cannot_be_idle_is_refused(given: str, settings: Settings, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        chosen_idle(given, settings, new=True)


def test_a_checkpoint_gets_no_ticks_later() -> None:
    with pytest.raises(CheckpointError, match=r"made without idle.*start on a new checkpoint"):
        chosen_idle("1 minute", MADE, new=False)


def test_settings_of_older_checkpoints_have_none() -> None:
    written = MADE.to_dict()
    del written["idle"]
    assert Settings.from_dict(written) == MADE


def test_a_tick_is_a_parcel_without_rows_for_every_bucket() -> None:
    made = tick_parcels([3, 5], 7)
    assert made.column("bucket").to_pylist() == [3, 5]
    parcels = [Parcel.from_bytes(data) for data in made.column("parcel").to_pylist()]
    assert [(one.rows, one.max_event_time, one.tick) for one in parcels] == [(0, None, 7)] * 2


def test_ticks_are_not_counted_as_rows() -> None:
    sources = [{"endOffset": {"logOffset": 1}, "numInputRows": 40},
               {"endOffset": {OFFSET: 7}, "numInputRows": 8}]  # fmt: skip
    report = {"batchId": 3, "timestamp": "1970-01-01T00:00:10.000Z", "numInputRows": 48,
              "durationMs": {}, "sources": sources}  # fmt: skip
    assert sample_of(report)["rows"] == 40


def test_only_triggers_that_wait_for_rows_can_be_idle() -> None:
    asked = (None, "10 seconds", "available_now", "once")
    assert [Trigger.of(one).waits for one in asked] == [True, True, False, False]
