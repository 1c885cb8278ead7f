import type { CallBucket } from "../../../lib/telemetry/call_stats.ts";

export type { CallBucket };

const WIDTH = 960;
const HEIGHT = 160;
const LABELS = 6;
const SECONDS_BELOW_MS = 5 * 60_000;

interface CallsBarsProps {
  points: readonly CallBucket[];
  /** The bar to stand out. */
  pointed?: number | undefined;
}

/** Calls over time as bars, errors at their feet, with the time below. */
export function CallsBars({ points, pointed }: CallsBarsProps) {
  const ticks = ticksTo(Math.max(0, ...points.map(({ calls }) => calls)));
  const most = ticks.at(-1) ?? 1;
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
    <>
      <svg
        class="calls-bars"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {ticks.map((tick) => {
          const y = HEIGHT - tick / most * HEIGHT;
          return <path key={tick} class="chart-line" d={`M0 ${y}H${WIDTH}`} />;
        })}
        {pointed !== undefined && (
          <rect class="chart-pointed" x={pointed * step} width={step} height={HEIGHT} />
        )}
        {points.map(({ calls }, index) => bar(calls, index, "chart-calls"))}
        {points.map(({ errors }, index) => bar(errors, index, "chart-errors"))}
      </svg>
      <ol class="chart-times" aria-hidden="true">
        {timeLabels(points).map((label, index) => <li key={index}>{label}</li>)}
      </ol>
    </>
  );
}

/** With seconds if the points span less than five minutes; a repeated label is left blank. */
export function timeLabels(points: readonly Pick<CallBucket, "at">[]): string[] {
  const every = Math.ceil(points.length / LABELS);
  const span = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const labels = points.filter((_, index) => index % every === 0)
    .map(({ at }) => timeOf(at, span < SECONDS_BELOW_MS));
  return labels.map((label, index) => label === labels[index - 1] ? "" : label);
}

export function timeOf(at: number, hasSeconds = false): string {
  return new Date(at).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(hasSeconds && { second: "2-digit" }),
  });
}

/** Places at which a chart's axis is labeled; the largest is its end. */
export function ticksTo(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= rough)! * power);
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
