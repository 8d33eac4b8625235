// The weave on a canvas: only what is in view, so that a thousand threads cost what forty do.

import { instant } from "../format";
import type { PlanView } from "../types";
import { edgesBetween, firstStart, modulo } from "./edges";
import { HEADER, SLICES, THREAD, type Band, type Layout, type Row } from "./layout";

export const AXIS = 30;
/** The height of the axis, which is a canvas of its own above the threads. */
const LANES = 4;
const THIN = 4;
/** Pixels of a slide below which instances run together. */

export interface Scene {
  plan: PlanView;
  layout: Layout;
  from: number;
  span: number;
  width: number;
  height: number;
  scroll: number;
  hovered: { query: number; start: number | null } | null;
  selected: number;
  marks: { watermark: number | null; high: number | null };
}

export interface Theme {
  ink: string;
  muted: string;
  line: string;
  surface: string;
  ground: string;
  accent: string;
  threads: string[];
}

export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: get("--ink"), muted: get("--muted"), line: get("--line"), surface: get("--surface"),
    ground: get("--ground"), accent: get("--accent"),
    threads: Array.from({ length: 8 }, (_, at) => get(`--thread-${at + 1}`)),
  };
}

export function x(scene: Scene, at: number): number {
  return ((at - scene.from) / scene.span) * scene.width;
}

export function draw(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme, first: number, last: number): void {
  canvas.clearRect(0, 0, scene.width, scene.height);
  const top = -scene.scroll;
  for (const band of scene.layout.bands) {
    if (band.bottom + top < 0 || band.top + top > scene.height) continue;
    drawBand(canvas, scene, theme, band, top);
  }
  for (let at = first; at < last; at++) {
    const row = scene.layout.rows[at];
    if (row.kind === "query") drawThread(canvas, scene, theme, row, top);
  }
  for (const band of scene.layout.bands) {
    if (band.bottom + top < 0 || band.top + top > scene.height) continue;
    drawSlices(canvas, scene, theme, band, top);
  }
  drawMarks(canvas, scene, theme);
}

function colour(theme: Theme, tree: number): string {
  return theme.threads[(tree - 1) % theme.threads.length];
}

function drawBand(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme, band: Band, top: number): void {
  canvas.fillStyle = theme.surface;
  canvas.fillRect(0, band.top + top + HEADER, scene.width, band.bottom - band.top - HEADER);
}

function drawThread(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme, row: Row, top: number): void {
  const query = scene.plan.queries[row.query];
  const y = row.top + top;
  const active = scene.hovered?.query === row.query || scene.selected === row.query;
  if (active) {
    canvas.fillStyle = theme.line;
    canvas.globalAlpha = 0.55;
    canvas.fillRect(0, y, scene.width, THREAD);
  }
  canvas.fillStyle = colour(theme, row.tree.number);
  const pixels = scene.width / scene.span;
  const dim = query.paused ? 0.35 : 1;
  if (query.slide * pixels < THIN) {
    canvas.globalAlpha = (active ? 0.75 : 0.45) * dim;
    canvas.fillRect(0, y + 6, scene.width, THREAD - 12);
    canvas.globalAlpha = 1;
    return;
  }
  if (query.range > LANES * query.slide) return drawDense(canvas, scene, row, y, active, dim);
  const lanes = Math.max(1, Math.ceil(query.range / query.slide));
  const height = Math.max(2.5, Math.min(9, (THREAD - 8) / lanes - 1));
  const step = lanes === 1 ? 0 : (THREAD - 6 - height) / (lanes - 1);
  const offset = lanes === 1 ? (THREAD - height) / 2 : 3;
  const until = scene.from + scene.span;
  for (let start = firstStart(query.range, query.slide, query.phase, scene.from); start < until; start += query.slide) {
    const count = Math.round((start - query.phase) / query.slide);
    const left = Math.max(-4, x(scene, start) + 0.5);
    const right = Math.min(scene.width + 4, x(scene, start + query.range) - 0.5);
    const under = scene.hovered?.query === row.query && scene.hovered.start === start;
    canvas.globalAlpha = (under ? 1 : active ? 0.85 : modulo(count, 2) ? 0.55 : 0.75) * dim;
    const lane = y + offset + modulo(count, lanes) * step;
    canvas.beginPath();
    canvas.roundRect(left, lane, Math.max(1.5, right - left), height, 2);
    canvas.fill();
  }
  canvas.globalAlpha = 1;
}

/** Many windows at once: a ribbon with a notch at every start, and the one under the pointer. */
function drawDense(
  canvas: CanvasRenderingContext2D, scene: Scene, row: Row, y: number, active: boolean, dim: number,
): void {
  const query = scene.plan.queries[row.query];
  canvas.globalAlpha = (active ? 0.5 : 0.32) * dim;
  canvas.fillRect(0, y + 6, scene.width, THREAD - 12);
  canvas.globalAlpha = (active ? 1 : 0.8) * dim;
  const until = scene.from + scene.span;
  for (let start = scene.from + modulo(query.phase - scene.from, query.slide); start < until; start += query.slide) {
    canvas.fillRect(Math.round(x(scene, start)), y + 4, 1.5, THREAD - 8);
  }
  const under = scene.hovered?.query === row.query ? scene.hovered.start : null;
  if (under !== null) {
    canvas.globalAlpha = 1;
    const left = x(scene, under);
    canvas.beginPath();
    canvas.roundRect(left, y + 5, Math.max(2, x(scene, under + query.range) - left), THREAD - 10, 3);
    canvas.fill();
  }
  canvas.globalAlpha = 1;
}

/** Where a band's slices are drawn: at its foot, or at the foot of the view while that is below. */
export function slicesTop(scene: Scene, band: Band, top: number): number {
  const foot = band.bottom + top - SLICES;
  const pinned = scene.height - SLICES;
  return Math.max(Math.min(foot, pinned), band.top + top + HEADER);
}

function drawSlices(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme, band: Band, top: number): void {
  if (band.tree.coverage || band.bottom - band.top <= HEADER) return;
  const y = slicesTop(scene, band, top);
  const until = scene.from + scene.span;
  const hue = colour(theme, band.tree.number);
  canvas.fillStyle = theme.surface;
  canvas.fillRect(0, y, scene.width, SLICES);
  canvas.fillStyle = theme.line;
  canvas.fillRect(0, y, scene.width, 1);
  const lookback = Math.max(...band.tree.cuts.map(([, step]) => step), 1);
  const edges = edgesBetween(band.tree.cuts, scene.from - Math.min(lookback, scene.span), until + Math.min(lookback, scene.span));
  const box = { y: y + 8, height: SLICES - 16 };
  if (edges === null || edges.length > scene.width) {
    canvas.globalAlpha = 0.35;
    canvas.fillStyle = hue;
    canvas.fillRect(0, box.y, scene.width, box.height);
    canvas.globalAlpha = 1;
    return;
  }
  const used = usedWindow(scene, band);
  const pinned = y < band.bottom + top - SLICES - 1;
  for (let at = 0; at + 1 < edges.length; at++) {
    const left = x(scene, edges[at]);
    const right = x(scene, edges[at + 1]);
    if (right < 0 || left > scene.width) continue;
    const inside = used !== null && edges[at] >= used[0] && edges[at + 1] <= used[1];
    canvas.fillStyle = inside ? theme.accent : hue;
    canvas.globalAlpha = inside ? 1 : used ? 0.18 : at % 2 ? 0.28 : 0.5;
    canvas.fillRect(left + 0.5, box.y, Math.max(0.5, right - left - 1), box.height);
  }
  canvas.globalAlpha = 1;
  if (pinned) tag(canvas, theme, `slices of tree ${band.tree.number}`, 6, y + 6);
  if (used) drawUse(canvas, scene, theme, band, top, used, y);
}

function tag(canvas: CanvasRenderingContext2D, theme: Theme, text: string, left: number, y: number): void {
  canvas.font = "11px system-ui, sans-serif";
  canvas.textBaseline = "middle";
  canvas.fillStyle = theme.surface;
  canvas.globalAlpha = 0.9;
  canvas.fillRect(left, y, canvas.measureText(text).width + 10, SLICES - 12);
  canvas.globalAlpha = 1;
  canvas.fillStyle = theme.muted;
  canvas.fillText(text, left + 5, y + (SLICES - 12) / 2);
}

function usedWindow(scene: Scene, band: Band): [number, number] | null {
  const hovered = scene.hovered;
  if (!hovered || hovered.start === null) return null;
  const query = scene.plan.queries[hovered.query];
  return query.tree === band.tree.number ? [hovered.start, hovered.start + query.range] : null;
}

function drawUse(
  canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme, band: Band, top: number, used: [number, number], y: number,
): void {
  canvas.strokeStyle = theme.accent;
  canvas.setLineDash([3, 3]);
  for (const edge of used) {
    const at = Math.round(x(scene, edge)) + 0.5;
    canvas.beginPath();
    canvas.moveTo(at, Math.max(0, band.top + top + HEADER));
    canvas.lineTo(at, y + SLICES);
    canvas.stroke();
  }
  canvas.setLineDash([]);
}

function drawMarks(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
  const marks: [number | null, string, number[]][] = [
    [scene.marks.watermark, theme.muted, [5, 4]],
    [scene.marks.high, theme.accent, []],
  ];
  for (const [moment, stroke, dash] of marks) {
    if (moment === null) continue;
    const at = Math.round(x(scene, moment)) + 0.5;
    canvas.strokeStyle = stroke;
    canvas.setLineDash(dash);
    canvas.beginPath();
    canvas.moveTo(at, 0);
    canvas.lineTo(at, scene.height);
    canvas.stroke();
  }
  canvas.setLineDash([]);
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];

function tick(scene: Scene): number {
  const wanted = (110 / scene.width) * scene.span;
  if (scene.plan.axis === "time") {
    const found = STEPS.find((step) => step * 1e6 >= wanted);
    if (found && wanted >= 2e5) return found * 1e6;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return [1, 2, 5, 10].map((by) => by * power).find((step) => step >= wanted) ?? power * 10;
}

export function drawAxis(canvas: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
  canvas.clearRect(0, 0, scene.width, AXIS);
  canvas.fillStyle = theme.line;
  canvas.fillRect(0, AXIS - 1, scene.width, 1);
  canvas.font = "11px system-ui, sans-serif";
  canvas.textBaseline = "middle";
  const step = tick(scene);
  for (let at = Math.ceil(scene.from / step) * step; at < scene.from + scene.span; at += step) {
    const place = x(scene, at);
    canvas.fillStyle = theme.line;
    canvas.fillRect(Math.round(place), AXIS - 7, 1, 6);
    canvas.fillStyle = theme.muted;
    const daily = scene.plan.axis === "time" && step >= 86400e6;
    const label = daily ? instant(at, "time").slice(0, 10) : instant(at, scene.plan.axis, true);
    canvas.fillText(label, place + 5, 13);
  }
  const marks: [number | null, string, string][] = [
    [scene.marks.watermark, "watermark", theme.muted], [scene.marks.high, "newest row", theme.accent],
  ];
  for (const [moment, label, hue] of marks) {
    if (moment === null) continue;
    const at = x(scene, moment);
    if (at < 0 || at > scene.width) continue;
    const wide = canvas.measureText(label).width + 10;
    const left = label === "watermark" ? at - wide : at;
    canvas.fillStyle = hue;
    canvas.beginPath();
    canvas.roundRect(left, 4, wide, 17, 4);
    canvas.fill();
    canvas.fillStyle = theme.surface;
    canvas.fillText(label, left + 5, 13);
  }
}
