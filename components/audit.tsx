import type { AuditPage } from "../lib/console/security_audit.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { AuditFilters } from "./audit_filters.tsx";
import { AuditRows } from "./audit_rows.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

const PATH = "/security/audit";

/** Who decided what, and whether the log of it is whole. */
export function AuditTrail({ page }: { page: AuditPage }) {
  const { rows, query, error, check } = page;
  const isFiltered = Object.keys(query).length > 0 || page.isOlder;
  return (
    <>
      <PageHeader
        title="Audit log"
        lead="Who decided what, from where and when; entries are added, and never changed"
        action={<Actions query={query} />}
      />
      <SecurityTabs current={PATH} />
      {error === undefined ? null : <FormFailure error={error} title="Not filtered" />}
      {check === undefined ? null : <Checked check={check} />}
      <AuditFilters query={query} action={PATH} />
      {rows.length > 0
        ? (
          <>
            <AuditRows rows={rows} />
            <Pages page={page} />
          </>
        )
        : isFiltered
        ? (
          <EmptyState
            icon="search"
            title="No entries like that"
            actions={<a class="button" href={PATH}>Show all entries</a>}
          >
            Nothing in the log is of this kind.
          </EmptyState>
        )
        : (
          <EmptyState
            icon="lock"
            title="Nothing was decided yet"
            actions={<a class="button" href="/activity">See the calls</a>}
          >
            Every change of servers, toolsets, tokens, secrets and settings will be here, with who
            made it. Calls of tools are in the activity log.
          </EmptyState>
        )}
    </>
  );
}

function Actions({ query }: Pick<AuditPage, "query">) {
  const to = (format: string) => `/api/audit/export?${new URLSearchParams({ ...query, format })}`;
  return (
    <span class="chips-row">
      <a class="button" href={`${PATH}?${new URLSearchParams({ ...query, check: "1" })}`}>
        Check the log
      </a>
      <a class="button" href={to("csv")} f-client-nav={false} download>Export CSV</a>
      <a class="button" href={to("ndjson")} f-client-nav={false} download>Export NDJSON</a>
    </span>
  );
}

function Checked({ check }: { check: NonNullable<AuditPage["check"]> }) {
  const { entries, chains, prunedUntil, problems, more } = check;
  const whole = `${formatCount(entries, "entry", "entries")} of ${
    formatCount(chains, "process", "processes")
  }`;
  const cleared = prunedUntil === undefined
    ? ""
    : ` What is older than ${new Date(prunedUntil).toISOString()} was cleared away.`;
  if (problems.length === 0) {
    return (
      <Notice tone="ok">The log is whole: {whole}, none changed, none missing.{cleared}</Notice>
    );
  }
  return (
    <div class="notice tone-bad" role="alert">
      <Icon name="error" size={14} />
      <div>
        <p class="strong">The log is not whole: somebody has changed it in the data store.</p>
        <ul class="form-steps">
          {problems.map(({ at, message }, index) => (
            <li key={index}>
              {at === undefined ? null : <>{new Date(at).toISOString()}:{" "}</>}
              {message}
            </li>
          ))}
          {more > 0 && <li>and {formatNumber(more)} more</li>}
        </ul>
        <p class="small muted">Checked: {whole}.{cleared}</p>
      </div>
    </div>
  );
}

function Pages({ page: { rows, hasOlder, isOlder, query } }: { page: AuditPage }) {
  const last = rows.at(-1);
  if (!hasOlder && !isOlder) return null;
  const to = (more: Record<string, string>) =>
    `${PATH}?${new URLSearchParams({ ...query, ...more })}`;
  return (
    <nav class="pager" aria-label="Pages">
      <div class="pager-links">
        {isOlder && <a class="button" href={to({})}>Newest entries</a>}
        {hasOlder && last !== undefined && (
          <a class="button" href={to({ before: last.id })} rel="next">Older entries</a>
        )}
      </div>
    </nav>
  );
}
