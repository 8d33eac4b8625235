// Lines over time by uPlot, in the page's colours, drawn anew when those change.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { instant } from "./format";
import { store } from "./store";
import { STEPS, ticked } from "./ticks";

export interface Line {
  label: string;
  values: (number | null)[];
}

export interface ChartOptions {
  height: number;
  axis: "clock" | "time" | "integer";
  format: (value: number) => string;
  fill?: boolean;
  sync?: string;
  points?: boolean;
}

/** Something that happened, drawn as a line from top to bottom. */
export interface Moment {
  at: number;
  kind: "change" | "bad" | "run";
}

export class Chart {
  private plot: uPlot | null = null;
  private data: { xs: number[]; lines: Line[] } = { xs: [], lines: [] };
  private moments: Moment[] = [];

  constructor(private readonly box: HTMLElement, private readonly options: ChartOptions) {
    new ResizeObserver(() => this.resize()).observe(box);
    store.on("theme", () => this.build());
  }

  set(xs: number[], lines: Line[], moments: Moment[] = []): void {
    this.moments = moments;
    const same = this.plot && lines.length === this.data.lines.length && lines.every((line, at) => line.label === this.data.lines[at].label);
    this.data = { xs, lines };
    if (same) this.plot!.setData([xs, ...lines.map((line) => line.values)] as uPlot.AlignedData);
    else this.build();
  }

  private mark(plot: uPlot, get: (name: string) => string): void {
    const { left, top, width, height } = plot.bbox;
    const hues = { change: get("--accent"), bad: get("--bad"), run: get("--muted") };
    plot.ctx.save();
    plot.ctx.setLineDash([4, 3]);
    for (const { at, kind } of this.moments) {
      const x = plot.valToPos(at, "x", true);
      if (x < left || x > left + width) continue;
      plot.ctx.strokeStyle = hues[kind];
      plot.ctx.beginPath();
      plot.ctx.moveTo(x, top);
      plot.ctx.lineTo(x, top + height);
      plot.ctx.stroke();
    }
    plot.ctx.restore();
  }

  private resize(): void {
    const width = this.box.clientWidth;
    if (!width) return;
    if (this.plot) this.plot.setSize({ width, height: this.options.height });
    else this.build();
  }

  private build(): void {
    this.plot?.destroy();
    this.plot = null;
    const { xs, lines } = this.data;
    if (!this.box.clientWidth || !lines.length) return;
    const style = getComputedStyle(document.documentElement);
    const get = (name: string) => style.getPropertyValue(name).trim();
    const { options } = this;
    const grid = { stroke: get("--line"), width: 1 };
    const said = (value: number) =>
      options.axis === "clock" ? new Date(value * 1000).toISOString().slice(11, 19) : instant(value, options.axis, true);
    const unit = options.axis === "time" ? 1e6 : 1;
    const timed = options.axis !== "integer";
    this.plot = new uPlot({
      width: this.box.clientWidth,
      height: options.height,
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.08 || 1] } },
      legend: { show: lines.length > 1, live: lines.length > 1 },
      cursor: { sync: options.sync ? { key: options.sync } : undefined, points: { size: 6 } },
      axes: [
        { stroke: get("--muted"), grid, ticks: grid, font: "11px system-ui", space: 70, size: 28,
          incrs: timed ? STEPS.map((step) => step * unit) : undefined,
          values: (_, ticks) => (timed ? ticked(ticks.map((tick) => tick / unit)) : ticks.map(said)) },
        { stroke: get("--muted"), grid, ticks: { show: false }, font: "11px system-ui", size: 58, values: (_, ticks) => ticks.map(options.format) },
      ],
      hooks: { draw: [(plot) => this.mark(plot, get)] },
      series: [
        { label: "window", value: (_, value) => (value === null ? "–" : said(value)) },
        ...lines.map((line, at): uPlot.Series => {
          const hue = get(`--thread-${(at % 8) + 1}`);
          return {
            label: line.label, stroke: hue, width: 1.75, spanGaps: false,
            fill: options.fill ? `color-mix(in srgb, ${hue} 14%, transparent)` : undefined,
            points: { show: options.points ?? false, size: 5 },
            value: (_, value) => (value === null ? "–" : options.format(value)),
          };
        }),
      ],
    }, [xs, ...lines.map((line) => line.values)] as uPlot.AlignedData, this.box);
  }
}
