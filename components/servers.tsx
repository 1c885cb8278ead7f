import FilterField from "../islands/filter_field.tsx";
import RefreshSoon from "../islands/refresh_soon.tsx";
import RemovedNotice from "../islands/removed_notice.tsx";
import { withQuery } from "../lib/console/paging.ts";
import type { ServersPage } from "../lib/console/servers_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { NEW_SERVER } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { DemoForm } from "./demo_form.tsx";
import { EmptyState } from "./empty_state.tsx";
import { PageHeader } from "./page_header.tsx";
import { Pager } from "./pager.tsx";
import { ServersTable } from "./servers_table.tsx";
import { StateIcon, stateWord } from "./state_badge.tsx";

/** The list of servers with its filters. */
export function Servers({ page, url }: { page: ServersPage; url: URL }) {
  return (
    <>
      <PageHeader
        title="Servers"
        lead={formatCount(page.total, "server")}
        action={<a class="button button-primary" href={NEW_SERVER}>Add server</a>}
      />
      {/* What changed before the live channel was open is not told there. */}
      {page.list.rows.some(({ state }) => state === "connecting") && (
        <RefreshSoon madeAt={Date.now()} />
      )}
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
            title="No server matches"
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
            Add one here, or name your servers in <code>.mcp.json</code>{" "}
            in the folder where you start Quartermaster: they are connected as soon as it is saved.
          </EmptyState>
        )}
    </>
  );
}

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
