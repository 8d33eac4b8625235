// Changes of the stream, the token that they need, and the questions asked before.

import { ask, post, queryPath, Refused, setToken, token } from "./api";
import { button, fill, h, toast } from "./dom";
import { store } from "./store";
import type { Done } from "./types";

const HOW = {
  running: "It takes effect with the next micro-batch.",
  stored: "The stream is not running; the change takes effect when it next starts.",
};

/** Make a change; asks for the token first if there is none, and again if it is wrong. */
export async function change(make: () => Promise<Done>): Promise<Done | null> {
  if (!token() && !(await askToken("Changing the stream needs the token that `weft serve` printed."))) return null;
  for (;;) {
    try {
      const done = await make();
      toast(`${done.queries.join(", ")} ${done.done}. ${HOW[done.by]}`);
      await store.reload();
      return done;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
      setToken(null);
      if (!(await askToken("That token is wrong."))) return null;
    }
  }
}

async function said(make: () => Promise<Done>): Promise<void> {
  try {
    await change(make);
  } catch (error) {
    toast(String((error as Error).message), "bad");
  }
}

export function pause(name: string): Promise<void> {
  return said(() => post<Done>(queryPath(name, "/pause")));
}

export function resume(name: string): Promise<void> {
  return said(() => post<Done>(queryPath(name, "/resume")));
}

export async function drop(name: string): Promise<void> {
  const sure = await confirm(
    `Drop ${name}?`,
    "Its state is freed. Added again later, it is answered from the first window after that.",
    "Drop query",
  );
  if (sure) await said(() => ask<Done>(queryPath(name), { method: "DELETE" }));
}

function dialog(title: string, build: (close: (value: string) => void) => (Node | string)[]): Promise<string> {
  return new Promise((resolve) => {
    const box = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" });
    const close = (value: string) => box.close(value);
    fill(box, h("h2", { id: "dialog-title" }, title), ...build(close));
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue);
    });
    document.body.append(box);
    box.showModal();
  });
}

export async function confirm(title: string, text: string, yes: string): Promise<boolean> {
  const answer = await dialog(title, (close) => [
    h("p", {}, text),
    h("div", { class: "row end" },
      button("Cancel", () => close(""), { class: "button" }),
      button(yes, () => close("yes"), { class: "button danger", id: "confirm-yes" })),
  ]);
  return answer === "yes";
}

export async function askToken(why: string): Promise<boolean> {
  const input = h("input", { type: "password", id: "token-input", autocomplete: "off", "aria-label": "Token", required: true });
  const answer = await dialog("Unlock changes", (close) => {
    const form = h("form", { class: "stack", onsubmit: (event: Event) => { event.preventDefault(); close(input.value.trim()); } },
      h("p", {}, why),
      h("label", { class: "field" }, h("span", {}, "Token"), input),
      h("p", { class: "muted small" }, "It is kept in this tab only, until the tab is closed."),
      h("div", { class: "row end" },
        button("Cancel", () => close(""), { class: "button" }),
        h("button", { type: "submit", class: "button primary" }, "Unlock")));
    return [form];
  });
  if (!answer) return false;
  setToken(answer);
  store.tell("connection");
  return true;
}
