import type { ChartPoint } from "../lib/console/ui/call_chart.ts";
import { condensed, ticksTo } from "../lib/console/ui/call_chart.ts";
import { formatNumber } from "../lib/console/ui/format.ts";

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
