// What the page knows, and who wants to hear when that changes.

import { ask, listen } from "./api";
import type { Live, Meta, PlanView, QueryStatus, QueryView, Sample } from "./types";

type Topic = "plan" | "live" | "selected" | "connection" | "theme";

class Store {
  meta!: Meta;
  plan!: PlanView;
  live: Live = { state: "new", change: 0, at: null, by: null, status: null, history: [], marks: [] };
  connected = true;
  selected: string | null = null;
  private readonly wanted = new Map<Topic, Set<() => void>>();
  private statuses = new Map<string, QueryStatus>();

  on(topic: Topic, call: () => void): void {
    if (!this.wanted.has(topic)) this.wanted.set(topic, new Set());
    this.wanted.get(topic)!.add(call);
  }

  tell(topic: Topic): void {
    this.wanted.get(topic)?.forEach((call) => call());
  }

  async load(): Promise<void> {
    [this.meta, this.plan, this.live] = await Promise.all([
      ask<Meta>("/api/meta"),
      ask<PlanView>("/api/plan"),
      ask<Live>("/api/live"),
    ]);
    this.index();
  }

  follow(): void {
    void listen(
      (body) => this.take(body as Live),
      (connected) => {
        if (connected === this.connected) return;
        this.connected = connected;
        this.tell("connection");
      },
    );
  }

  private take(live: Live): void {
    const known = new Map<string, Sample>();
    for (const one of [...this.live.history, ...live.history]) known.set(`${one.batch}@${one.at}`, one);
    const history = [...known.values()].sort((a, b) => a.at - b.at).slice(-240);
    this.live = { ...live, history };
    this.index();
    this.tell("live");
    if (live.change !== this.plan.change) void this.reload();
  }

  async reload(): Promise<void> {
    [this.meta, this.plan] = await Promise.all([ask<Meta>("/api/meta"), ask<PlanView>("/api/plan")]);
    if (this.selected && !this.query(this.selected)) this.selected = null;
    this.tell("plan");
    this.tell("selected");
  }

  private index(): void {
    this.statuses = new Map((this.live.status?.queries ?? []).map((one) => [one.name.toLowerCase(), one]));
  }

  status(name: string): QueryStatus | undefined {
    return this.statuses.get(name.toLowerCase());
  }

  query(name: string): QueryView | undefined {
    return this.plan.queries.find((query) => query.name.toLowerCase() === name.toLowerCase());
  }

  select(name: string | null): void {
    if (name === this.selected) return;
    this.selected = name;
    this.tell("selected");
  }

  /** What rates are per. */
  get per(): string {
    return this.plan.axis === "time" ? "second" : "unit";
  }

  get costUnit(): string {
    return this.plan.model === "engine" ? `ns of work per ${this.per}` : `operations per ${this.per}`;
  }
}

export const store = new Store();
