// Queries come and go here: a text that is answered as it is typed, and a list to act on.

import { change, drop, pause, resume } from "./actions";
import { post, Refused } from "./api";
import { button, empty, fill, h, icon, iconButton } from "./dom";
import { number, percent, plural } from "./format";
import { go } from "./router";
import { store } from "./store";
import { Table } from "./table";
import type { Done, FailureView, Preview, Problem, QueryView } from "./types";

const WAIT = 250;

export function queriesView(): HTMLElement {
  return h("section", { class: "view" }, h("div", { class: "two wide-right" }, composer(), list()));
}

function example(): string {
  const query = store.plan.queries.find((one) => Object.keys(one.aggs).length);
  const time = store.meta.time ?? "ts";
  const by = query?.by[0]?.split(/\s+as\s+/i)[0];
  const agg = query ? Object.values(query.aggs)[0] : "count(*)";
  return `SELECT ${by ? `${by}, ` : ""}${agg} AS value\nFROM stream\nGROUP BY window(${time}, '15 minutes', '5 minutes')${by ? `, ${by}` : ""}`;
}

function composer(): HTMLElement {
  const name = h("input", { id: "new-name", type: "text", maxlength: "255", autocomplete: "off", placeholder: "for instance quarter_hour", oninput: () => soon() });
  const sql = h("textarea", { id: "new-sql", rows: "9", spellcheck: "false", autocapitalize: "off", "aria-describedby": "feedback", placeholder: example(),
    oninput: () => { mark(null); soon(); }, onscroll: () => { behind.scrollTop = sql.scrollTop; } });
  const behind = h("pre", { class: "behind", "aria-hidden": "true" });
  const backfill = h("input", { type: "checkbox", id: "new-backfill" });
  const feedback = h("div", { id: "feedback", class: "feedback", role: "status", "aria-live": "polite" });
  const submit = h("button", { type: "submit", class: "button primary", id: "add-query", disabled: true }, "Add to the stream");
  let timer = 0;
  let running: AbortController | null = null;

  function soon(): void {
    clearTimeout(timer);
    submit.disabled = true;
    timer = window.setTimeout(() => void check(), WAIT);
  }

  function body(): { sql: string; name?: string } {
    const given = name.value.trim();
    return given ? { sql: sql.value, name: given } : { sql: sql.value };
  }

  async function check(): Promise<void> {
    running?.abort();
    if (!sql.value.trim()) return hint();
    running = new AbortController();
    try {
      const told = await post<Preview>("/api/preview", body(), running.signal);
      mark(null);
      fill(feedback, outlook(told));
      feedback.className = "feedback good";
      submit.disabled = !store.meta.changes;
    } catch (error) {
      if (error instanceof DOMException) return;
      fail(error);
    }
  }

  function fail(error: unknown): void {
    const problem: Problem = error instanceof Refused ? error.problem : { kind: "", message: String(error), place: null };
    const [first, ...rest] = problem.message.split("\n");
    const where = problem.place;
    mark(where);
    feedback.className = "feedback bad";
    fill(feedback, h("strong", {}, where ? `Line ${where.line}, column ${where.column}` : "This cannot be added"),
      h("p", {}, first.replace(/ \(line \d+, column \d+\):?$/, "")),
      !where && rest.length > 0 && h("pre", { class: "sql" }, rest.join("\n")),
      where && button("Go there", () => { const at = offset(where); sql.focus(); sql.setSelectionRange(at, wordEnd(at)); }, { class: "link" }));
  }

  function offset(place: { line: number; column: number }): number {
    const lines = sql.value.split("\n");
    return lines.slice(0, place.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + place.column - 1;
  }

  function wordEnd(at: number): number {
    return at + Math.max(1, (/^('[^']*'?|[\w.]+|.)/.exec(sql.value.slice(at))?.[0] ?? " ").length);
  }

  /** Underline the word at an error's place, in a copy of the text that lies behind the text. */
  function mark(place: { line: number; column: number } | null): void {
    if (!place) return fill(behind);
    const at = offset(place);
    const end = wordEnd(at);
    fill(behind, sql.value.slice(0, at), h("mark", {}, sql.value.slice(at, end) || " "), `${sql.value.slice(end)}\n`);
    behind.scrollTop = sql.scrollTop;
  }

  function hint(): void {
    feedback.className = "feedback";
    submit.disabled = true;
    fill(feedback, h("p", { class: "muted small" }, "As you type, weft says what the query would join and what it would cost. "),
      button("Try an example", () => { sql.value = example(); if (!name.value) name.value = fresh(); void check(); sql.focus(); }, { class: "link" }));
  }

  function fresh(): string {
    for (let n = 1; ; n++) if (!store.query(`query_${n}`)) return `query_${n}`;
  }

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    const before = submit.textContent;
    submit.textContent = "Adding …";
    try {
      const done = await change(() => post<Done>("/api/queries", { ...body(), backfill: backfill.checked }));
      if (done) {
        name.value = sql.value = "";
        backfill.checked = false;
        hint();
        store.select(done.queries[0]);
      } else submit.disabled = false;
    } catch (error) {
      fail(error);
    } finally {
      submit.textContent = before;
    }
  }

  hint();
  const form = h("form", { class: "card stack", onsubmit: (event: Event) => void add(event), "aria-label": "New query" },
    h("h2", {}, "New query"),
    !store.meta.changes && h("p", { class: "note small" }, `${store.meta.why} You can still try queries on the plan.`),
    h("label", { class: "field" }, h("span", {}, "Name"), name),
    h("label", { class: "field" }, h("span", {}, "SQL"), h("div", { class: "editor" }, behind, sql)),
    feedback,
    h("div", { class: "row spread wrap" },
      h("label", { class: "check" }, backfill, h("span", {}, "Also answer open windows whose slices are still in state")), submit));
  return form;
}

function outlook(told: Preview): HTMLElement {
  const by = told.cost_after - told.cost_before;
  const body = h("div", { class: "stack tight" });
  for (const query of told.queries) {
    const saves = query.alone > 0 && told.queries.length === 1 ? 1 - by / query.alone : null;
    const named = query.joins.slice(0, 4).join(", ");
    const rest = query.others > 4 ? ` and ${plural(query.others - 4, "other", "others")}` : "";
    body.append(
      h("strong", {}, query.others ? `Joins tree ${query.tree}` : "Gets a tree of its own"),
      h("p", {}, query.others ? `It shares slices with ${named}${rest}.` : "Nothing in the plan shares well with it."),
      h("p", { class: "muted small" }, `${query.window}. Adds ${number(by)} to a plan of ${number(told.cost_before)}`,
        saves !== null && saves > 0 ? `, ${percent(saves)} less than alone (${number(query.alone)}).` : "."));
    if (query.edges_before !== null && query.edges_after !== null) {
      body.append(h("p", { class: "muted small" }, query.edges_after > query.edges_before
        ? `Its tree is cut more finely: ${number(query.edges_before)} → ${number(query.edges_after)} edges per ${store.per}.`
        : "Its tree needs no additional edges."));
    }
  }
  if (told.needs) {
    body.append(told.needs.length
      ? h("p", { class: "note small" }, "The stream would restart: it does not project ", h("code", {}, told.needs.join(", ")), ".")
      : h("p", { class: "muted small" }, "Comes with the next micro-batch, without a restart."));
  }
  return body;
}

function list(): HTMLElement {
  const search = h("input", { type: "search", id: "query-search", placeholder: "Find queries …", "aria-label": "Find queries", oninput: () => update() });
  const none = h("div");
  const table = new Table<QueryView>([
    { title: "Query", by: (query) => query.name, cell: link, width: "minmax(110px, 1.6fr)" },
    { title: "Window", by: (query) => query.range, cell: (query) => query.window, width: "minmax(120px, 1.6fr)", wide: true },
    { title: "Tree", by: (query) => query.tree, cell: (query) => String(query.tree), right: true, width: "60px", wide: true },
    { title: "Answers", by: (query) => store.status(query.name)?.answers ?? 0, cell: (query) => number(store.status(query.name)?.answers), right: true, width: "80px" },
    { title: "Late", by: (query) => store.status(query.name)?.late_rows ?? 0, cell: (query) => number(store.status(query.name)?.late_rows), right: true, width: "64px", wide: true },
    { title: "Actions", quiet: true, cell: actions, right: true, width: "92px" },
  ], (query) => query.name, { label: "Queries", sort: 0, down: false, tall: "tall", id: "query-list" });

  const failures = h("div", { class: "stack", id: "failures" });

  function update(): void {
    fill(failures, ...store.plan.failed.map(failure));
    const words = search.value.toLowerCase();
    const found = store.plan.queries.filter((query) => query.name.toLowerCase().includes(words));
    table.element.hidden = !found.length;
    fill(none, !found.length && empty(words ? "No query has such a name" : "No queries", words ? "" : "Write the first one at the left."));
    table.set(found);
  }

  store.on("plan", update);
  store.on("live", () => table.paint());
  update();
  return h("div", { class: "card stack" },
    h("div", { class: "row spread wrap" }, h("h2", {}, "Queries"), h("div", { class: "search" }, icon("search"), search)),
    failures, none, table.element);
}

function failure(failed: FailureView): HTMLElement {
  return h("div", { class: "card bad-card", role: "alert" },
    h("div", { class: "row spread wrap" },
      h("span", { class: "row tight" }, h("strong", {}, failed.name), h("span", { class: "pill bad" }, `failed at micro-batch ${failed.batch}`)),
      store.meta.changes && h("span", { class: "row tight end" },
        iconButton("play", `Resume ${failed.name}`, () => void resume(failed.name)),
        iconButton("trash", `Drop ${failed.name}`, () => void drop(failed.name)))),
    failed.expression && h("p", {}, h("code", {}, failed.expression)),
    h("p", {}, failed.message.slice(0, 600)));
}

function link(query: QueryView): HTMLElement {
  return h("span", { class: "row tight" },
    h("span", { class: `dot t${((query.tree - 1) % 8) + 1}` }),
    button(query.name, () => { store.select(query.name); go("weave"); }, { class: "link", "aria-label": `${query.name}: show in the weave` }),
    query.paused && h("span", { class: "pill warn" }, "paused"));
}

function actions(query: QueryView): HTMLElement {
  if (!store.meta.changes) return h("span");
  return h("span", { class: "row tight end" },
    query.paused ? iconButton("play", `Resume ${query.name}`, () => void resume(query.name)) : iconButton("pause", `Pause ${query.name}`, () => void pause(query.name)),
    iconButton("trash", `Drop ${query.name}`, () => void drop(query.name)));
}
