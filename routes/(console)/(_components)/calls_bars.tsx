import type { CallBucket } from "../../../lib/telemetry/call_stats.ts";

export type { CallBucket };

const WIDTH = 960;
const HEIGHT = 160;

/** Calls over time as plain bars, errors at their feet; for where there are no scripts. */
export function CallsBars({ points }: { points: readonly CallBucket[] }) {
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

/** A place where a chart's axis is labeled, and the largest of them is its end. */
export function ticksTo(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= rough)! * power);
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
