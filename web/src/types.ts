// What the API gives; the same as src/weft/serve/models.py.

export interface Meta {
  version: string;
  source: "job" | "checkpoint" | "plan";
  name: string;
  read_only: boolean;
  locked: boolean;
  changes: boolean;
  why: string;
  time: string | null;
}

export interface QueryView {
  name: string;
  tree: number;
  range: number;
  slide: number;
  phase: number;
  window: string;
  aggs: Record<string, string>;
  where: string | null;
  by: string[];
  having: string | null;
  lateness: string | number | null;
  cost: number;
  alone: number;
  number: number | null;
  paused: boolean;
  complete_from: number | null;
}

export interface CoverageNode {
  window: string;
  range: number;
  slide: number;
  upstream: number | null;
  pieces: number | null;
  factor: boolean;
  cost: number;
  queries: number[];
}

export interface TreeView {
  number: number;
  queries: number[];
  edge_rate: number | null;
  overlap: number;
  cost: number;
  unshared_cost: number;
  cuts: [number, number][];
  stores: number[];
  coverage: CoverageNode[] | null;
}

export interface ChangeView {
  number: number;
  added: string[];
  dropped: string[];
  paused: string[];
  resumed: string[];
  moved: string[];
  cost_before: number;
  cost_after: number;
  needs: string[] | null;
  trees_before: number;
  trees_after: number;
  note: string;
}

export interface FailureView {
  name: string;
  batch: number;
  message: string;
  expression: string;
}

export interface PlanView {
  change: number;
  axis: "time" | "integer";
  unit: number;
  rate: number;
  strategy: string;
  model: "paper" | "engine";
  engine: string;
  cost: number;
  no_share: number;
  share_all: number;
  notes: string[];
  queries: QueryView[];
  trees: TreeView[];
  last_change: ChangeView | null;
  failed: FailureView[];
}

export interface QueryStatus {
  name: string;
  answers: number;
  late_rows: number;
  share: number;
  paused: boolean;
  state_bytes: number;
  groups: number;
  batch_answers: number;
  limits: Record<string, number | string> | null;
  why: string | null;
}

export interface StoreStatus {
  number: number;
  queries: number;
  slices: number;
  state_bytes: number;
  shards_per_batch: number;
  seconds: number;
}

export interface Status {
  active: boolean;
  batch: number;
  rows: number;
  rows_per_second: number;
  batch_seconds: number;
  watermark: number | null;
  high: number | null;
  lag: number | null;
  state_bytes: number;
  slices: number;
  queries: QueryStatus[];
  stores: StoreStatus[];
  error: string | null;
}

export interface Sample {
  batch: number;
  at: number;
  rows: number;
  seconds: number;
  watermark: number | null;
  high: number | null;
  state_bytes: number;
  slices: number;
  late: number;
  answers: number;
  run?: number;
}

export interface Mark {
  at: number;
  event: string;
  queries: string[];
  count: number;
  text: string;
}

export interface Live {
  state: "running" | "stopped" | "failed" | "new" | "plan";
  change: number;
  at: number | null;
  by: { pid: number; host: string } | null;
  status: Status | null;
  history: Sample[];
  marks: Mark[];
}

export interface Preview {
  queries: {
    name: string;
    window: string;
    tree: number;
    joins: string[];
    others: number;
    alone: number;
    edges_before: number | null;
    edges_after: number | null;
  }[];
  cost_before: number;
  cost_after: number;
  needs: string[] | null;
  trees_before: number;
  trees_after: number;
  note: string;
}

export interface Answers {
  query: string;
  readable: boolean;
  reason: string;
  slide: number;
  columns: { name: string; type: string; role: "key" | "value" }[];
  windows: [number, number][];
  rows: unknown[][];
}

export interface Done {
  queries: string[];
  done: "added" | "dropped" | "paused" | "resumed";
  by: "running" | "stored";
}

export interface Problem {
  kind: string;
  message: string;
  place: { line: number; column: number } | null;
}
