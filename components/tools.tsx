import FilterField from "../islands/filter_field.tsx";
import { withQuery } from "../lib/console/paging.ts";
import type { ToolsPage } from "../lib/console/tools_page.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { Card } from "./card.tsx";
import { EmptyState } from "./empty_state.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { Pager } from "./pager.tsx";
import { ToolsTable } from "./tools_table.tsx";

/** The list of all tools with its filter. */
export function Tools({ page, url }: { page: ToolsPage; url: URL }) {
  const isFiltered = page.query !== "" || page.server !== undefined;
  return (
    <>
      <PageHeader
        title="Tools"
        lead={isFiltered
          ? `${formatCount(page.list.total, "match", "matches")} in ${
            formatCount(page.total, "tool")
          }`
          : `${formatCount(page.total, "tool")} on ${formatCount(page.servers, "server")}`}
      />
      {page.total > 0 && (
        <div class="toolbar">
          <FilterField
            action="/tools"
            label="Filter tools"
            value={page.query}
            hidden={page.server === undefined ? {} : { server: page.server }}
          />
          {page.server === undefined ? null : (
            <a
              class="filter-chip"
              href={withQuery(url, { server: undefined, page: undefined })}
              aria-current="true"
              title="Show the tools of all servers"
            >
              <Icon name="servers" size={14} />
              <span class="mono">
                <InertText text={page.server} />
              </span>
              <Icon name="close" size={12} label="Remove this filter" />
            </a>
          )}
        </div>
      )}
      {page.list.total > 0
        ? (
          <Card isFlush>
            <ToolsTable rows={page.list.rows} order={{ sorting: page.sorting, url }} />
            <Pager list={page.list} url={url} noun="tools" />
          </Card>
        )
        : page.total > 0
        ? (
          <EmptyState
            icon="search"
            title="No tool matches"
            actions={<a class="button" href="/tools" aria-current="false">Clear the filter</a>}
          >
            Every word must be in the tool's name, description or server. Try fewer words.
          </EmptyState>
        )
        : (
          <EmptyState
            icon="tools"
            title="No tools yet"
            actions={<a class="button" href="/servers">Look at the servers</a>}
          >
            The tools of every connected server are listed here. None has offered any so far.
          </EmptyState>
        )}
    </>
  );
}
