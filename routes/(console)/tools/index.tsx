import { page } from "fresh";
import { TokensChip } from "../../../components/badges.tsx";
import { Card, PageHeader } from "../../../components/layout.tsx";
import { EmptyState, Notice } from "../../../components/states.tsx";
import { Icon } from "../../../components/icon.tsx";
import { InertText } from "../../../components/text.tsx";
import { Pager } from "../../../components/tables.tsx";
import { StartingNotice } from "../../../components/server_state.tsx";
import { FilterField, FilterSelect } from "../../../islands/forms.tsx";
import { RefreshSoon } from "../../../islands/frame.tsx";
import { define } from "../../../lib/console/define.ts";
import { withQuery } from "../../../lib/console/lists.ts";
import type { FilterChoice } from "../../../lib/console/ui/tools.ts";
import { formatCount, formatNumber, inertString } from "../../../lib/console/ui/format.ts";
import { NEW_TOOLSET } from "../../../lib/console/ui/pages.ts";
import { ToolsCatalog } from "./(_components)/catalog.tsx";
import { NameCollisions, ReviewNotice } from "./(_components)/notices.tsx";
import { type ToolsPage, toolsPage } from "./(_page)/model.ts";

export const handler = define.handlers({ GET: ["read"] }, {
  async GET(ctx) {
    ctx.state.title = "Tools";
    return page(await toolsPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

/** All tools, searched and filtered. */
export default define.page<typeof handler>(function ToolsRoute({ data: page, url }) {
  return (
    <div class="stack" data-live="servers tools calls">
      <PageHeader
        title="Tools"
        lead={leadOf(page)}
        {...(page.total === 0 ? {} : {
          action: (
            <TokensChip
              tokens={page.tokens.counted}
              unit={page.tokens.isCounting ? "tokens so far, counting" : "tokens in total"}
              title="Estimated tokens a model would read if every enabled tool were listed"
            />
          ),
        })}
      />
      <ReviewNotice {...page.waiting} />
      <StartingNotice servers={page.starting} />
      <SearchNotice page={page} />
      {(page.tokens.isCounting || page.reading !== undefined || page.isReadingCalls) && (
        <RefreshSoon madeAt={Date.now()} />
      )}
      {page.total + page.invalid > 0 && <Filters page={page} />}
      {offersToolset(page) && (
        <p class="small">
          <a href={`${NEW_TOOLSET}?${toolsetQuery(page)}`}>
            Create a toolset of {page.list.total === 1 ? "this tool" : "these tools"}
          </a>
        </p>
      )}
      {page.query !== "" && page.list.total > 0 && (
        <p class="small hide-medium">
          <a href={withQuery(url, { scores: page.showsScores ? undefined : "1" })}>
            {page.showsScores ? "Hide how results are ranked" : "Show how results are ranked"}
          </a>
        </p>
      )}
      {page.list.total > 0
        ? (
          <Card isFlush>
            <ToolsCatalog
              rows={page.list.rows}
              showsScores={page.showsScores}
              {...(page.query === "" ? { order: { sorting: page.sorting, url } } : {})}
            />
            <Pager list={page.list} url={url} noun="tools" />
          </Card>
        )
        : <NoTools page={page} />}
      <NameCollisions collisions={page.collisions} noun="tool" />
      <NameCollisions collisions={page.promptCollisions} noun="prompt" />
    </div>
  );
});

/** Why the search is not as good as it can be. */
function SearchNotice({ page: { reading, degraded } }: { page: ToolsPage }) {
  if (degraded !== undefined) {
    return (
      <Notice tone="warn" role="status">
        Keyword results only: <InertText text={degraded} />
      </Notice>
    );
  }
  if (reading === undefined) return null;
  return (
    <p class="notice" role="status">
      <Icon name="pending" size={14} />
      <span>
        Indexing tools: {formatNumber(reading.done)} of{" "}
        {formatNumber(reading.total)}. Keyword search until then.
      </span>
    </p>
  );
}

/** All of a server or of a category can be taken at once; what words find is for a person to pick. */
function offersToolset({ query, server, category, state, list }: ToolsPage): boolean {
  return query === "" && (server !== undefined || category !== undefined) && list.total > 0 &&
    (state === undefined || state === "enabled");
}

function toolsetQuery({ server = "", category = "" }: ToolsPage): URLSearchParams {
  const set = Object.entries({ server, category }).filter(([, value]) => value !== "");
  return new URLSearchParams(set);
}

function leadOf(page: ToolsPage): string {
  const isFiltered = [page.query || undefined, page.server, page.category, page.state]
    .some((filter) => filter !== undefined);
  if (page.state === "invalid") {
    return page.list.total === 1
      ? "1 entry is not a valid tool and is hidden from clients"
      : `${formatNumber(page.list.total)} entries are not valid tools and are hidden from clients`;
  }
  if (isFiltered) {
    return `${formatCount(page.list.total, "match", "matches")} in ${
      formatCount(page.total, "tool")
    }`;
  }
  const off = page.disabled === 0 ? "" : `, ${formatNumber(page.disabled)} of them off`;
  return `${formatCount(page.total, "tool")} on ${
    formatCount(page.servers.length, "server")
  }${off}`;
}

const STATE_LABELS: Record<string, string> = {
  disabled: "Off",
  promoted: "Promoted",
  held: "Held",
  quarantined: "Quarantined",
  invalid: "Invalid",
};

function Filters({ page }: { page: ToolsPage }) {
  const { query, server, category, state } = page;
  const set = { q: query, server, category, state };
  const { disabled, promoted, waiting, invalid } = page;
  // Few ever have tools that wait: what is not there is not offered.
  const counts = { disabled, promoted, ...waiting, invalid };
  const without = (name: keyof typeof set) =>
    Object.fromEntries(
      Object.entries(set).flatMap(([key, value]) =>
        key === name || value === undefined || value === "" ? [] : [[key, value]]
      ),
    );
  const labeled = (choices: FilterChoice[], current: string | undefined) => {
    const known = choices.some(({ value }) => value === current);
    // What the address asks for is shown even where nothing has it.
    const all = current === undefined || known
      ? choices
      : [{ value: current, count: 0 }, ...choices];
    return all.map(({ value, count }) => ({
      value,
      label: `${inertString(value)} (${formatNumber(count)})`,
    }));
  };
  return (
    <div class="toolbar">
      <FilterField action="/tools" label="Search tools" value={query} hidden={without("q")} />
      {(page.servers.length > 1 || server !== undefined) && (
        <FilterSelect
          action="/tools"
          name="server"
          label="Server"
          all="All servers"
          value={server ?? ""}
          choices={labeled(page.servers, server)}
          hidden={without("server")}
        />
      )}
      {(page.categories.length > 1 || category !== undefined) && (
        <FilterSelect
          action="/tools"
          name="category"
          label="Category"
          all="All categories"
          value={category ?? ""}
          choices={labeled(page.categories, category)}
          hidden={without("category")}
        />
      )}
      {(Object.values(counts).some((count) => count > 0) || state !== undefined) && (
        <FilterSelect
          action="/tools"
          name="state"
          label="State"
          all="All states"
          value={state ?? ""}
          choices={[
            { value: "enabled", label: `On (${formatNumber(page.total - page.disabled)})` },
            ...Object.entries(counts).filter(([value, count]) =>
              count > 0 || value === state || !(value in waiting)
            )
              .map(([value, count]) => ({
                value,
                label: `${STATE_LABELS[value]} (${formatNumber(count)})`,
              })),
          ]}
          hidden={without("state")}
        />
      )}
    </div>
  );
}

function NoTools({ page }: { page: ToolsPage }) {
  if (page.total === 0 && page.state === undefined) {
    return (
      <EmptyState
        icon="tools"
        title="No tools yet"
        actions={<a class="button" href="/servers">Show servers</a>}
      >
        The tools of all connected servers appear here. No server offers any yet.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No matching tools"
      actions={<a class="button" href="/tools" aria-current="false">Clear search and filters</a>}
    >
      {page.query === ""
        ? "No tool matches all of these filters. Remove one."
        : "Describe the task differently, or remove filters."}
    </EmptyState>
  );
}
