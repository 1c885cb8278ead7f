import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as z from "zod/mini";
import { postAction } from "../../../lib/console/ui/api.ts";
import { formatCount } from "../../../lib/console/ui/format.ts";
import { onLive } from "../../../lib/console/ui/live.ts";
import { type CallBucket, CallsBars, ticksTo, timeOf } from "../(_components)/calls_bars.tsx";
import { type LiveMapData, MapDrawing, type Pulse } from "../(_components)/live_map.tsx";
import "../../../islands/frame.tsx";
// For fewer scripts: frame.tsx says how.

/** Calls and errors over time; the bar that is pointed at is read out. */
export function CallsChart({ points, label }: { points: CallBucket[]; label: string }) {
  const pointed = useSignal<number | undefined>(undefined);
  const point = pointed.value === undefined ? undefined : points[pointed.value];
  const ticks = ticksTo(Math.max(0, ...points.map(({ calls }) => calls)));
  return (
    <figure class="chart" aria-label={label}>
      <ol class="chart-ticks" aria-hidden="true">
        {ticks.toReversed().map((tick) => <li key={tick}>{tick.toLocaleString("en-US")}</li>)}
      </ol>
      <div
        class="chart-place"
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          pointed.value = Math.floor((clientX - left) / width * points.length);
        }}
        onPointerLeave={() => pointed.value = undefined}
      >
        <CallsBars points={points} pointed={pointed.value} />
      </div>
      <figcaption class="chart-legend">
        <span class="chart-key chart-calls">Calls</span>
        <span class="chart-key chart-errors">Errors</span>
        <span class="chart-reading" aria-hidden="true">{point && reading(point)}</span>
      </figcaption>
    </figure>
  );
}

function reading({ at, calls, errors }: CallBucket): string {
  return `${timeOf(at)}: ${formatCount(calls, "call")}, ${formatCount(errors, "error")}`;
}

const LiveCalls = z.object({
  calls: z.array(z.object({ server: z.string(), session: z.string(), ok: z.boolean() })),
});

/** As long as a call takes across the map. */
const PULSE_MS = 1_400;
const MOST_PULSES = 30;

/** The map with calls as they happen; the numbers follow with the page. */
export function LiveMap({ label, ...map }: LiveMapData & { label: string }) {
  const pulses = useSignal<Pulse[]>([]);
  const latest = useRef(map);
  latest.current = map;
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>();
    let last = 0;
    const stop = onLive("activity", (data) => {
      const { calls = [] } = LiveCalls.safeParse(data).data ?? {};
      const { clients, servers } = latest.current;
      // Calls of one client to one server at the same time are one line.
      const added = new Map<string, Pulse>();
      for (const { server, session, ok } of calls) {
        const pulse = {
          id: ++last,
          client: clients.findIndex(({ members }) => members.includes(session)),
          server: servers.findIndex(({ members }) => members.includes(server)),
          ok,
        };
        added.set(`${pulse.client} ${pulse.server} ${ok}`, pulse);
      }
      const room = MOST_PULSES - pulses.value.length;
      const shown = [...added.values()].slice(0, Math.max(0, room));
      if (shown.length === 0) return;
      pulses.value = [...pulses.value, ...shown];
      const timer = setTimeout(() => {
        timers.delete(timer);
        pulses.value = pulses.value.filter((pulse) => !shown.includes(pulse));
      }, PULSE_MS);
      timers.add(timer);
    });
    return () => {
      stop();
      timers.forEach(clearTimeout);
    };
  }, []);
  const drawing = { ...map, label, pulses: pulses.value };
  return (
    <div class="map-place">
      <MapDrawing {...drawing} shape="wide" />
      <MapDrawing {...drawing} shape="narrow" />
    </div>
  );
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
