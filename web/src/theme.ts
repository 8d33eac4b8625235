// Light or dark: as the system has it, until somebody chooses.

import { store } from "./store";

const KEY = "weft-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  const chosen = localStorage.getItem(KEY);
  return chosen ? chosen === "dark" : system.matches;
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  store.tell("theme");
}

export function toggleTheme(): void {
  localStorage.setItem(KEY, isDark() ? "light" : "dark");
  applyTheme();
}

system.addEventListener("change", applyTheme);
