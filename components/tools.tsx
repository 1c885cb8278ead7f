import FilterField from "../islands/filter_field.tsx";
import FilterSelect from "../islands/filter_select.tsx";
import RefreshSoon from "../islands/refresh_soon.tsx";
import type { ToolsPage } from "../lib/console/tools_page.ts";
import type { FilterChoice } from "../lib/console/ui/filter_choice.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { NEW_TOOLSET } from "../lib/console/ui/paths.ts";
import { Card } from "./card.tsx";
import { EmptyState } from "./empty_state.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { NameCollisions } from "./name_collisions.tsx";
import { PageHeader } from "./page_header.tsx";
import { Pager } from "./pager.tsx";
import { SavedDays } from "./saved_days.tsx";
import { TokensChip } from "./tokens_chip.tsx";
import { ToolsCatalog } from "./tools_catalog.tsx";
import { ReviewNotice } from "./unlisted_tool.tsx";

/** All tools, searched and filtered. */
export function Tools({ page, url }: { page: ToolsPage; url: URL }) {
  const [today] = page.saved;
  const isToday = today?.day === new Date().toISOString().slice(0, 10);
  return (
    <>
      <PageHeader
        title="Tools"
        lead={leadOf(page)}
        {...(page.total === 0 ? {} : {
          action: (
            <span class="chips-row">
              <TokensChip
                tokens={page.tokens.counted}
                words={page.tokens.isCounting ? "tokens so far, counting" : "tokens in all"}
                title="About what a model would read if every tool that is on were listed"
              />
              {isToday && (
                <TokensChip
                  tokens={today.saved}
                  words="tokens saved today"
                  title="What searches returned, against listing every tool"
                />
              )}
            </span>
          ),
        })}
      />
      <ReviewNotice {...page.waiting} />
      {page.reading === undefined ? null : (
        <p class="notice" role="status">
          <Icon name="pending" size={14} />
          <span>
            Reading what tools mean, {formatNumber(page.reading.done)} of{" "}
            {formatNumber(page.reading.total)}. Until then the search goes by words.
          </span>
        </p>
      )}
      {(page.tokens.isCounting || page.reading !== undefined) && (
        <RefreshSoon
          madeAt={Date.now()}
        />
      )}
      {page.total + page.invalid > 0 && <Filters page={page} />}
      {page.degraded === undefined ? null : (
        <p class="notice tone-warn" role="status">
          <Icon name="alert" size={14} />
          <span>
            The search is not at its best: <InertText text={page.degraded} />
          </span>
        </p>
      )}
      {offersToolset(page) && (
        <p class="small">
          <a href={`${NEW_TOOLSET}?${toolsetQuery(page)}`}>
            Make a toolset of {page.list.total === 1 ? "this tool" : "these tools"}
          </a>
        </p>
      )}
      {page.list.total > 0
        ? (
          <Card isFlush>
            <ToolsCatalog
              rows={page.list.rows}
              {...(page.query === "" ? { order: { sorting: page.sorting, url } } : {})}
            />
            <Pager list={page.list} url={url} noun="tools" />
          </Card>
        )
        : <NoTools page={page} />}
      <NameCollisions collisions={page.collisions} noun="tool" />
      <NameCollisions collisions={page.promptCollisions} noun="prompt" />
      {page.saved.length > 0 && <SavedDays days={page.saved} />}
    </>
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
      ? "1 entry is not a valid tool, so no client is shown it"
      : `${formatNumber(page.list.total)} entries are not valid tools, so no client is shown them`;
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

const STATE_WORDS: Record<string, string> = {
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
                label: `${STATE_WORDS[value]} (${formatNumber(count)})`,
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
        actions={<a class="button" href="/servers">Look at the servers</a>}
      >
        The tools of every connected server are listed here. None has offered any so far.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No tool matches"
      actions={<a class="button" href="/tools" aria-current="false">Clear search and filters</a>}
    >
      {page.query === ""
        ? "No tool is in all of these filters. Take one away."
        : "Say what the tool should do in other words, or with fewer filters."}
    </EmptyState>
  );
}
