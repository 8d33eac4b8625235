// Which view is shown; the address says it, so that it can be sent to somebody.

export type Tab = "weave" | "cost" | "live" | "queries";
export const TABS: [Tab, string][] = [["weave", "Weave"], ["cost", "Cost"], ["live", "Live"], ["queries", "Queries"]];

export function current(): Tab {
  const asked = location.hash.slice(1);
  return TABS.some(([tab]) => tab === asked) ? (asked as Tab) : "weave";
}

export function go(tab: Tab): void {
  location.hash = tab;
}
