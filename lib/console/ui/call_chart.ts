/** What was called in a stretch of time, as the chart's island gets it. */
export interface ChartPoint {
  /** When it begins, in ms since the epoch. */
  at: number;
  calls: number;
  errors: number;
}

/** A place where a chart's axis is labeled, and the largest of them is its end. */
export function ticksTo(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= rough)! * power);
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Neighbors taken together so that no more than so many are left, for a table. */
export function condensed(points: readonly ChartPoint[], most: number): ChartPoint[] {
  const size = Math.max(1, Math.ceil(points.length / most));
  const groups: ChartPoint[] = [];
  points.forEach((point, index) => {
    const last = groups.at(-1);
    if (last === undefined || index % size === 0) return groups.push({ ...point });
    last.calls += point.calls;
    last.errors += point.errors;
  });
  return groups;
}
