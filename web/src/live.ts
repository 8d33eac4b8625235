// How the stream is doing: its pulse in six pictures, and the latest answers of one query.

import { answersCard } from "./answers";
import { Chart, type Line } from "./chart";
import { empty, fill, h } from "./dom";
import { bytes, count, instant, number, plural, seconds } from "./format";
import { broken, happenedCard, moments } from "./happened";
import { store } from "./store";
import type { Sample, Status } from "./types";

interface Tile {
  title: string;
  value: (status: Status) => string;
  said: (status: Status) => string;
  line: (sample: Sample, before: Sample | undefined) => number | null;
  format: (value: number) => string;
}

const LAG = (status: Status) => (status.high === null || store.plan.axis === "integer" ? null : Date.now() / 1000 - status.high / 1e6);

const TILES: Tile[] = [
  { title: "Rows per second", value: (s) => number(s.rows_per_second), said: (s) => `${plural(s.rows, "row", "rows")} in micro-batch ${s.batch}`,
    line: (s) => (s.seconds ? s.rows / s.seconds : null), format: number },
  { title: "Micro-batch", value: (s) => seconds(s.batch_seconds), said: (s) => `number ${s.batch}`, line: (s) => s.seconds, format: seconds },
  { title: "Lag", value: (s) => seconds(LAG(s)), said: () => "from the newest row to the clock",
    line: (s) => (s.high === null || store.plan.axis === "integer" ? null : s.at - s.high / 1e6), format: seconds },
  { title: "State", value: (s) => bytes(s.state_bytes), said: (s) => plural(s.slices, "slice held", "slices held"), line: (s) => s.state_bytes, format: bytes },
  { title: "Late rows", value: (s) => count(late(s)), said: () => "per query, too late for every window", line: (s) => s.late, format: number },
  { title: "Answers", value: (s) => count(s.queries.reduce((sum, query) => sum + query.answers, 0)), said: () => "since the stream was started",
    line: (s) => s.answers, format: number },
];

function late(status: Status): number {
  return status.queries.reduce((sum, query) => sum + query.late_rows, 0);
}

export function liveView(): HTMLElement {
  const banner = h("div", { class: "stack" });
  const tiles = TILES.map((tile) => {
    const value = h("p", { class: "big" }, "–");
    const said = h("p", { class: "muted small" });
    const box = h("div", { class: "chart", "aria-hidden": "true" });
    const chart = new Chart(box, { height: 110, axis: "clock", format: tile.format, fill: true, sync: "live" });
    return { tile, value, said, chart, element: h("div", { class: "card tile" }, h("h3", {}, tile.title), value, said, box) };
  });
  const pulse = h("div", { class: "tiles" }, ...tiles.map((one) => one.element));
  const marks = h("p", { class: "muted" });
  const answers = answersCard();

  function update(): void {
    const { status, state, history } = store.live;
    fill(banner, ...notice());
    answers.hidden = state === "plan" || state === "new";
    pulse.hidden = marks.hidden = status === null;
    if (!status) return;
    fill(marks, `Watermark ${instant(status.watermark, store.plan.axis)} · newest row ${instant(status.high, store.plan.axis)}`,
      " · all times in UTC",
      state === "running" ? "" : " · as of the last run");
    const samples = broken(history);
    const xs = samples.map((one, at) => one?.at ?? (history.length ? samples[at - 1]!.at + 1e-3 : 0));
    const happened = moments(store.live.marks);
    for (const { tile, value, said, chart } of tiles) {
      fill(value, tile.value(status));
      fill(said, tile.said(status));
      const lines: Line[] = [{ label: tile.title, values: samples.map((one, at) => one && tile.line(one, samples[at - 1] ?? undefined)) }];
      if (xs.length > 1) chart.set(xs, lines, happened);
    }
  }

  store.on("live", update);
  update();
  return h("section", { class: "view" }, banner, marks, pulse, happenedCard(), answers);
}

function notice(): (HTMLElement | null)[] {
  const { state, status } = store.live;
  const failed = status?.error ? h("div", { class: "card bad-card", role: "alert" }, h("strong", {}, "The stream met an error. "),
    status.error.slice(0, 600)) : null;
  if (state === "plan") return [empty("A stored plan is not running", "Serve the job file or the checkpoint of a stream to see it live.")];
  if (state === "new") return [empty("The stream has not been started", h("p", {}, "Start it with ", h("code", {}, `weft stream ${store.meta.name}`), "; this page will follow."))];
  if (state === "stopped" || state === "failed") {
    return [h("div", { class: "card note" }, h("strong", {}, state === "failed" ? "The stream has failed and is not running. " : "The stream is not running. "), "You see what the last run left. ",
      store.meta.source === "job" && h("span", {}, "Go on with ", h("code", {}, `weft stream ${store.meta.name}`), ".")), failed];
  }
  return [status ? failed : empty("The stream is starting", "Its first micro-batch takes a little longer than the others.")];
}
