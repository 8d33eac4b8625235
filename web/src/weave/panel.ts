// What is known of the query in hand: what it asks, what it costs, with whom it shares.

import { drop, pause, resume } from "../actions";
import { ask, queryPath } from "../api";
import { button, fill, h } from "../dom";
import { bytes, instant, number, percent, plural } from "../format";
import { go } from "../router";
import { store } from "../store";

const NAMED = 14;

export function detail(): HTMLElement {
  const query = store.selected === null ? undefined : store.query(store.selected);
  if (!query) return overview();
  const tree = store.plan.trees[query.tree - 1];
  const mates = tree.queries.map((row) => store.plan.queries[row]).filter((one) => one !== query);
  const alike = mates.filter((one) => one.range === query.range && one.slide === query.slide && one.phase === query.phase);
  const told = store.status(query.name);
  const sql = h("pre", { class: "sql", tabindex: "0", "aria-label": "The query as SQL" }, "…");
  void ask<{ sql: string }>(queryPath(query.name)).then(
    (found) => fill(sql, found.sql.replace(/^-- name:.*\n/, "")),
    () => sql.remove(),
  );
  const facts: [string, string][] = [
    ["Window", query.lateness ? `${query.window}, open ${query.lateness} longer than the watermark says` : query.window],
    ["Costs", `${number(query.cost)} here, ${number(query.alone)} alone`],
  ];
  if (told) facts.push(["Answers", `${number(told.answers)} since the start, ${number(told.late_rows)} late rows`]);
  if (told) {
    facts.push(["Uses", `${percent(told.share)} of the operator's time, ${bytes(told.state_bytes)} of state, ${plural(told.groups, "group", "groups")} in a window`]);
    if (told.limits) facts.push(["Limits", limited(told.limits)]);
  }
  if (query.complete_from !== null) facts.push(["Answered from", instant(query.complete_from, store.plan.axis)]);
  const list = h("dl", { class: "facts" });
  for (const [name, value] of facts) list.append(h("dt", {}, name), h("dd", {}, value));
  const shared = h("ul", { class: "chips" });
  for (const one of [...alike, ...mates.filter((mate) => !alike.includes(mate))].slice(0, NAMED)) {
    shared.append(h("li", {}, button(one.name, () => store.select(one.name), {
      class: `chip${alike.includes(one) ? " same" : ""}`, title: alike.includes(one) ? `the same window: ${one.window}` : one.window,
    })));
  }
  if (mates.length > NAMED) shared.append(h("li", { class: "muted small" }, `and ${mates.length - NAMED} more`));
  return h("div", { class: "stack" },
    h("div", { class: "row spread" },
      h("h2", {}, h("span", { class: `dot t${((query.tree - 1) % 8) + 1}` }), query.name),
      query.paused && h("span", { class: "pill warn" }, "paused")),
    told?.why && h("p", { class: "note small" }, `Paused: ${told.why}.`),
    sql, list,
    h("h3", {}, mates.length ? `Shares tree ${tree.number} with ${plural(mates.length, "query", "queries")}` : `Alone in tree ${tree.number}`),
    mates.length > 0 && shared,
    actions(query.name, query.paused));
}

function limited(limits: Record<string, number | string>): string {
  const said = Object.entries(limits).filter(([name]) => name !== "over").map(([name, most]) =>
    name === "share" ? `${percent(Number(most))} of the time`
      : name === "state_bytes" ? `${bytes(Number(most))} of state` : `${number(Number(most))} ${name}`);
  return `${said.join(", ")}; over them it is ${limits.over === "pause" ? "paused" : "failed"}`;
}

function actions(name: string, paused: boolean): HTMLElement {
  const row = h("div", { class: "row wrap" }, button("Answers", () => go("live"), { class: "button" }));
  if (store.meta.changes) {
    row.append(
      paused ? button("Resume", () => void resume(name), { class: "button" }) : button("Pause", () => void pause(name), { class: "button" }),
      button("Drop", () => void drop(name), { class: "button danger-text" }),
    );
  }
  return row;
}

function overview(): HTMLElement {
  const plan = store.plan;
  const saved = plan.no_share > 0 ? 1 - plan.cost / plan.no_share : 0;
  return h("div", { class: "stack" },
    h("h2", {}, "The weave"),
    h("p", {}, `${plural(plan.queries.length, "query is", "queries are")} woven into ${plural(plan.trees.length, "tree", "trees")} by strategy `,
      h("code", {}, plan.strategy), "."),
    h("p", { class: "big" }, percent(saved)),
    h("p", { class: "muted" }, "less work than if each query were computed on its own."),
    h("p", { class: "muted small" },
      "A band is a tree: queries on one set of slices. A thread is a query, its marks the windows. Point at a window to see ",
      "the slices that it is put together from; choose a thread to see with whom it shares."),
    h("p", { class: "muted small keys" }, h("kbd", {}, "↑"), h("kbd", {}, "↓"), " choose  ", h("kbd", {}, "←"), h("kbd", {}, "→"), " time  ",
      h("kbd", {}, "+"), h("kbd", {}, "−"), " zoom  ", h("kbd", {}, "/"), " find"));
}
