import { Bar } from "../../../components/badges.tsx";
import { Card } from "../../../components/layout.tsx";
import { InertText } from "../../../components/text.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { formatCount, formatLatency, formatNumber } from "../../../lib/console/ui/format.ts";
import { serverPath } from "../../../lib/console/ui/pages.ts";
import { CallsChart } from "../(_islands)/dashboard.tsx";
import { type DashboardCalls, type Range, RANGES } from "../(_page)/dashboard.ts";
import { CallsTable } from "./calls_bars.tsx";

/** What was called over time, and how long each server took. */
export function CallsCard({ calls }: { calls: DashboardCalls }) {
  const { range, points } = calls;
  const label = `${formatCount(calls.calls, "call")} and ${formatCount(calls.errors, "error")} ` +
    `in the last ${RANGES[range].last}`;
  return (
    <Card title="Calls" aside={<Ranges range={range} />}>
      {calls.isLoading && <RefreshSoon madeAt={Date.now()} />}
      <p class="chart-lead">{calls.isLoading ? "Reading the calls of the last day" : label}</p>
      {calls.calls === 0 && !calls.isLoading
        ? (
          <p class="chart-empty muted">
            Nothing was called in this time. Each call of a tool shows here as it happens.
          </p>
        )
        : <CallsChart points={points} label={label} />}
      <CallsTable points={points} />
    </Card>
  );
}

function Ranges({ range }: { range: Range }) {
  const names: Range[] = ["1h", "6h", "24h"];
  return (
    <nav class="segments" aria-label="Time shown">
      {names.map((name) => (
        <a
          key={name}
          class="segment segment-word"
          href={name === "24h" ? "/" : `/?range=${name}`}
          aria-current={name === range ? "true" : "false"}
        >
          {RANGES[name].label}
        </a>
      ))}
    </nav>
  );
}

/** The median and the slow end per server, drawn to one scale. */
export function ServerTimesCard({ calls }: { calls: DashboardCalls }) {
  const { servers, moreServers } = calls;
  const slowest = Math.max(1, ...servers.map(({ p95 }) => p95));
  if (servers.length === 0) return null;
  return (
    <Card title="Durations by server" aside="last 24 hours" isFlush>
      <table class="table times-table">
        <caption class="visually-hidden">Calls and durations by server, last 24 hours</caption>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col" class="number">Calls</th>
            <th scope="col" class="number">Errors</th>
            <th scope="col" class="number" title="Half of the calls were quicker">p50</th>
            <th scope="col" class="number" title="95 of 100 calls were quicker">p95</th>
            <th scope="col" class="hide-small">
              <span class="visually-hidden">p95 against the others</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {servers.map(({ server, calls, errors, p50, p95 }) => (
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
              <td class="hide-small">
                <Bar share={p95 / slowest} width={96} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {moreServers > 0 && (
        <p class="card-lead muted">
          {formatCount(moreServers, "more server")} had calls:{" "}
          <a href="/activity">Show all calls</a>
        </p>
      )}
    </Card>
  );
}
