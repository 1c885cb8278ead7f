import { page } from "fresh";
import {
  actionLabel,
  actionTitle,
  AUDIT_ACTIONS,
  type AuditPage,
  auditPage,
  type AuditRow,
} from "./(_page)/model.ts";
import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, InertText, WordDiff } from "../../../../components/text.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { FormFailure } from "../../../../components/forms.tsx";
import { DataTable } from "../../../../components/tables.tsx";
import { Card } from "../../../../components/layout.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { define } from "../../../../lib/console/define.ts";

const PATH = "/security/audit";

export const handler = define.handlers<AuditPage>({ GET: ["read", "manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Audit log";
    return page(await auditPage(ctx.state.gateway, ctx.url.searchParams));
  },
});

/** Who decided what, and whether the log of it is whole. */
export default define.page<typeof handler>(function AuditPage({ data: page }) {
  const { rows, query, error, check } = page;
  const isFiltered = Object.keys(query).length > 0 || page.isOlder;
  return (
    <SecurityPage
      path={PATH}
      live="audit"
      lead="Who changed what, when and from where; entries are never edited"
      action={<Actions query={query} />}
    >
      {error !== undefined && <FormFailure error={error} title="The filter is invalid" />}
      {check !== undefined && <Checked check={check} />}
      <AuditFilters query={query} />
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
            title="No matching entries"
            actions={<a class="button" href={PATH}>Show all entries</a>}
          >
            No log entry matches this filter.
          </EmptyState>
        )
        : (
          <EmptyState
            icon="lock"
            title="No entries yet"
            actions={<a class="button" href="/activity">Show activity</a>}
          >
            Changes to servers, toolsets, tokens, secrets and settings appear here, with who made
            them. Tool calls are in the activity log.
          </EmptyState>
        )}
    </SecurityPage>
  );
});

const FAMILIES = [...new Set(AUDIT_ACTIONS.map((action) => action.split(".", 1)[0]!))];

const FIELDS = [
  ["who", "Who", { maxLength: 200 }],
  ["subject", "Subject", { maxLength: 200 }],
  ["since", "From (UTC)", { type: "date" }],
  ["until", "To (UTC)", { type: "date" }],
] as const;

/** What of the log is shown; a plain form, whose fields are in the address. */
function AuditFilters({ query }: { query: Record<string, string> }) {
  const { action: chosen = "" } = query;
  const isKnown = chosen === "" || FAMILIES.includes(chosen) || AUDIT_ACTIONS.includes(chosen);
  return (
    <form class="audit-filters" method="get" action={PATH} f-client-nav={false}>
      <label>
        <span>Action</span>
        <select name="action" class="select" value={chosen}>
          <option value="">All actions</option>
          {!isKnown && <option value={chosen} selected>{chosen}</option>}
          {FAMILIES.map((family) => (
            <optgroup key={family} label={family}>
              <option value={family} selected={family === chosen}>All of {family}</option>
              {AUDIT_ACTIONS.filter((each) => each.startsWith(`${family}.`)).map((each) => (
                <option key={each} value={each} selected={each === chosen}>
                  {actionTitle(each)} ({each})
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      {FIELDS.map(([name, label, input]) => (
        <label key={name}>
          <span>{label}</span>
          <input class="input" name={name} value={query[name] ?? ""} {...input} />
        </label>
      ))}
      <button type="submit" class="button">Show</button>
      {Object.keys(query).length > 0 && <a class="button" href={PATH}>Show everything</a>}
    </form>
  );
}

function AuditRows({ rows }: { rows: AuditRow[] }) {
  return (
    <Card isFlush aria-label="Entries">
      <DataTable
        caption="Audit log, newest first"
        class="audit-table"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { head: "When", class: "col-when muted", cell: ({ at }) => <Ago at={at} /> },
          {
            head: "Who",
            class: "col-who",
            cell: ({ who, principal }) => (
              <span title={inertString(principal)}>
                <InertText text={who} />
              </span>
            ),
          },
          { head: "What", cell: (row) => <Decided row={row} /> },
          {
            head: "From",
            class: "col-from muted",
            cell: ({ from }) => <InertText as="span" text={from} />,
          },
        ]}
      />
    </Card>
  );
}

/** What was decided, and what that changed. */
function Decided({ row: { action, subject, changes } }: { row: AuditRow }) {
  return (
    <div>
      {actionLabel(action) ?? <code>{action}</code>}{" "}
      <InertText as="span" class="mono strong" text={subject} />
      {changes.rows.length > 0 && (
        <details class="audit-changes">
          <summary>
            What changed: {formatCount(changes.rows.length + changes.more, "value")}
          </summary>
          <Changes action={action} changes={changes} />
        </details>
      )}
    </div>
  );
}

function Changes(
  { action, changes: { rows, more } }: Pick<AuditRow, "action" | "changes">,
) {
  // A decision names what it is about by its fingerprint alone.
  const whole = action.startsWith("review.") ? "fingerprint of the definition" : "value";
  return (
    <>
      <dl class="diff">
        {rows.map(({ path, before, after, segments }, index) => (
          <div key={index}>
            <dt class="mono">{path === "" ? whole : <InertText text={path} />}</dt>
            <dd>
              {segments !== undefined ? <WordDiff segments={segments} /> : (
                <>
                  {before !== undefined && (
                    <del>
                      <span class="visually-hidden">before:</span>
                      <InertText text={before} />
                    </del>
                  )} {after !== undefined && (
                    <ins>
                      <span class="visually-hidden">after:</span>
                      <InertText text={after} />
                    </ins>
                  )}
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && <p class="muted small">and {formatNumber(more)} more; see the export for all</p>}
    </>
  );
}

function Actions({ query }: Pick<AuditPage, "query">) {
  const to = (format: string) => `/api/audit.export?${new URLSearchParams({ ...query, format })}`;
  return (
    <span class="chips-row">
      <a class="button" href={`${PATH}?${new URLSearchParams({ ...query, check: "1" })}`}>
        Verify log
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
    : ` Entries older than ${new Date(prunedUntil).toISOString()} have expired.`;
  if (problems.length === 0) {
    return (
      <Notice tone="ok">The log is intact: {whole}, none changed, none missing.{cleared}</Notice>
    );
  }
  return (
    <Notice tone="bad">
      <p class="strong">The log is not intact: someone changed it in the data store.</p>
      <ul class="form-steps">
        {problems.map(({ at, message }, index) => (
          <li key={index}>
            {at === undefined ? "" : `${new Date(at).toISOString()}: `}
            {message}
          </li>
        ))}
        {more > 0 && <li>and {formatNumber(more)} more</li>}
      </ul>
      <p class="small muted">Checked: {whole}.{cleared}</p>
    </Notice>
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
