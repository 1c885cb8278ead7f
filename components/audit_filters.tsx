import { actionWords, AUDIT_ACTIONS } from "../lib/console/ui/audit_words.ts";

const FAMILIES = [...new Set(AUDIT_ACTIONS.map((action) => action.split(".", 1)[0]!))];

/** What of the log is shown; a plain form, whose fields are in the address. */
export function AuditFilters({ query, action }: { query: Record<string, string>; action: string }) {
  const { action: chosen = "" } = query;
  const isKnown = chosen === "" || FAMILIES.includes(chosen) || AUDIT_ACTIONS.includes(chosen);
  return (
    <form class="audit-filters" method="get" action={action} f-client-nav={false}>
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
                  {actionWords(each)} ({each})
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
      {Object.keys(query).length > 0 && <a class="button" href={action}>Show everything</a>}
    </form>
  );
}
