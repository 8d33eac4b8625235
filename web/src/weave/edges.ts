// Where a tree's slices are cut: the union of progressions `offset + k * step`.

export type Cuts = [number, number][];

/** How many edges a stretch has at most, without listing them. */
export function estimate(cuts: Cuts, from: number, to: number): number {
  return cuts.reduce((sum, [, step]) => sum + (to - from) / step + 1, 0);
}

/** The edges in `[from, to)`, in order; null where there are more than `most`. */
export function edgesBetween(cuts: Cuts, from: number, to: number, most = 6000): number[] | null {
  if (estimate(cuts, from, to) > 4 * most) return null;
  const found = new Set<number>();
  for (const [offset, step] of cuts) {
    for (let at = from + modulo(offset - from, step); at < to; at += step) found.add(at);
    if (found.size > most) return null;
  }
  return [...found].sort((a, b) => a - b);
}

export function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** The first start of a window's instances that end after a moment. */
export function firstStart(range: number, slide: number, phase: number, after: number): number {
  const bound = after - range + 1;
  return bound + modulo(phase - bound, slide);
}
