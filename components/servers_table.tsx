import type { ServersPage } from "../lib/console/servers_page.ts";
import { formatLatency, formatNumber } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { serverPath } from "../lib/console/ui/paths.ts";
import { Ago } from "./ago.tsx";
import { InertText } from "./inert_text.tsx";
import { ServerReason } from "./server_reason.tsx";
import { SortHeading } from "./sort_heading.tsx";
import { SourceLabel } from "./source_label.tsx";
import { StateBadge } from "./state_badge.tsx";

const TYPES = { stdio: "stdio", http: "HTTP", sse: "SSE", demo: "Demo" } as const;

export function ServersTable({ page, url }: { page: ServersPage; url: URL }) {
  const heading = { sorting: page.sorting, url };
  return (
    <table class="table servers-table">
      <caption class="visually-hidden">Servers</caption>
      <thead>
        <tr>
          <SortHeading {...heading} column="state" label="State" class="col-state" />
          <SortHeading {...heading} column="name" label="Name" class="col-name" />
          <SortHeading {...heading} column="type" label="Type" class="col-type hide-small" />
          <SortHeading {...heading} column="source" label="Source" class="col-source hide-medium" />
          <SortHeading {...heading} column="tools" label="Tools" class="col-number number" />
          <SortHeading
            {...heading}
            column="since"
            label="Since"
            class="col-since number hide-small"
          />
          <SortHeading
            {...heading}
            column="latency"
            label="Latency"
            class="col-number number hide-medium"
          />
        </tr>
      </thead>
      <tbody>
        {page.list.rows.map((server) => (
          <tr key={server.name} data-row>
            <td>
              <StateBadge state={server.state} />
            </td>
            <td class="cut" title={`${server.name}: ${inertString(server.reason)}`}>
              <a class="mono cover strong" href={serverPath(server.name)} data-row-link>
                <InertText text={server.name} />
              </a>
              {server.state !== "ready" && (
                <span class="cell-note">
                  <ServerReason server={server} />
                </span>
              )}
            </td>
            <td class="hide-small">{TYPES[server.type]}</td>
            <td class="cut hide-medium">
              <SourceLabel source={server.source} />
            </td>
            <td class="number">{formatNumber(server.toolCount)}</td>
            <td class="number muted hide-small">
              <Ago at={server.since} />
            </td>
            <td class="number muted hide-medium">
              {server.latencyMs === undefined ? "–" : formatLatency(server.latencyMs)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
