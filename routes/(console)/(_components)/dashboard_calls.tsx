import { Card } from "../../../components/layout.tsx";
import { Table } from "../../../components/tables.tsx";
import { InertText } from "../../../components/text.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { formatCount, formatLatency, formatNumber } from "../../../lib/console/ui/format.ts";
import { clientPath, serverPath } from "../../../lib/console/ui/pages.ts";
import { CallsChart, LiveMap } from "../(_islands)/dashboard.tsx";
import { type DashboardPage, type Range, RANGES } from "../(_page)/dashboard.ts";
import type { CallBucket } from "./calls_bars.tsx";

export function CallsCard({ calls }: Pick<DashboardPage, "calls">) {
  const { range, points } = calls;
  const label = `${formatCount(calls.calls, "call")} and ${formatCount(calls.errors, "error")} ` +
    `in the last ${RANGES[range].last}`;
  return (
    <Card title="Calls" aside={<Ranges range={range} />}>
      {calls.isLoading && <RefreshSoon madeAt={Date.now()} />}
      <p class="chart-lead">{calls.isLoading ? "Loading calls from the last day" : label}</p>
      {calls.calls === 0 && !calls.isLoading
        ? (
          <p class="chart-empty muted">
            No tool calls in this period. New calls appear here live.
          </p>
        )
        : <CallsChart points={points} label={label} />}
      <CallsTable points={points} />
    </Card>
  );
}

function Ranges({ range }: { range: Range }) {
  return (
    <nav class="segments" aria-label="Time range">
      {Object.entries(RANGES).map(([name, { label }]) => (
        <a
          key={name}
          class="segment segment-word"
          href={name === "24h" ? "/" : `/?range=${name}`}
          aria-current={name === range ? "true" : "false"}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

const TABLE_ROWS = 24;

/** The chart's numbers; stretches without calls are left out. */
function CallsTable({ points }: { points: readonly CallBucket[] }) {
  const rows = condensed(points, TABLE_ROWS).filter(({ calls }) => calls > 0);
  if (rows.length === 0) return null;
  return (
    <details class="chart-table">
      <summary>Show as a table</summary>
      <Table
        caption="Calls and errors over time"
        columns={["From", ["Calls", "number"], ["Errors", "number"]]}
      >
        {rows.map(({ at, calls, errors }) => (
          <tr key={at}>
            <td>
              <Moment at={at} />
            </td>
            <td class="number">{formatNumber(calls)}</td>
            <td class="number">{formatNumber(errors)}</td>
          </tr>
        ))}
      </Table>
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

/** Adds up neighbors so that at most so many points are left. */
export function condensed(points: readonly CallBucket[], most: number): CallBucket[] {
  const size = Math.max(1, Math.ceil(points.length / most));
  const groups: CallBucket[] = [];
  points.forEach((point, index) => {
    const last = groups.at(-1);
    if (last === undefined || index % size === 0) return groups.push({ ...point });
    last.calls += point.calls;
    last.errors += point.errors;
  });
  return groups;
}

/** Who calls what, as it happens. */
export function MapCard({ page }: { page: DashboardPage }) {
  const { map, calls, counts } = page;
  const inTrouble = map.servers.filter(({ tone }) => tone === "bad" || tone === "warn").length;
  if (counts.servers === 0) return null;
  const label = `Live map: ${formatCount(page.clients.length, "client")}, the gateway, ${
    formatCount(counts.servers, "server")
  }, ${inTrouble} failing or slow`;
  return (
    <Card
      title="Live map"
      aside={map.clients.length === 0 ? "no client connected" : "last 24 hours"}
    >
      <LiveMap label={label} {...map} />
      <details class="chart-table">
        <summary>Show as a table</summary>
        {page.clients.length > 0 && (
          <Table
            caption="Connected clients"
            columns={["Client", ["Calls", "number"], ["Errors", "number"]]}
          >
            {page.clients.map(({ id, name, calls, errors }) => (
              <tr key={id}>
                <td class="cut">
                  <a href={clientPath(id)}>
                    <InertText text={name} />
                  </a>
                </td>
                <td class="number">{formatNumber(calls)}</td>
                <td class={errors > 0 ? "number tone-bad" : "number"}>{formatNumber(errors)}</td>
              </tr>
            ))}
          </Table>
        )}
        <ServerTimesTable calls={calls} idle={counts.servers - calls.servers.length} />
      </details>
    </Card>
  );
}

function ServerTimesTable({ calls, idle }: Pick<DashboardPage, "calls"> & { idle: number }) {
  return (
    <>
      <Table
        caption="Calls and durations by server, last 24 hours"
        class="times-table"
        columns={[
          "Server",
          ["Calls", "number"],
          ["Errors", "number"],
          ["p50", "number", "Half of the calls were faster"],
          ["p95", "number", "95 % of the calls were faster"],
        ]}
      >
        {calls.servers.map(({ server, calls, errors, p50, p95 }) => (
          <tr key={server} class="row-link" data-row>
            <td class="cut">
              <a href={serverPath(server)} class="mono cover" data-row-link>
                <InertText text={server} />
              </a>
            </td>
            <td class="number">{formatNumber(calls)}</td>
            <td class={errors > 0 ? "number tone-bad" : "number"}>{formatNumber(errors)}</td>
            <td class="number">{formatLatency(p50)}</td>
            <td class="number">{formatLatency(p95)}</td>
          </tr>
        ))}
      </Table>
      {idle > 0 && (
        <p class="card-lead">
          <a href="/servers">{formatCount(idle, "server")} without calls</a>
        </p>
      )}
    </>
  );
}
