import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { formatCount } from "../../../lib/console/ui/format.ts";
import { postAction } from "../../../lib/console/ui/api.ts";
import { theme } from "../../../lib/console/ui/preferences.ts";
import { type CallBucket, CallsBars, ticksTo } from "../(_components)/calls_bars.tsx";
import "../../../islands/frame.tsx";
// For fewer scripts: frame.tsx says how.

const HEIGHT = 180;

/** Calls and errors over time; plain bars until the chart has loaded. */
export function CallsChart({ points, label }: { points: CallBucket[]; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>();
  const isDrawn = useSignal(false);
  const pointed = useSignal<number | undefined>(undefined);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isGone = false;
    const size = () => ({ width: element.clientWidth, height: HEIGHT });
    const watching = new ResizeObserver(() => chart.current?.setSize(size()));
    // Only a page with a chart has to carry the library.
    import("uplot").then(({ default: Plot }) => {
      if (isGone) return;
      const options = plotOptions(Plot, element, (index) => pointed.value = index);
      isDrawn.value = true;
      chart.current = new Plot({ ...options, ...size() }, dataOf(points), element);
      watching.observe(element);
    }).catch(() => {}); // The bars stay.
    return () => {
      isGone = true;
      watching.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, []);
  useEffect(() => chart.current?.setData(dataOf(points)), [points]);
  useSignalEffect(() => {
    theme.value;
    // The colors are read from the styles, which have changed by the next frame.
    requestAnimationFrame(() => chart.current?.redraw());
  });
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => chart.current?.redraw();
    system.addEventListener("change", redraw);
    return () => system.removeEventListener("change", redraw);
  }, []);

  const point = pointed.value === undefined ? undefined : points[pointed.value];
  return (
    <figure class="chart" aria-label={label}>
      <div ref={place} class="chart-place" data-drawn={isDrawn.value}>
        {isDrawn.value ? null : <CallsBars points={points} />}
      </div>
      <figcaption class="chart-legend">
        <span class="chart-key chart-calls">Calls</span>
        <span class="chart-key chart-errors">Errors</span>
        <span class="chart-reading" aria-hidden="true">{point && reading(point)}</span>
      </figcaption>
    </figure>
  );
}

function dataOf(points: readonly CallBucket[]): uPlot.AlignedData {
  return [
    points.map(({ at }) => at / 1000),
    // Zero draws no bar, not even a thin one.
    points.map(({ calls }) => calls || null),
    points.map(({ errors }) => errors || null),
  ];
}

function reading({ at, calls, errors }: CallBucket): string {
  return `${timeOf(at)}: ${formatCount(calls, "call")}, ${formatCount(errors, "error")}`;
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

function plotOptions(
  Plot: typeof uPlot,
  element: HTMLElement,
  onPoint: (index: number | undefined) => void,
): Omit<uPlot.Options, "width" | "height"> {
  // A canvas cannot use CSS variables: colors are read from elements.
  const colorOf = (selector: string) => () => {
    const styled = element.parentElement?.querySelector(selector) ?? element;
    return getComputedStyle(styled).color;
  };
  const quiet = () => getComputedStyle(element).color;
  const line = () => getComputedStyle(element).borderBottomColor;
  const bars = Plot.paths.bars?.({ size: [0.8, 60], align: 1 });
  const series = (label: string, selector: string): uPlot.Series => ({
    label,
    stroke: colorOf(selector),
    fill: colorOf(selector),
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  return {
    legend: { show: false },
    // Half a label fits beside the last one.
    padding: [null, 20, null, null],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (plot, from, to) => [from, to + stepOf(plot)] },
      y: { range: (_plot, _from, most) => [0, ticksTo(most ?? 0).at(-1) ?? 1] },
    },
    axes: [
      {
        stroke: quiet,
        font,
        size: 28,
        space: 80,
        grid: { show: false },
        ticks: { show: false },
        values: (_plot, places) => places.map((seconds) => timeOf(seconds * 1000)),
      },
      {
        stroke: quiet,
        font,
        size: 44,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        splits: (_plot, _axis, _from, most) => ticksTo(most),
      },
    ],
    series: [{}, series("Calls", ".chart-calls"), series("Errors", ".chart-errors")],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}

/** The distance between two points: the last bar is as wide as the others. */
function stepOf(plot: uPlot): number {
  const [first = 0, second = first + 1] = plot.data[0];
  return second - first;
}

/** Ends the tour when its last step is left. */
export function TourEnd() {
  useEffect(() => {
    const finish = () => {
      // If it cannot be saved, the tour is still over for this page.
      postAction({ action: "finish-tour" }).catch(() => {});
    };
    addEventListener("pagehide", finish);
    return () => {
      removeEventListener("pagehide", finish);
      finish();
    };
  }, []);
  return null;
}
