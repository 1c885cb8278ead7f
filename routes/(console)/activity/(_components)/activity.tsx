import { Confirm } from "../../../../components/forms.tsx";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { Notice } from "../../../../components/states.tsx";
import { Table } from "../../../../components/tables.tsx";
import { Ago, InertText } from "../../../../components/text.tsx";
import { FilterField, FilterSelect } from "../../../../islands/forms.tsx";
import {
  endpointName,
  formatCount,
  formatNumber,
  inertString,
} from "../../../../lib/console/ui/format.ts";
import { CallsCleared, CallTable } from "../(_islands)/activity.tsx";
import type { ActivityPage, CallPage } from "../(_page)/model.ts";
import { CallArticle } from "./call.tsx";

/** All calls, and one of them whole. Both pages have the same shape, so that the list stays as it is. */
export function Activity(
  { page, detail, url }: { page: ActivityPage; detail?: CallPage; url: URL },
) {
  return (
    <div class={detail === undefined ? "stack activity-page" : "stack activity-page has-detail"}>
      <PageHeader
        title="Activity"
        lead={`Calls and searches from the last ${page.keptDays} days, up to ${
          formatNumber(page.keptCalls)
        }`}
        action={<Export query={page.query} />}
      />
      <Missed page={page} />
      <Filters page={page} url={url} />
      <div class="activity">
        <section class="card activity-list" aria-label="Calls">
          <CallTable
            rows={page.rows}
            hasOlder={page.hasOlder}
            isOlder={page.isOlder}
            query={page.query}
            hasCalls={page.hasCalls}
            current={detail?.call.id}
          />
          <noscript>
            <PlainPager page={page} />
          </noscript>
        </section>
        {detail && <CallArticle page={detail} query={page.query} />}
      </div>
    </div>
  );
}

const MOST_MISSED = 5;

/** Searches that found nothing: one line, or the queries if the filter asks for them. */
function Missed({ page: { missed, filter } }: { page: ActivityPage }) {
  const total = missed.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const title = `${formatCount(total, "search", "searches")} found nothing in the last 24 hours`;
  if (filter.kind !== "missed") {
    return (
      <Notice tone="warn" role={null}>
        {title}. <a href="/activity?kind=missed" aria-current="false">Show the queries</a>
      </Notice>
    );
  }
  return (
    <Card title={title} isFlush>
      <p class="card-lead muted small">
        Add a server with a matching tool, or add these terms to the description of a tool that
        fits.
      </p>
      <Table
        caption="Searches that found nothing, by query"
        columns={["Query", ["Times", "number col-duration"], ["Last", "col-time"]]}
      >
        {missed.slice(0, MOST_MISSED).map(({ query, count, at }) => (
          <tr key={query}>
            <td class="cut" title={inertString(query)}>
              <a href={`/tools?${new URLSearchParams({ q: query })}`}>
                <InertText text={query} />
              </a>
            </td>
            <td class="number">{formatNumber(count)}</td>
            <td>
              <Ago at={at} />
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Export({ query }: { query: Record<string, string> }) {
  const href = (format: string) =>
    `/api/activity/export?${new URLSearchParams({ ...query, format })}`;
  return (
    <span class="chips-row">
      <a class="button" href={href("csv")} f-client-nav={false} download>Export CSV</a>
      <a class="button" href={href("ndjson")} f-client-nav={false} download>Export NDJSON</a>
      <ClearCalls />
    </span>
  );
}

function Filters({ page, url }: { page: ActivityPage; url: URL }) {
  const action = url.pathname;
  const without = (name: string) =>
    Object.fromEntries(Object.entries(page.query).filter(([key]) => key !== name));
  const filter = (
    name: keyof ActivityPage["choices"] | "status" | "kind",
    label: string,
    all: string,
    choices: { value: string; label: string }[],
  ) => (
    <FilterSelect
      action={action}
      name={name}
      label={label}
      all={all}
      value={page.filter[name] ?? ""}
      choices={choices}
      hidden={without(name)}
    />
  );
  const counted = (name: keyof ActivityPage["choices"], shown = (value: string) => value) =>
    page.choices[name].map(({ value, count }) => ({
      value,
      label: `${inertString(shown(value))} (${formatNumber(count)})`,
    }));
  return (
    <div class="toolbar">
      <FilterField
        action={action}
        label="Search calls"
        value={page.filter.text ?? ""}
        hidden={without("q")}
      />
      {filter("kind", "Kind", "All entries", [
        { value: "call", label: "Calls" },
        { value: "search", label: "Searches" },
        { value: "missed", label: "Found nothing" },
      ])}
      {filter("server", "Server", "All servers", counted("server"))}
      {filter("tool", "Tool", "All tools", counted("tool"))}
      {filter("client", "Client", "All clients", counted("client"))}
      {filter("endpoint", "Endpoint", "All endpoints", counted("endpoint", endpointName))}
      {filter("status", "Status", "All statuses", [
        { value: "ok", label: "OK" },
        { value: "error", label: "Errors" },
      ])}
    </div>
  );
}

function PlainPager({ page }: { page: ActivityPage }) {
  const last = page.rows.at(-1);
  const to = (query: Record<string, string>) =>
    `/activity?${new URLSearchParams({ ...page.query, ...query })}`;
  return (
    <nav class="pager" aria-label="Pages">
      <div class="pager-links">
        {page.isOlder && <a class="button" href={to({})}>Newest calls</a>}
        {page.hasOlder && last !== undefined && (
          <a class="button" href={to({ before: last.id })} rel="next">Older calls</a>
        )}
      </div>
    </nav>
  );
}

function ClearCalls() {
  return (
    <>
      <Confirm
        id="clear-calls"
        label="Clear log"
        subject="of calls"
        title="Clear the activity log?"
        action="/activity/~clear"
        verb="Clear all calls"
        busy="Clearing…"
        isDangerous
        before={
          <a class="button" href="/api/activity/export?format=ndjson" f-client-nav={false} download>
            Export first
          </a>
        }
      >
        This deletes all recorded calls, including those the filter hides, with their requests and
        responses. Daily counts are kept. This cannot be undone.
      </Confirm>
      <CallsCleared />
    </>
  );
}
