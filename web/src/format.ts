// Numbers and times as people read them.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const PRECISE = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function count(value: number): string {
  return COUNT.format(value);
}

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Math.abs(value) >= 100000 ? COMPACT.format(value) : PRECISE.format(value);
}

export function plural(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]] as const) {
    if (value >= size) return `${PRECISE.format(Number((value / size).toPrecision(3)))} ${unit}`;
  }
  return `${count(value)} B`;
}

export function percent(value: number): string {
  const fine = (value > 0 && value < 0.1) || (value > 0.985 && value < 0.9995);
  return `${(100 * value).toFixed(fine ? 1 : 0)}%`;
}

export function seconds(value: number | null): string {
  if (value === null) return "–";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 90) return `${value.toFixed(value < 10 ? 1 : 0)} s`;
  if (value < 5400) return `${Math.round(value / 60)} min`;
  if (value < 129600) return `${(value / 3600).toFixed(1)} h`;
  return `${count(value / 86400)} d`;
}

/** A moment on the axis: a time in UTC, or the integer that it is. */
export function instant(units: number | null, axis: string, short = false): string {
  if (units === null) return "–";
  if (axis === "integer") return count(units);
  const at = new Date(units / 1000);
  if (Number.isNaN(at.getTime())) return `${count(units)} µs`;
  const text = at.toISOString();
  return short ? text.slice(11, 19) : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

/** A length on the axis. */
export function length(units: number, axis: string): string {
  return axis === "integer" ? count(units) : seconds(units / 1e6);
}
