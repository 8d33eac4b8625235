// What happened to the stream: moments for the charts, and a list in words.

import type { Moment } from "./chart";
import { fill, h } from "./dom";
import { plural } from "./format";
import { store } from "./store";
import type { Mark, Sample } from "./types";

const SHOWN = 12;
const BAD = new Set(["failed", "error"]);
const WORDS: Record<string, string> = {
  started: "The stream started", stopped: "The stream stopped", added: "Added", dropped: "Dropped", replaced: "Replaced",
  paused: "Paused", resumed: "Resumed", limited: "New limits of", failed: "Failed", replanned: "Planned anew", error: "An error from which the stream recovered",
};

export function moments(marks: Mark[]): Moment[] {
  return marks.map((mark) => ({
    at: mark.at,
    kind: BAD.has(mark.event) || (mark.event === "stopped" && mark.text) ? "bad" : mark.event === "started" || mark.event === "stopped" ? "run" : "change",
  }));
}

/** The samples with a hole between two runs, so that no line is drawn over the time between them. */
export function broken(history: Sample[]): (Sample | null)[] {
  return history.flatMap((one, at) => (at > 0 && one.run !== history[at - 1].run ? [null, one] : [one]));
}

export function happenedCard(): HTMLElement {
  const list = h("ul", { class: "plain small" });
  const card = h("div", { class: "card stack" }, h("h2", {}, "What happened"), list);
  const update = () => {
    const marks = store.live.marks.slice(-SHOWN).reverse();
    card.hidden = !marks.length;
    fill(list, ...marks.map((mark) => h("li", {}, h("span", { class: "muted" }, `${clock(mark.at)} UTC  `), said(mark))));
  };
  store.on("live", update);
  update();
  return card;
}

function said(mark: Mark): string {
  const more = mark.count > mark.queries.length ? ` and ${plural(mark.count - mark.queries.length, "other", "others")}` : "";
  const names = mark.queries.length ? ` ${mark.queries.join(", ")}${more}` : "";
  return `${WORDS[mark.event] ?? mark.event}${names}${mark.text ? `: ${mark.text}` : ""}`;
}

function clock(at: number): string {
  const text = new Date(at * 1000).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}
