import { BULK, REVIEW_DECISIONS, reviewPage } from "./(_page)/model.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { EmptyState } from "../../../../components/states.tsx";
import { Pager } from "../../../../components/tables.tsx";
import { FilterField, FilterSelect, SelectedCount } from "../../../../islands/forms.tsx";
import { AskCard, BULK_FORM, Group, REVIEW_PATH, STATES } from "./(_components)/items.tsx";
import { PackageUpdates } from "./(_components)/updates.tsx";
import { ReviewDecisions, ReviewPolicies } from "./(_components)/policies.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { define } from "../../../../lib/console/define.ts";
import { formPage } from "../../../../lib/console/form_page.ts";
import { withQuery } from "../../../../lib/console/lists.ts";

export const handler = formPage({
  title: "Review",
  path: REVIEW_PATH,
  decisions: REVIEW_DECISIONS,
  load: reviewPage,
  asks: (form) => form.has("ask"),
});

/** As many items as can be read without folding. */
const OPEN_ITEMS = 5;
const OPEN_GROUPS = 20;

/** What servers changed, and what looks like an attack: each with what can be done about it. */
export default define.page<typeof handler>(function ReviewPage({ data: page, url }) {
  const { total, list, groups, asked, updates, canTry } = page;
  const here = withQuery(url, { done: undefined });
  return (
    <SecurityPage
      path={REVIEW_PATH}
      live="servers tools settings"
      outcome={page}
      lead={total === 0
        ? "Changes to tools and packages, and tools that look like attacks"
        : `${formatCount(total, "item")} to review`}
    >
      <PackageUpdates updates={updates} canTry={canTry} />
      {asked && <AskCard asked={asked} here={here} />}
      {total > 0 && <Filters page={page} url={url} />}
      {list.total > 0
        ? (
          <>
            <form
              id={BULK_FORM}
              class="review-bulk"
              method="post"
              action={here}
              f-client-nav={false}
            >
              <SelectedCount />
              {Object.entries(BULK).map(([decision, { label }]) => (
                <button key={decision} type="submit" class="button" name="ask" value={decision}>
                  {label} selected…
                </button>
              ))}
            </form>
            {groups.map((group) => (
              <Group
                key={group.name}
                group={group}
                isOpen={groups.length === 1 || list.rows.length <= OPEN_GROUPS}
                areItemsOpen={list.rows.length <= OPEN_ITEMS}
              />
            ))}
            <Pager list={list} url={url} noun="items" />
          </>
        )
        : total > 0
        ? (
          <EmptyState
            icon="search"
            title="No matching items"
            actions={<a class="button" href={REVIEW_PATH}>Show all</a>}
          >
            {formatCount(total, "other item")} waiting.
          </EmptyState>
        )
        : updates.length > 0
        ? null
        : (
          <EmptyState icon="ready" title="Nothing to review">
            Tools are pinned when first seen. If a server changes a tool, or lists one that looks
            like an attack, it appears here.
          </EmptyState>
        )}
      <ReviewDecisions decisions={page.decisions} />
      <ReviewPolicies policies={page.policies} url={url} />
    </SecurityPage>
  );
});

function Filters(
  { page: { filter, total, states, servers }, url }: {
    page: Awaited<ReturnType<typeof reviewPage>>;
    url: URL;
  },
) {
  const { q, group, ...others } = filter;
  const hidden = (name: string) =>
    Object.fromEntries(
      Object.entries(filter).filter(([key, value]) => key !== name && value !== ""),
    );
  const chip = (changes: Record<string, string | undefined>, isOn: boolean, label: string) => (
    <a
      key={label}
      class="filter-chip"
      href={withQuery(url, { page: undefined, done: undefined, ...changes })}
      aria-current={isOn ? "true" : "false"}
    >
      {label}
    </a>
  );
  return (
    <div class="toolbar">
      <FilterField
        action={REVIEW_PATH}
        value={q}
        label="Filter by tool or rule"
        hidden={hidden("q")}
      />
      {servers.length > 1 && (
        <FilterSelect
          action={REVIEW_PATH}
          name="server"
          label="Server"
          all="All servers"
          value={others.server}
          choices={servers.map((name) => ({ value: name, label: name }))}
          hidden={hidden("server")}
        />
      )}
      <nav class="filters" aria-label="State">
        {chip({ state: undefined }, others.state === "", `All ${total}`)}
        {states.filter(({ count }) => count > 0).map(({ state, count }) =>
          chip({ state }, others.state === state, `${STATES[state].label} ${count}`)
        )}
      </nav>
      <nav class="filters" aria-label="Group">
        {chip({ group: undefined }, group === "server", "By server")}
        {chip({ group: "reason" }, group === "reason", "By reason")}
      </nav>
      {Object.values({ q, ...others }).some((value) => value !== "") && (
        <a class="button" href={REVIEW_PATH} aria-current="false">Show all</a>
      )}
    </div>
  );
}
