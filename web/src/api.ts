// Asking the server. The token goes in a header, from this tab's memory, and nowhere else.

import type { Problem } from "./types";

const KEY = "weft-token";

export class Refused extends Error {
  constructor(readonly status: number, readonly problem: Problem) {
    super(problem.message);
  }
}

export function token(): string | null {
  return sessionStorage.getItem(KEY);
}

export function setToken(value: string | null): void {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

/** `#token=...`, as `weft serve` prints it, is taken and wiped from the address at once. */
export function takeToken(): void {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!found) return;
  setToken(decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname);
}

function headers(): Record<string, string> {
  const held = token();
  return held ? { Authorization: `Bearer ${held}` } : {};
}

export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(path, {
    ...init,
    headers: { ...headers(), ...(init.body ? { "Content-Type": "application/json" } : {}) },
  });
  if (!response.ok) throw await refused(response);
  return (await response.json()) as T;
}

async function refused(response: Response): Promise<Refused> {
  try {
    return new Refused(response.status, (await response.json()).error as Problem);
  } catch {
    return new Refused(response.status, { kind: "HTTP", message: `${response.status} ${response.statusText}`, place: null });
  }
}

export function post<T>(path: string, body: unknown = null, signal?: AbortSignal): Promise<T> {
  return ask<T>(path, { method: "POST", body: body === null ? undefined : JSON.stringify(body), signal });
}

export function queryPath(name: string, rest = ""): string {
  return `/api/queries/${encodeURIComponent(name)}${rest}`;
}

/** Server-sent events by fetch, because an EventSource cannot carry the token. */
export async function listen(onevent: (body: unknown) => void, onstate: (connected: boolean) => void): Promise<never> {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const response = await fetch("/api/events", { headers: headers() });
      if (!response.ok || !response.body) throw await refused(response);
      onstate(true);
      wait = 1000;
      let rest = "";
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) {
          const data = part.split("\n").find((line) => line.startsWith("data: "));
          if (data) onevent(JSON.parse(data.slice(6)));
        }
      }
    } catch {
      // the server is away, or wants a token: try again below
    }
    onstate(false);
    await new Promise((resume) => setTimeout(resume, wait));
  }
}
