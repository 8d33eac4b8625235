// The weave: rows that scroll, a canvas behind them, and what is said of the thread in hand.

import { button, empty, fill, h, icon, iconButton } from "../dom";
import { count, instant, number, percent, plural } from "../format";
import { store } from "../store";
import type { TreeView } from "../types";
import { AXIS, draw, drawAxis, themeOf, type Scene } from "./draw";
import { edgesBetween, firstStart } from "./edges";
import { coverageGraph } from "./graph";
import { layOut, naturalSpan, rowAt, THREAD, type Layout } from "./layout";
import { detail } from "./panel";

const OVERSCAN = 6;

/** A canvas's context, with as many pixels as the screen has for it. */
function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export function weaveView(): HTMLElement {
  const collapsed = new Set<number>();
  let layout: Layout = layOut(store.plan, "", collapsed);
  let span = naturalSpan(store.plan);
  let from = 0;
  let following = true;
  let hovered: Scene["hovered"] = null;
  let dirty = false;
  let theme = themeOf(document.documentElement);
  let known = { change: -1, shown: layout };

  const search = h("input", {
    type: "search", id: "weave-search", placeholder: "Find queries: name, window, column …", "aria-label": "Find queries",
    oninput: () => { arrange(); scroller.scrollTop = 0; },
  });
  const summary = h("p", { class: "muted small", "aria-live": "polite" });
  const canvas = h("canvas", { class: "threads", "aria-hidden": "true" });
  const axis = h("canvas", { class: "axis", "aria-hidden": "true" });
  const rows = h("div", { class: "weave-rows" });
  const scroller = h("div", {
    class: "weave-scroller", tabindex: "0", id: "weave", role: "tree",
    "aria-label": "Queries by tree. Up and down choose, left and right move in time, plus and minus zoom.",
    onkeydown: (event: Event) => keys(event as KeyboardEvent),
    onscroll: () => { hide(); request(); },
  }, canvas, rows);
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const panel = h("aside", { class: "card weave-panel", "aria-label": "Selected query" });
  const tools = h("div", { class: "row tools" },
    h("div", { class: "search" }, icon("search"), search),
    summary,
    h("div", { class: "row group", role: "group", "aria-label": "Time axis" },
      iconButton("minus", "Show more time", () => zoom(1.5)),
      iconButton("plus", "Show less time", () => zoom(1 / 1.5)),
      iconButton("fit", "Back to now", () => { span = naturalSpan(store.plan); following = true; place(); })),
    button("Fold all", () => fold(), { class: "button small", id: "fold" }),
  );
  const body = h("div", { class: "weave-body" }, h("div", { class: "card weave-main" }, axis, scroller), panel);
  const root = h("section", { class: "view weave" }, tools, body, tip);

  function arrange(): void {
    layout = layOut(store.plan, search.value, collapsed);
    const all = store.plan.queries.length;
    const trees = plural(layout.bands.length, "tree", "trees");
    fill(summary, layout.shown === all ? `${plural(all, "query", "queries")} in ${trees}` : `${count(layout.shown)} of ${count(all)} queries in ${trees}`);
    rows.style.height = `${layout.height}px`;
    request();
  }

  function fold(): void {
    const open = store.plan.trees.some((tree) => !collapsed.has(tree.number));
    collapsed.clear();
    if (open) store.plan.trees.forEach((tree) => collapsed.add(tree.number));
    document.getElementById("fold")!.textContent = open ? "Unfold all" : "Fold all";
    arrange();
  }

  /** Put the newest row near the right edge, or begin at the epoch where nothing runs. */
  function place(): void {
    const high = store.live.status?.high ?? null;
    if (following) from = high === null ? -0.02 * span : high - 0.86 * span;
    request();
  }

  function zoom(by: number, around = 0.5): void {
    const anchor = from + around * span;
    span = Math.min(Math.max(span * by, 8), store.plan.unit * 86400 * 3650);
    from = anchor - around * span;
    following = false;
    request();
  }

  function request(): void {
    if (dirty) return;
    dirty = true;
    requestAnimationFrame(paint);
  }

  function scene(): Scene {
    const selected = store.selected === null ? -1 : store.plan.queries.findIndex((query) => query.name === store.selected);
    return {
      plan: store.plan, layout, from, span, hovered, selected,
      width: canvas.clientWidth, height: canvas.clientHeight, scroll: scroller.scrollTop,
      marks: { watermark: store.live.status?.watermark ?? null, high: store.live.status?.high ?? null },
    };
  }

  function paint(): void {
    dirty = false;
    const now = scene();
    if (!now.width) return;
    axis.style.width = `${now.width}px`;
    const context = sized(canvas, now.width, now.height);
    const first = Math.max(0, rowAt(layout.rows, now.scroll) - OVERSCAN);
    const last = Math.min(layout.rows.length, rowAt(layout.rows, now.scroll + now.height) + OVERSCAN);
    draw(context, now, theme, first, last);
    drawAxis(sized(axis, now.width, AXIS), now, theme);
    label(first, last);
    if (known.change !== store.plan.change) {
      known = { change: store.plan.change, shown: layout };
      performance.mark("weft:painted", { detail: store.plan.queries.length });
    }
  }

  const made = new Map<string, HTMLElement>();

  function label(first: number, last: number): void {
    const wanted = new Set<string>();
    for (let at = first; at < last; at++) {
      const row = layout.rows[at];
      const key = `${row.kind}-${row.tree.number}-${row.query}-${collapsed.has(row.tree.number)}-${store.plan.change}`;
      wanted.add(key);
      let element = made.get(key);
      if (!element) {
        element = row.kind === "tree" ? heading(row.tree) : row.kind === "query" ? thread(row.query) : slices(row.tree);
        made.set(key, element);
        rows.append(element);
      }
      element.style.transform = `translateY(${row.top}px)`;
      if (row.kind === "query") {
        const chosen = store.plan.queries[row.query].name === store.selected;
        element.setAttribute("aria-selected", String(chosen));
      }
    }
    for (const [key, element] of made) {
      if (!wanted.has(key)) {
        element.remove();
        made.delete(key);
      }
    }
    const selected = scene().selected;
    if (selected >= 0) scroller.setAttribute("aria-activedescendant", `thread-${selected}`);
    else scroller.removeAttribute("aria-activedescendant");
  }

  function heading(tree: TreeView): HTMLElement {
    const open = !collapsed.has(tree.number);
    const saved = tree.unshared_cost > 0 ? 1 - tree.cost / tree.unshared_cost : 0;
    const rate = tree.coverage
      ? `${plural(tree.coverage.length, "window", "windows")} made from windows`
      : `${number(tree.edge_rate)} edges per ${store.per}`;
    return h("div", {
      class: "tree-row", role: "treeitem", "aria-level": "1", "aria-expanded": String(open),
      "aria-label": `Tree ${tree.number}, ${plural(tree.queries.length, "query", "queries")}, ${rate}`,
    },
      h("button", {
        type: "button", class: "tree-name", "aria-expanded": String(open),
        onclick: () => { open ? collapsed.add(tree.number) : collapsed.delete(tree.number); arrange(); },
      }, h("span", { class: `dot t${((tree.number - 1) % 8) + 1}` }), `Tree ${tree.number}`, icon("down")),
      h("span", { class: "muted small facts" },
        `${plural(tree.queries.length, "query", "queries")} · ${rate}${saved > 0.005 ? ` · sharing saves ${percent(saved)}` : ""}`),
      tree.coverage && button("Graph", () => graph(tree), { class: "button small" }));
  }

  function thread(at: number): HTMLElement {
    const query = store.plan.queries[at];
    return h("div", {
      class: `thread-row${query.paused ? " paused" : ""}`, role: "treeitem", "aria-level": "2", id: `thread-${at}`, title: query.name,
      "aria-label": `${query.name}, ${query.window}, tree ${query.tree}${query.paused ? ", paused" : ""}`,
      onclick: () => choose(at),
    }, h("span", { class: "name" }, query.name), query.paused && icon("pause"));
  }

  function slices(_tree: TreeView): HTMLElement {
    return h("div", { class: "slices-row muted small", "aria-hidden": "true" }, "slices");
  }

  function graph(tree: TreeView): void {
    fill(panel, h("div", { class: "row spread" }, h("h2", {}, `Tree ${tree.number}: what is made from what`),
      iconButton("close", "Close the graph", () => showPanel())), coverageGraph(tree));
    body.classList.add("with-graph");
  }

  function choose(at: number): void {
    store.select(store.plan.queries[at].name);
    showPanel();
    request();
  }

  function showPanel(): void {
    body.classList.remove("with-graph");
    fill(panel, detail());
    panel.classList.toggle("chosen", store.selected !== null);
  }

  function keys(event: KeyboardEvent): void {
    const threads = layout.rows.filter((row) => row.kind === "query");
    const at = threads.findIndex((row) => store.plan.queries[row.query].name === store.selected);
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 };
    if (event.key in step && threads.length) {
      const next = threads[Math.min(Math.max(at + step[event.key], 0), threads.length - 1)];
      choose(next.query);
      const view = scroller.clientHeight - 3 * THREAD;
      if (next.top < scroller.scrollTop) scroller.scrollTop = next.top - 2 * THREAD;
      else if (next.top > scroller.scrollTop + view) scroller.scrollTop = next.top - view;
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      from += (event.key === "ArrowLeft" ? -0.1 : 0.1) * span;
      following = false;
      request();
    } else if (event.key === "+" || event.key === "=") zoom(1 / 1.5);
    else if (event.key === "-") zoom(1.5);
    else return;
    event.preventDefault();
  }

  function hide(): void {
    tip.hidden = true;
    if (hovered) { hovered = null; request(); }
  }

  function point(event: PointerEvent): void {
    const box = canvas.getBoundingClientRect();
    const left = event.clientX - box.left;
    const y = event.clientY - box.top + scroller.scrollTop;
    const row = layout.rows[rowAt(layout.rows, y)];
    if (dragging || !row || row.kind !== "query" || row.top > y) return hide();
    const query = store.plan.queries[row.query];
    const moment = from + (left / box.width) * span;
    let start: number | null = null;
    for (let at = firstStart(query.range, query.slide, query.phase, moment); at <= moment; at += query.slide) start = at;
    if (left < 0) start = null;
    hovered = { query: row.query, start };
    const tree = store.plan.trees[query.tree - 1];
    const others = tree.queries.length - 1;
    const lines: (HTMLElement | null)[] = [h("strong", {}, query.name), h("span", {}, query.window)];
    if (start !== null) {
      lines.push(h("span", {}, `${instant(start, store.plan.axis, true)} – ${instant(start + query.range, store.plan.axis, true)}`));
      const used = tree.coverage ? null : edgesBetween(tree.cuts, start, start + query.range);
      if (used) lines.push(h("span", {}, `put together from ${plural(used.length, "slice", "slices")}`));
    }
    lines.push(h("span", {}, others ? `shares tree ${tree.number} with ${plural(others, "query", "queries")}` : `alone in tree ${tree.number}`));
    fill(tip, ...lines);
    tip.hidden = left < 0; // names say enough by themselves
    const area = root.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX - area.left + 14, area.width - 240)}px`;
    tip.style.top = `${event.clientY - area.top + 16}px`;
    request();
  }

  let dragging: { x: number; from: number } | null = null;
  scroller.addEventListener("pointermove", (event) => {
    if (dragging) {
      from = dragging.from - ((event.clientX - dragging.x) / canvas.clientWidth) * span;
      following = false;
      request();
    }
    point(event);
  });
  scroller.addEventListener("pointerleave", hide);
  scroller.addEventListener("pointerdown", (event) => {
    const box = canvas.getBoundingClientRect();
    if (event.pointerType === "mouse" && event.button === 0 && event.clientX > box.left && event.clientX < box.right) {
      dragging = { x: event.clientX, from };
    }
  });
  window.addEventListener("pointerup", (event) => {
    if (dragging && Math.abs(event.clientX - dragging.x) < 4 && hovered) choose(hovered.query);
    dragging = null;
  });
  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !(event.shiftKey && event.deltaX === 0)) {
      if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      from += (event.deltaX / canvas.clientWidth) * span;
      following = false;
    } else {
      const box = canvas.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, (event.clientX - box.left) / box.width);
    }
    event.preventDefault();
    request();
  }, { passive: false });
  new ResizeObserver(request).observe(scroller);

  store.on("plan", () => { arrange(); showPanel(); });
  store.on("live", place);
  store.on("selected", () => { showPanel(); request(); });
  store.on("theme", () => { theme = themeOf(document.documentElement); request(); });

  if (!store.plan.queries.length) return h("section", { class: "view" }, empty("Nothing is woven yet", "Add a query, and its windows show here."));
  arrange();
  showPanel();
  place();
  return root;
}
