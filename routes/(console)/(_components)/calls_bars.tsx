import { formatNumber } from "../../../lib/console/ui/format.ts";

/** What was called in a stretch of time, as the chart's island gets it. */
export interface ChartPoint {
  /** When it begins, in ms since the epoch. */
  at: number;
  calls: number;
  errors: number;
}

const WIDTH = 960;
const HEIGHT = 160;
const TABLE_ROWS = 24;

/** Calls over time as plain bars, errors at their feet; for where there are no scripts. */
export function CallsBars({ points }: { points: readonly ChartPoint[] }) {
  const most = ticksTo(Math.max(0, ...points.map(({ calls }) => calls))).at(-1) ?? 1;
  const step = WIDTH / Math.max(1, points.length);
  const bar = (value: number, index: number, name: string) => {
    if (value === 0) return null;
    const height = Math.max(2, value / most * HEIGHT);
    return (
      <rect
        key={`${name}${index}`}
        class={name}
        x={index * step + step * 0.1}
        y={HEIGHT - height}
        width={step * 0.8}
        height={height}
      />
    );
  };
  return (
    <svg
      class="calls-bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {points.map(({ calls }, index) => bar(calls, index, "chart-calls"))}
      {points.map(({ errors }, index) => bar(errors, index, "chart-errors"))}
    </svg>
  );
}

/** The same numbers to be read; stretches without calls are left out. */
export function CallsTable({ points }: { points: readonly ChartPoint[] }) {
  const rows = condensed(points, TABLE_ROWS).filter(({ calls }) => calls > 0);
  if (rows.length === 0) return null;
  return (
    <details class="chart-table">
      <summary>Show as a table</summary>
      <table class="table">
        <caption class="visually-hidden">Calls and errors over time</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col" class="number">Calls</th>
            <th scope="col" class="number">Errors</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, calls, errors }) => (
            <tr key={at}>
              <td>
                <Moment at={at} />
              </td>
              <td class="number">{formatNumber(calls)}</td>
              <td class="number">{formatNumber(errors)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The server does not know the reader's clock; the clock island does. */
function Moment({ at }: { at: number }) {
  const exact = new Date(at).toISOString();
  return (
    <time dateTime={exact} title={exact} data-clock="time">
      {`${exact.slice(0, 10)} ${exact.slice(11, 16)} UTC`}
    </time>
  );
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
