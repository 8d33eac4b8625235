// A coverage plan as a graph: rows at the left, each window right of what it is made from.

import { h, s } from "../dom";
import { count, number } from "../format";
import { store } from "../store";
import type { CoverageNode, TreeView } from "../types";

const COLUMN = 190;
const ROW = 46;
const WIDE = 142;
const HIGH = 34;
const MOST = 400;

export function coverageGraph(tree: TreeView): HTMLElement {
  const nodes = tree.coverage ?? [];
  const places = lay(nodes);
  const shown = [...places.keys()];
  const depth = Math.max(0, ...shown.map((at) => places.get(at)![0]));
  const bottom = Math.max(0, ...shown.map((at) => places.get(at)![1]));
  const width = (depth + 1) * COLUMN;
  const height = (bottom + 1) * ROW + 12;
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words(nodes) });
  const first = nodes.map((_, at) => at).filter((at) => nodes[at].upstream === null && places.has(at)).map((at) => places.get(at)![1]);
  const root: [number, number] = [0, first.length ? (Math.min(...first) + Math.max(...first)) / 2 : 0];
  for (const at of shown) {
    const up = nodes[at].upstream;
    const [x0, y0] = corner(up === null ? root : places.get(up)!);
    const [x1, y1] = corner(places.get(at)!);
    const [ax, ay, bx, by] = [x0 + WIDE, y0 + HIGH / 2, x1, y1 + HIGH / 2];
    const bend = (ax + bx) / 2;
    picture.append(s("path", { d: `M${ax} ${ay}C${bend} ${ay} ${bend} ${by} ${bx} ${by}`, class: "edge" }));
    if (nodes[at].pieces !== null) {
      picture.append(s("text", { x: bx - 6, y: by - 5, class: "pieces" }, `${count(nodes[at].pieces!)} ×`));
    }
  }
  box(picture, root, "rows of the stream", "", "node rows");
  for (const at of shown) {
    const node = nodes[at];
    const what = node.factor ? "factor window" : node.queries.length === 1
      ? store.plan.queries[node.queries[0]].name : `${count(node.queries.length)} queries`;
    const made = box(picture, places.get(at)!, node.window, what, node.factor ? "node factor" : "node");
    made.append(s("title", {}, `${node.window}\n${what}\ncosts ${number(node.cost)}`));
  }
  const note = nodes.length > shown.length ? `${count(nodes.length - shown.length)} of ${count(nodes.length)} windows are not drawn.` : "";
  return h("div", { class: "graph" }, picture, h("p", { class: "muted small" },
    "On an edge: the pieces that make one window. Dashed: a factor window, which nobody asked for and which pays for itself. ", note));
}

function corner([x, y]: [number, number]): [number, number] {
  return [x * COLUMN + 2, y * ROW + 8];
}

function box(picture: SVGElement, place: [number, number], title: string, what: string, kind: string): SVGElement {
  const [x, y] = corner(place);
  const group = s("g", { class: kind }, s("rect", { x, y, width: WIDE, height: HIGH, rx: 6 }),
    s("text", { x: x + WIDE / 2, y: y + (what ? 14 : 21), class: "title" }, cut(title, 24)),
    what && s("text", { x: x + WIDE / 2, y: y + 27, class: "what" }, cut(what, 24)));
  picture.append(group);
  return group;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Across by distance from the rows; down by leaves, a window amid those that it feeds. */
function lay(nodes: CoverageNode[]): Map<number, [number, number]> {
  const below = new Map<number | null, number[]>();
  nodes.forEach((node, at) => below.set(node.upstream, [...(below.get(node.upstream) ?? []), at]));
  const places = new Map<number, [number, number]>();
  let leaves = 0;
  const visit = (at: number, depth: number): void => {
    if (places.size >= MOST) return;
    places.set(at, [depth, leaves]);
    const children = below.get(at) ?? [];
    if (!children.length) leaves++;
    children.forEach((child) => visit(child, depth + 1));
    const spread = children.filter((child) => places.has(child)).map((child) => places.get(child)![1]);
    if (spread.length) places.set(at, [depth, (Math.min(...spread) + Math.max(...spread)) / 2]);
  };
  (below.get(null) ?? []).forEach((at) => visit(at, 1));
  return places;
}

function words(nodes: CoverageNode[]): string {
  const told = nodes.slice(0, 40).map((node) =>
    `${node.window}${node.factor ? ", a factor window," : ""} from ${node.upstream === null ? "rows" : `${node.pieces} of ${nodes[node.upstream].window}`}`);
  return `${nodes.length} windows: ${told.join("; ")}`;
}
