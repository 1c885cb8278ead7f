import type { AuditRow } from "../lib/console/security_audit.ts";
import { actionWords } from "../lib/console/ui/audit_words.ts";
import { formatCount, formatNumber } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Ago } from "./ago.tsx";
import { InertText } from "./inert_text.tsx";
import { WordDiff } from "./word_diff.tsx";

/** Entries, each with what it changed where it changed something. */
export function AuditRows({ rows }: { rows: AuditRow[] }) {
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
        {actionWords(action) ?? <code>{action}</code>}{" "}
        <span class="mono strong">
          <InertText text={subject} />
        </span>
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
      <td class="muted hide-small">
        <InertText text={from} />
      </td>
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
        {rows.map(({ path, before, after, words }, index) => (
          <div key={index}>
            <dt class="mono">{path === "" ? whole : <InertText text={path} />}</dt>
            <dd>
              {words !== undefined ? <WordDiff segments={words} /> : (
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
