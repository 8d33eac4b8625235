"""A window as a table function, `TUMBLE(TABLE t, DESCRIPTOR(ts), size)`, and what Spark has."""

from __future__ import annotations

from dataclasses import dataclass

from weft.query.duration import format_duration


@dataclass(frozen=True)
class TableWindow:
    """A window as a table function: `TUMBLE(TABLE t, DESCRIPTOR(ts), size)`."""

    kind: str
    rows: str
    time: str
    lengths: dict[str, int]
    parted: tuple[str, ...] = ()
    """The keys of PARTITION BY, in lower case."""

    @property
    def steps(self) -> list[TableWindow]:
        """The windows that CUMULATE consists of: one per size, sliding by the whole size."""
        step, size = self.lengths["STEP"], self.lengths["SIZE"]
        rest = {name: length for name, length in self.lengths.items() if name == "OFFSET"}
        return [
            TableWindow("HOP", self.rows, self.time, {"SIZE": one, "SLIDE": size, **rest})
            for one in range(step, size + 1, step)
        ]

    @property
    def call(self) -> str:
        """The window as a call of a Spark function."""
        if self.kind == "SESSION":
            return f"session_window({self.time}, '{format_duration(self.lengths['GAP'])}')"
        size = self.lengths["SIZE"]
        listed = [size, self.lengths.get("SLIDE", size)]
        offset = self.lengths.get("OFFSET", 0) % listed[1]
        if offset:
            listed.append(offset)
        elif listed[0] == listed[1]:
            del listed[1]
        texts = ", ".join(f"'{format_duration(length)}'" for length in listed)
        return f"window({self.time}, {texts})"

    @property
    def column(self) -> str:
        """Spark's name for its column in a SELECT that groups by it."""
        return "session_window" if self.kind == "SESSION" else "window"

    def bound(self, name: str) -> str:
        """A column of the window, in a SELECT that groups by it."""
        field = {"window_start": "start", "window_end": "end"}.get(name)
        return f"{self.column}.{field}" if field else _time_of(f"{self.column}.end")

    @property
    def subquery(self) -> str:
        """Rows with the window's columns: each row once for every window that contains it."""
        inner = f"(SELECT *, {self.call} AS weft_w FROM {self.rows})"
        rest, end = "", "weft_w.end"
        if self.kind == "CUMULATE":
            step = self.lengths["STEP"]
            steps = self.lengths["SIZE"] // step
            each = f"make_dt_interval(0, 0, 0, {step // 1_000_000}.{step % 1_000_000:06d})"
            gone = f"(unix_micros({self.time}) - unix_micros(weft_w.start)) DIV {step}"
            numbers = f"filter(sequence(1, {steps}), weft_i -> weft_i > {gone})"
            rest = f" LATERAL VIEW explode({numbers}) weft_e AS weft_step"
            end = f"(weft_w.start + {each} * weft_step)"
        hidden = "weft_w, weft_step" if rest else "weft_w"
        return (
            f"(SELECT * EXCEPT ({hidden}), weft_w.start AS window_start, {end} AS window_end, "
            f"{_time_of(end)} AS window_time FROM {inner}{rest})"
        )


def _time_of(end: str) -> str:
    """The last moment of a window in Flink, which counts in milliseconds."""
    return f"({end} - INTERVAL '0.001' SECOND)"
