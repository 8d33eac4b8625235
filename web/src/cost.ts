// What the plan costs, predicted and measured, and what the last change did to it.

import { button, fill, h } from "./dom";
import { bytes, number, percent, plural, seconds } from "./format";
import { go } from "./router";
import { store } from "./store";
import { Table } from "./table";
import type { QueryView, TreeView } from "./types";

export function costView(): HTMLElement {
  const bars = h("div", { class: "card stack" });
  const last = h("div", { class: "card stack" });
  const trees = new Table<TreeView>([
    { title: "Tree", by: (tree) => tree.number, cell: (tree) => named(tree), width: "minmax(70px, .8fr)" },
    { title: "Queries", by: (tree) => tree.queries.length, cell: (tree) => number(tree.queries.length), right: true, width: "1fr" },
    { title: "Edge rate", by: (tree) => tree.edge_rate ?? 0, cell: (tree) => number(tree.edge_rate), right: true, width: "1fr", wide: true },
    { title: "Predicted", by: (tree) => tree.cost, cell: (tree) => number(tree.cost), right: true, width: "1fr" },
    { title: "Alone", by: (tree) => tree.unshared_cost, cell: (tree) => number(tree.unshared_cost), right: true, width: "1fr", wide: true },
    { title: "Saved", by: saved, cell: (tree) => percent(saved(tree)), right: true, width: ".8fr", wide: true },
    { title: "Measured", by: (tree) => measured(tree)?.seconds ?? 0, cell: (tree) => time(tree), right: true, width: "1fr" },
    { title: "State", by: (tree) => measured(tree)?.bytes ?? 0, cell: (tree) => state(tree), right: true, width: "1fr", wide: true },
  ], (tree) => String(tree.number), { label: "Cost of every tree", sort: 3, id: "tree-costs" });
  const queries = new Table<QueryView>([
    { title: "Query", by: (query) => query.name, cell: link, width: "minmax(120px, 2fr)" },
    { title: "Window", by: (query) => query.range, cell: (query) => query.window, width: "minmax(120px, 2fr)", wide: true },
    { title: "Predicted", by: (query) => query.cost, cell: (query) => number(query.cost), right: true, width: "1fr" },
    { title: "Alone", by: (query) => query.alone, cell: (query) => number(query.alone), right: true, width: "1fr", wide: true },
    { title: "Saved", by: spared, cell: (query) => percent(spared(query)), right: true, width: ".8fr", wide: true },
    { title: "Measured", by: (query) => store.status(query.name)?.share ?? 0, cell: share, right: true, width: "1fr" },
    { title: "State", by: (query) => store.status(query.name)?.state_bytes ?? 0, cell: held, right: true, width: "1fr", wide: true },
  ], (query) => query.name, { label: "Cost of every query", sort: 2, tall: "tall", id: "query-costs" });

  function update(): void {
    fill(bars, ...compared());
    fill(last, ...lastChange());
    trees.set(store.plan.trees);
    queries.set(store.plan.queries);
  }

  store.on("plan", update);
  store.on("live", () => { trees.paint(); queries.paint(); });
  update();
  return h("section", { class: "view" },
    h("div", { class: "two" }, bars, last),
    h("div", { class: "card stack" }, h("h2", {}, "Trees"), trees.element),
    h("div", { class: "card stack" }, h("h2", {}, "Queries"), queries.element,
      h("p", { class: "muted small" },
        "A query's predicted cost is its part of its tree; “alone” is what it would cost by itself. Measured is its part of the ",
        "operator's time of late, and State its part of what its tree holds.")));
}

function compared(): HTMLElement[] {
  const plan = store.plan;
  const most = Math.max(plan.cost, plan.no_share, plan.share_all) || 1;
  const bar = (label: string, value: number, kind: string, said: string) => {
    const filled = h("span", { class: `bar ${kind}` });
    filled.style.width = `${Math.max(0.6, (100 * value) / most)}%`;
    return h("li", {}, h("span", { class: "bar-label" }, label), h("span", { class: "bar-track" }, filled),
      h("span", { class: "bar-value" }, h("strong", {}, number(value)), h("span", { class: "muted small" }, said)));
  };
  const times = (value: number) => (plan.cost > 0 ? `${number(value / plan.cost)} × the plan` : "");
  return [
    h("h2", {}, "Predicted cost"),
    h("ul", { class: "bars" },
      bar("This plan", plan.cost, "mine", plan.strategy),
      bar("No sharing", plan.no_share, "other", times(plan.no_share)),
      bar("Share all", plan.share_all, "other", times(plan.share_all))),
    h("p", { class: "muted small" }, `By the cost model, in ${store.costUnit}, for ${number(plan.rate)} rows per ${store.per}${came()}. `,
      "Measured values come from the running stream."),
  ];
}

/** The rate that the stream really has, beside the one that the model assumes. */
function came(): string {
  const status = store.live.status;
  return status && store.plan.axis === "time" ? `; the last micro-batch took in ${number(status.rows_per_second)} per second` : "";
}

function lastChange(): (HTMLElement | null)[] {
  const change = store.plan.last_change;
  if (!change) {
    return [h("h2", {}, "Last change"), h("p", { class: "muted" },
      store.meta.source === "plan" ? "A stored plan has no past." : "The plan is as it was when the stream was started.")];
  }
  const lines: [string, string[]][] = [
    ["Added", change.added], ["Dropped", change.dropped], ["Paused", change.paused],
    ["Resumed", change.resumed], ["Moved to other slices", change.moved],
  ];
  const list = h("dl", { class: "facts" });
  for (const [what, names] of lines) {
    if (!names.length) continue;
    const more = names.length > 6 ? ` and ${names.length - 6} more` : "";
    list.append(h("dt", {}, what), h("dd", {}, names.slice(0, 6).join(", ") + more));
  }
  const by = change.cost_after - change.cost_before;
  list.append(h("dt", {}, "Cost"), h("dd", {}, `${number(change.cost_before)} → ${number(change.cost_after)} (${by >= 0 ? "+" : "−"}${number(Math.abs(by))})`));
  list.append(h("dt", {}, "Trees"), h("dd", {}, `${change.trees_before} → ${change.trees_after}`));
  return [h("h2", {}, `Last change: number ${change.number}`), list, change.note ? h("p", { class: "muted small" }, change.note) : null];
}

function named(tree: TreeView): HTMLElement {
  return h("span", { class: "row tight" }, h("span", { class: `dot t${((tree.number - 1) % 8) + 1}` }), String(tree.number));
}

function link(query: QueryView): HTMLElement {
  return button(query.name, () => { store.select(query.name); go("weave"); }, { class: "link", "aria-label": `${query.name}: show in the weave` });
}

function saved(tree: TreeView): number {
  return tree.unshared_cost > 0 ? Math.max(0, 1 - tree.cost / tree.unshared_cost) : 0;
}

function spared(query: QueryView): number {
  return query.alone > 0 ? Math.max(0, 1 - query.cost / query.alone) : 0;
}

function measured(tree: TreeView): { seconds: number; bytes: number; slices: number } | null {
  const stores = (store.live.status?.stores ?? []).filter((one) => tree.stores.includes(one.number));
  if (!stores.length) return null;
  const sum = (of: (one: (typeof stores)[number]) => number) => stores.reduce((all, one) => all + of(one), 0);
  return { seconds: sum((one) => one.seconds), bytes: sum((one) => one.state_bytes), slices: sum((one) => one.slices) };
}

function time(tree: TreeView): string {
  const found = measured(tree);
  return found ? seconds(found.seconds) : "–";
}

function state(tree: TreeView): string {
  const found = measured(tree);
  return found ? `${bytes(found.bytes)}, ${plural(found.slices, "slice", "slices")}` : "–";
}

function held(query: QueryView): string {
  const told = store.status(query.name);
  return told ? bytes(told.state_bytes) : "–";
}

function share(query: QueryView): string {
  const told = store.status(query.name);
  return told ? percent(told.share) : "–";
}
