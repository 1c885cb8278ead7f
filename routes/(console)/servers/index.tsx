import { page } from "fresh";
import { Ago, InertText } from "../../../components/text.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { Pager, SortHeading } from "../../../components/tables.tsx";
import { StateBadge, StateIcon, stateWord } from "../../../components/server_state.tsx";
import { FilterField } from "../../../islands/forms.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { define } from "../../../lib/console/define.ts";
import { withQuery } from "../../../lib/console/lists.ts";
import {
  formatCount,
  formatLatency,
  formatNumber,
  inertString,
} from "../../../lib/console/ui/format.ts";
import { NEW_SERVER, serverPath } from "../../../lib/console/ui/pages.ts";
import { isStarting } from "../../../lib/core/server.ts";
import { DemoForm, ServerReason, SourceLabel } from "./(_components)/labels.tsx";
import { RemovedNotice } from "./(_islands)/servers.tsx";
import { type ServersPage, serversPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  GET(ctx) {
    ctx.state.title = "Servers";
    return page(serversPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

/** The list of servers with its filters. */
export default define.page<typeof handler>(function ServersRoute({ data: page, url }) {
  return (
    <div class="stack" data-live="servers">
      <PageHeader
        title="Servers"
        lead={formatCount(page.total, "server")}
        action={<a class="button button-primary" href={NEW_SERVER}>Add server</a>}
      />
      {/* What changed before the live channel was open is not sent there. */}
      {page.list.rows.some(({ state }) => isStarting(state)) && <RefreshSoon madeAt={Date.now()} />}
      {page.removed === undefined
        ? null
        : <RemovedNotice key={page.removed.id} id={page.removed.id} name={page.removed.name} />}
      {page.total > 0 && (
        <div class="toolbar">
          <FilterField
            action="/servers"
            label="Filter servers"
            value={page.query}
            hidden={page.state === undefined ? {} : { state: page.state }}
          />
          {(page.states.length > 1 || page.state !== undefined) && (
            <StateFilter page={page} url={url} />
          )}
        </div>
      )}
      {page.list.total > 0
        ? (
          <Card isFlush>
            <ServersTable page={page} url={url} />
            <Pager list={page.list} url={url} noun="servers" />
          </Card>
        )
        : page.total > 0
        ? (
          <EmptyState
            icon="search"
            title="No matching servers"
            actions={<a class="button" href="/servers" aria-current="false">Clear the filter</a>}
          >
            Try fewer letters, or another state.
          </EmptyState>
        )
        : (
          <EmptyState
            icon="servers"
            title="No servers yet"
            actions={<DemoForm action="restore" />}
          >
            Add one here, or list your servers in <code>.mcp.json</code>{" "}
            in the folder where you start Quartermaster. They connect as soon as you save the file.
          </EmptyState>
        )}
    </div>
  );
});

function StateFilter({ page, url }: { page: ServersPage; url: URL }) {
  const to = (state: string | undefined) => withQuery(url, { state, page: undefined });
  return (
    <nav class="filters" aria-label="Filter by state">
      <a
        class="filter-chip"
        href={to(undefined)}
        aria-current={page.state === undefined ? "true" : "false"}
      >
        All
      </a>
      {page.states.map(({ state, count }) => (
        <a
          key={state}
          class="filter-chip"
          href={to(state)}
          aria-current={page.state === state ? "true" : "false"}
        >
          <StateIcon state={state} />
          {stateWord(state)}
          <span class="filter-count">{count}</span>
        </a>
      ))}
    </nav>
  );
}

const TYPES = { stdio: "stdio", http: "HTTP", sse: "SSE", demo: "Demo" } as const;

function ServersTable({ page, url }: { page: ServersPage; url: URL }) {
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
