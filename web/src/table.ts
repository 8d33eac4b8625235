// A table of any length: sorted, and only its rows in view are there.

import { fill, h } from "./dom";

const ROW = 38;

export interface ColumnOf<T> {
  title: string;
  /** What it is sorted by; columns without are not sorted. */
  by?: (row: T) => number | string;
  cell: (row: T) => Node | string;
  right?: boolean;
  /** Its share of the width, as CSS grid says it. */
  width: string;
  /** Its title is for screen readers only. */
  quiet?: boolean;
  /** Left out where the screen is narrow. */
  wide?: boolean;
}

export class Table<T> {
  readonly element: HTMLElement;
  private readonly head = h("div", { class: "tr th", role: "row" });
  private readonly body = h("div", { class: "tbody" });
  private readonly box: HTMLElement;
  private rows: T[] = [];
  private order: { column: number; down: boolean };

  constructor(
    private readonly columns: ColumnOf<T>[],
    private readonly key: (row: T) => string,
    options: { label: string; sort?: number; down?: boolean; tall?: string; id?: string },
  ) {
    this.order = { column: options.sort ?? -1, down: options.down ?? true };
    this.box = h("div", { class: `table-scroll ${options.tall ?? ""}`, tabindex: "0", role: "rowgroup", onscroll: () => this.paint() }, this.body);
    this.element = h("div", { class: "table", role: "table", "aria-label": options.label, id: options.id }, this.head, this.box);
    new ResizeObserver(() => { this.titles(); this.paint(); }).observe(this.box);
  }

  set(rows: T[]): void {
    this.rows = [...rows];
    this.sort();
  }

  private shown(): ColumnOf<T>[] {
    const narrow = this.box.clientWidth > 0 && this.box.clientWidth < 620;
    return this.columns.filter((column) => !(narrow && column.wide));
  }

  private titles(): void {
    const shown = this.shown();
    this.element.style.setProperty("--columns", shown.map((column) => column.width).join(" "));
    fill(this.head, ...shown.map((column) => {
      const at = this.columns.indexOf(column);
      const sorted = at === this.order.column ? (this.order.down ? "descending" : "ascending") : "none";
      const title = column.by
        ? h("button", { type: "button", class: `sort ${sorted}`, onclick: () => this.sortBy(at) }, column.title)
        : h("span", { class: column.quiet ? "sr" : "" }, column.title);
      return h("div", { role: "columnheader", class: column.right ? "right" : "", "aria-sort": column.by ? sorted : undefined }, title);
    }));
  }

  private sortBy(column: number): void {
    this.order = { column, down: this.order.column === column ? !this.order.down : true };
    this.sort();
  }

  private sort(): void {
    const by = this.columns[this.order.column]?.by;
    if (by) {
      const sign = this.order.down ? -1 : 1;
      this.rows.sort((a, b) => {
        const [x, y] = [by(a), by(b)];
        return sign * (typeof x === "string" ? x.localeCompare(String(y)) : x - Number(y));
      });
    }
    this.titles();
    this.paint();
  }

  paint(): void {
    const shown = this.shown();
    this.body.style.height = `${this.rows.length * ROW}px`;
    this.element.setAttribute("aria-rowcount", String(this.rows.length));
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 4);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + (this.box.clientHeight || 600)) / ROW) + 4);
    const held = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) ? document.activeElement : null;
    const focus = held ? [held.closest<HTMLElement>(".tr")?.dataset.key, held.getAttribute("aria-label")] : null;
    fill(this.body, ...this.rows.slice(first, last).map((row, at) => {
      const line = h("div", { class: "tr", role: "row", "data-key": this.key(row), "aria-rowindex": String(first + at + 1) },
        ...shown.map((column) => h("div", { role: "cell", class: column.right ? "right" : "" }, column.cell(row))));
      line.style.transform = `translateY(${(first + at) * ROW}px)`;
      return line;
    }));
    if (focus) {
      const again = [...this.body.querySelectorAll<HTMLElement>(".tr")].find((line) => line.dataset.key === focus[0]);
      [...(again?.querySelectorAll<HTMLElement>("button") ?? [])].find((one) => one.getAttribute("aria-label") === focus[1])?.focus();
    }
  }
}
