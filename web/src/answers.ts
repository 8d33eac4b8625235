// The latest answers of one query as lines, with gaps where windows are empty.

import { ask, queryPath } from "./api";
import { Chart, type Line } from "./chart";
import { fill, h } from "./dom";
import { instant, number, plural } from "./format";
import { store } from "./store";
import type { Answers } from "./types";

const LINES = 8;
const POINTS = 3000;
const ROWS = 40;

export function answersCard(): HTMLElement {
  const pick = h("select", { id: "answers-query", "aria-label": "Query", onchange: () => { store.select(pick.value); } });
  const column = h("select", { id: "answers-column", "aria-label": "Column", onchange: () => show() });
  const box = h("div", { class: "chart", "aria-hidden": "true" });
  const note = h("p", { class: "muted small", "aria-live": "polite", id: "answers-note" });
  const table = h("div", { class: "answers-table", tabindex: "0", role: "region", "aria-label": "Latest answers" });
  const chart = new Chart(box, { height: 240, axis: store.plan.axis, format: number, points: true });
  let answers: Answers | null = null;
  let asked = 0;

  function offer(): void {
    const names = store.plan.queries.map((query) => query.name);
    fill(pick, ...names.map((name) => h("option", { value: name }, name)));
    pick.value = store.selected ?? names[0] ?? "";
    void read();
  }

  async function read(): Promise<void> {
    const name = pick.value;
    const ticket = ++asked;
    if (!name) return;
    try {
      const found = await ask<Answers>(queryPath(name, "/answers?limit=1500"));
      if (ticket !== asked) return;
      answers = found;
    } catch (error) {
      answers = null;
      fill(note, String((error as Error).message));
      return;
    }
    const values = answers.columns.filter((one) => one.role === "value").map((one) => one.name);
    if ([...column.options].map((option) => option.value).join() !== values.join()) {
      fill(column, ...values.map((value) => h("option", { value }, value)));
    }
    column.hidden = values.length < 2;
    show();
  }

  function show(): void {
    if (!answers) return;
    box.hidden = table.hidden = !answers.readable;
    if (!answers.readable) return fill(note, answers.reason);
    const { xs, lines, groups, gaps } = linesOf(answers, column.value);
    chart.set(xs, lines);
    const empty = gaps ? `, ${plural(gaps, "window has", "windows have")} none` : "";
    const drawn = groups > LINES ? `; the ${LINES} groups with most answers of ${number(groups)} are drawn` : "";
    fill(note, `${plural(answers.rows.length, "answer", "answers")} in ${plural(xs.length, "window", "windows")}${empty}${drawn}`);
    fill(table, tableOf(answers));
  }

  store.on("plan", offer);
  store.on("selected", () => {
    if (store.selected && store.selected !== pick.value) pick.value = store.selected;
    void read();
  });
  let batch = -1;
  store.on("live", () => {
    const now = store.live.status?.batch ?? -1;
    if (now !== batch) { batch = now; void read(); }
  });
  offer();
  return h("div", { class: "card stack", id: "answers" },
    h("div", { class: "row wrap spread" }, h("h2", {}, "Latest answers"), h("div", { class: "row wrap" }, pick, column)),
    note, box, table);
}

/** A line for each group over every window from the first to the last: no answer, no point. */
export function linesOf(answers: Answers, value: string): { xs: number[]; lines: Line[]; groups: number; gaps: number } {
  const at = answers.columns.findIndex((column) => column.name === value && column.role === "value");
  const keys = answers.columns.map((column, place) => (column.role === "key" ? place : -1)).filter((place) => place >= 0);
  const groups = new Map<string, Map<number, number>>();
  for (const [row, [start]] of answers.windows.entries()) {
    const label = keys.map((key) => String(answers.rows[row][key])).join(", ") || value;
    const found = Number(answers.rows[row][at]);
    if (!groups.has(label)) groups.set(label, new Map());
    if (Number.isFinite(found) && answers.rows[row][at] !== null) groups.get(label)!.set(start, found);
  }
  const starts = [...new Set(answers.windows.map(([start]) => start))].sort((a, b) => a - b);
  const xs: number[] = [];
  const spread = starts.length ? (starts[starts.length - 1] - starts[0]) / answers.slide + 1 : 0;
  if (spread <= POINTS) for (let x = starts[0]; x <= starts[starts.length - 1]; x += answers.slide) xs.push(x);
  else xs.push(...starts);
  const ranked = [...groups].sort((a, b) => b[1].size - a[1].size);
  const lines = ranked.slice(0, LINES).sort((a, b) => a[0].localeCompare(b[0]))
    .map(([label, found]) => ({ label, values: xs.map((x) => found.get(x) ?? null) }));
  return { xs, lines, groups: groups.size, gaps: Math.max(0, xs.length - starts.length) };
}

function tableOf(answers: Answers): HTMLElement {
  const head = h("tr", {}, h("th", { scope: "col" }, "window"), ...answers.columns.map((column) => h("th", { scope: "col", title: column.type }, column.name)));
  const body = h("tbody");
  for (let row = answers.rows.length - 1; row >= Math.max(0, answers.rows.length - ROWS); row--) {
    const [start, end] = answers.windows[row];
    const axis = store.plan.axis;
    body.append(h("tr", {}, h("td", {}, `${instant(start, axis)} – ${instant(end, axis, true)}`),
      ...answers.rows[row].map((value) => h("td", {}, shown(value)))));
  }
  return h("table", {}, h("thead", {}, head), body);
}

function shown(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : number(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
