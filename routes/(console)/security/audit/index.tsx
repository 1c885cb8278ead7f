import { page } from "fresh";
import {
  actionLabel,
  AUDIT_ACTIONS,
  type AuditPage,
  auditPage,
  type AuditRow,
} from "./(_page)/model.ts";
import { formatCount, formatNumber, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, InertText, WordDiff } from "../../../../components/text.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { FormFailure } from "../../../../components/forms.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { PageHeader } from "../../../../components/layout.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { define } from "../../../../lib/console/define.ts";

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
    <div class="stack" data-live="audit">
      <PageHeader
        title="Audit log"
        lead="Who decided what, from where and when; entries are added, and never changed"
        action={<Actions query={query} />}
      />
      <SecurityTabs current={PATH} />
      {error === undefined ? null : <FormFailure error={error} title="Not filtered" />}
      {check === undefined ? null : <Checked check={check} />}
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
    </div>
  );
});

const FAMILIES = [...new Set(AUDIT_ACTIONS.map((action) => action.split(".", 1)[0]!))];

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
                  {actionLabel(each)} ({each})
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <label>
        <span>Who</span>
        <input class="input" name="who" maxLength={200} value={query.who ?? ""} />
      </label>
      <label>
        <span>Subject</span>
        <input class="input" name="subject" maxLength={200} value={query.subject ?? ""} />
      </label>
      <label>
        <span>From (UTC)</span>
        <input class="input" type="date" name="since" value={query.since ?? ""} />
      </label>
      <label>
        <span>To (UTC)</span>
        <input class="input" type="date" name="until" value={query.until ?? ""} />
      </label>
      <button type="submit" class="button">Show</button>
      {Object.keys(query).length > 0 && <a class="button" href={PATH}>Show everything</a>}
    </form>
  );
}

/** Entries, each with what it changed where it changed something. */
function AuditRows({ rows }: { rows: AuditRow[] }) {
  return (
    <section class="card card-flush" aria-label="Entries">
      <div class="card-body">
        <table class="table audit-table is-text">
          <caption class="visually-hidden">Audit log, newest first</caption>
          <thead>
            <tr>
              <th scope="col" class="col-when">When</th>
              <th scope="col" class="col-who hide-small">Who</th>
              <th scope="col">What</th>
              <th scope="col" class="col-from hide-small">From</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => <Row key={row.id} row={row} />)}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ row }: { row: AuditRow }) {
  const { at, who, principal, from, action, subject, changes } = row;
  return (
    <tr>
      <td class="muted">
        <Ago at={at} />
      </td>
      <td class="hide-small" title={inertString(principal)}>
        <InertText text={who} />
      </td>
      <td>
        {actionLabel(action) ?? <code>{action}</code>}{" "}
        <InertText as="span" class="mono strong" text={subject} />
        <span class="only-small muted small">
          by <InertText text={who} />; <InertText text={from} />
        </span>
        {changes.rows.length > 0 && (
          <details class="audit-changes">
            <summary>
              What changed: {formatCount(changes.rows.length + changes.more, "value")}
            </summary>
            <Changes action={action} changes={changes} />
          </details>
        )}
      </td>
      <InertText as="td" class="muted hide-small" text={from} />
    </tr>
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
      {more > 0 && <p class="muted small">and {formatNumber(more)} more; the export has all</p>}
    </>
  );
}

const PATH = "/security/audit";

function Actions({ query }: Pick<AuditPage, "query">) {
  const to = (format: string) => `/api/audit.export?${new URLSearchParams({ ...query, format })}`;
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
