// Small help with elements; text is only ever set as text.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes);
  add(element, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes);
  add(element, children);
  return element;
}

function dress(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "class") {
      element.setAttribute("class", String(value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

function add(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

const ICONS: Record<string, string> = {
  sun: "M12 4V2m0 20v-2m8-8h2M2 12h2m13.7-5.7 1.4-1.4M4.9 19.1l1.4-1.4m0-11.4L4.9 4.9m14.2 14.2-1.4-1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z",
  open: "M7 11V8a5 5 0 0 1 9.6-2M6 11h12v9H6z",
  search: "m20 20-4.3-4.3M17 11a6 6 0 1 1-12 0 6 6 0 0 1 12 0Z",
  pause: "M9 5v14M15 5v14",
  play: "M8 5v14l11-7z",
  trash: "M5 7h14M10 7V4h4v3m3 0-1 13H8L7 7",
  down: "m6 9 6 6 6-6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5m11-5v5h-5",
  weave: "M3 7c4.500 0 4.500 4 9 4s4.500-4 9-4M3 14c4.500 0 4.500 4 9 4s4.500-4 9-4",
  cost: "M5 20V11m7 9V4m7 16v-6",
  live: "M3 12h4l3-8 4 16 3-8h4",
  queries: "M4 6h16M4 12h16M4 18h9",
  close: "m6 6 12 12M18 6 6 18",
};

export function icon(name: keyof typeof ICONS | string): SVGElement {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}

export function button(label: string, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

export function iconButton(
  name: string, label: string, onclick: () => void, attributes: Attributes = {},
): HTMLButtonElement {
  const made = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...attributes });
  made.append(icon(name));
  return made;
}

/** Say something to everyone, screen readers included. */
export function toast(message: string, kind: "good" | "bad" = "good"): void {
  const region = document.getElementById("toasts");
  if (!region) return;
  const shown = h("div", { class: `toast ${kind}`, role: kind === "bad" ? "alert" : "status" }, message);
  region.append(shown);
  setTimeout(() => shown.remove(), kind === "bad" ? 9000 : 5000);
}

/** A picture of nothing, with a word on what to do about it. */
export function empty(title: string, ...lines: Child[]): HTMLElement {
  const body = h("div", { class: "empty" }, icon("weave"), h("h3", {}, title));
  for (const line of lines) if (line) body.append(line instanceof Node ? line : h("p", {}, line));
  return body;
}
