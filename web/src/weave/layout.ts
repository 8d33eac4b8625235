// Rows of the weave from top to bottom: a band for each tree, a thread for each query, its slices.

import type { PlanView, TreeView } from "../types";

export const HEADER = 44;
export const THREAD = 24;
export const SLICES = 30;
export const GAP = 14;

export interface Row {
  kind: "tree" | "query" | "slices";
  tree: TreeView;
  /** Its place among the plan's queries, for a thread. */
  query: number;
  top: number;
  height: number;
}

export interface Band {
  tree: TreeView;
  top: number;
  bottom: number;
  shown: number;
}

export interface Layout {
  rows: Row[];
  bands: Band[];
  height: number;
  shown: number;
}

export function layOut(plan: PlanView, words: string, collapsed: Set<number>): Layout {
  const sought = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  const bands: Band[] = [];
  let top = 0;
  let shown = 0;
  const push = (kind: Row["kind"], tree: TreeView, height: number, query = -1) => {
    rows.push({ kind, tree, query, top, height });
    top += height;
  };
  for (const tree of plan.trees) {
    const kept = sought.length ? tree.queries.filter((row) => matches(plan, row, sought)) : tree.queries;
    if (!kept.length) continue;
    const begin = top;
    shown += kept.length;
    push("tree", tree, HEADER);
    if (!collapsed.has(tree.number)) {
      for (const row of kept) push("query", tree, THREAD, row);
      if (!tree.coverage) push("slices", tree, SLICES);
    }
    bands.push({ tree, top: begin, bottom: top, shown: kept.length });
    top += GAP;
  }
  return { rows, bands, height: Math.max(0, top - GAP), shown };
}

function matches(plan: PlanView, row: number, words: string[]): boolean {
  const query = plan.queries[row];
  const text = `${query.name} ${query.window} ${Object.values(query.aggs).join(" ")} ${query.where ?? ""} ${query.by.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The first row that reaches below a height. */
export function rowAt(rows: Row[], y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].top + rows[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A stretch of time that shows a few instances of most windows. */
export function naturalSpan(plan: PlanView): number {
  if (!plan.queries.length) return plan.unit * 60;
  const lengths = plan.queries.map((query) => query.range + query.slide).sort((a, b) => a - b);
  return Math.max(4, 2.2 * lengths[Math.floor(0.7 * (lengths.length - 1))]);
}
