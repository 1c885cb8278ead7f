import type { ReviewCard } from "../lib/console/security_review.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { REVIEW_PATH } from "./review_button.tsx";

/** What the scanner found in a definition: the rule, the place, and why; each can be waived. */
export function ReviewFindings({ card }: { card: ReviewCard }) {
  if (card.findings.length === 0) return null;
  const rules = [...new Set(card.findings.map(({ rule }) => rule))];
  return (
    <>
      <ul class="review-findings">
        {card.findings.map(({ rule, severity, where, excerpt, why }, index) => (
          <li key={index}>
            <span class={severity === "high" ? "badge tone-bad" : "badge tone-warn"}>
              <Icon name={severity === "high" ? "error" : "alert"} size={12} />
              {severity}
            </span>{" "}
            <code>{rule}</code> in{" "}
            <code>
              <InertText text={where} />
            </code>
            <p>{why}</p>
            {excerpt !== "" && (
              <p class="mono small review-excerpt">
                <InertText text={excerpt} />
              </p>
            )}
          </li>
        ))}
      </ul>
      <details class="definition">
        <summary>
          Waive a finding{" "}
          <span class="visually-hidden">{inertString(`${card.server}.${card.tool}`)}</span>
        </summary>
        <form
          method="post"
          action={REVIEW_PATH}
          f-client-nav={false}
          class="form"
          data-busy="Waiving"
        >
          <input type="hidden" name="action" value="waive" />
          <input type="hidden" name="server" value={card.server} />
          <input type="hidden" name="tool" value={card.tool} />
          <input type="hidden" name="fingerprint" value={card.fingerprint} />
          <p class="muted">
            It no longer counts for this definition. Where nothing else is found, clients see it and
            can use it, at once. Another definition is judged anew.
          </p>
          <Field id={`${card.id}-rule`} label="Rule">
            <select id={`${card.id}-rule`} name="rule" class="select">
              {rules.map((rule) => <option key={rule} value={rule}>{rule}</option>)}
            </select>
          </Field>
          <Field id={`${card.id}-reason`} label="Reason" hint="Kept with your decision">
            <input
              id={`${card.id}-reason`}
              name="reason"
              class="input"
              required
              maxLength={500}
              aria-describedby={`${card.id}-reason-hint`}
            />
          </Field>
          <div class="form-actions">
            <button type="submit" class="button button-danger">Waive the finding</button>
          </div>
        </form>
      </details>
    </>
  );
}
