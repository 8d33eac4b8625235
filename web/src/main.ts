// The page: what is served, four views, and where in them we are.

import "./style.css";
import { askToken } from "./actions";
import { Refused, setToken, takeToken, token } from "./api";
import { costView } from "./cost";
import { empty, fill, h, icon, iconButton, toast } from "./dom";
import { liveView } from "./live";
import { queriesView } from "./queries";
import { current, go, TABS, type Tab } from "./router";
import { store } from "./store";
import { applyTheme, isDark, toggleTheme } from "./theme";
import { weaveView } from "./weave/view";

const VIEWS: Record<Tab, () => HTMLElement> = { weave: weaveView, cost: costView, live: liveView, queries: queriesView };
const STATES = { running: ["good", "running"], stopped: ["warn", "stopped"], failed: ["bad", "failed"], new: ["", "not started"], plan: ["", "stored plan"] } as const;
const app = document.getElementById("app")!;

async function open(): Promise<void> {
  takeToken();
  applyTheme();
  for (;;) {
    try {
      await store.load();
      break;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) return failed(error);
      setToken(null);
      fill(app, h("main", { class: "view" }, empty("This dashboard is locked")));
      if (!(await askToken("Reading this dashboard needs its token."))) return failed(error);
    }
  }
  build();
  store.follow();
}

function failed(error: unknown): void {
  fill(app, h("main", { class: "view" }, empty("The dashboard could not be opened", String((error as Error).message),
    h("p", {}, h("button", { type: "button", class: "button", onclick: () => location.reload() }, "Try again")))));
}

function build(): void {
  const made = new Map<Tab, HTMLElement>();
  const main = h("main", { id: "main", tabindex: "-1" });
  const tabs = TABS.map(([tab, label]) => {
    const made = h("a", { href: `#${tab}`, class: "tab", id: `tab-${tab}` }, icon(tab), h("span", {}, label));
    return made;
  });
  const nav = h("nav", { class: "tabs", "aria-label": "Views" }, ...tabs);
  const state = h("span", { class: "pill", role: "status", id: "state" });
  const lock = iconButton("lock", "Unlock changes", () => {
    if (!token()) void askToken("Changing the stream needs the token that `weft serve` printed.");
    else { setToken(null); store.tell("connection"); toast("Changes are locked in this tab."); }
  }, { id: "lock" });
  const shade = iconButton("moon", "Light or dark", toggleTheme, { id: "theme" });

  function header(): void {
    const [kind, words] = STATES[store.live.state];
    state.className = `pill ${store.connected ? kind : "bad"}`;
    fill(state, h("span", { class: "beat", "aria-hidden": "true" }), store.connected ? words : "connection lost");
    lock.hidden = !store.meta.changes;
    const unlocked = token() !== null;
    fill(lock, icon(unlocked ? "open" : "lock"));
    lock.title = unlocked ? "Lock changes" : "Unlock changes";
    lock.setAttribute("aria-label", lock.title);
    fill(shade, icon(isDark() ? "sun" : "moon"));
    document.title = `${store.meta.name} – weft`;
  }

  function show(): void {
    const tab = current();
    if (!made.has(tab)) {
      made.set(tab, VIEWS[tab]());
      main.append(made.get(tab)!);
    }
    for (const [name, view] of made) view.hidden = name !== tab;
    TABS.forEach(([name], at) => tabs[at].toggleAttribute("aria-current", name === tab));
    TABS.forEach(([name], at) => { if (name === tab) tabs[at].setAttribute("aria-current", "page"); });
  }

  fill(app,
    h("a", { class: "skip", href: "#main", onclick: (event: Event) => { event.preventDefault(); main.focus(); } }, "Skip to the view"),
    h("header", { class: "top" },
      h("h1", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: "28", height: "28" }), h("span", {}, "weft"),
        h("span", { class: "source", title: store.meta.name }, store.meta.name)),
      nav,
      h("div", { class: "row" }, state, store.meta.read_only && h("span", { class: "pill" }, "read-only"), lock, shade)),
    main,
    h("div", { id: "toasts", "aria-live": "polite" }));
  store.on("live", header);
  store.on("plan", header);
  store.on("connection", header);
  store.on("theme", header);
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
    if (event.key === "/") {
      event.preventDefault();
      if (current() !== "queries") go("weave");
      setTimeout(() => document.getElementById(current() === "queries" ? "query-search" : "weave-search")?.focus());
    } else if (/^[1-4]$/.test(event.key)) go(TABS[Number(event.key) - 1][0]);
  });
  header();
  show();
}

void open();
