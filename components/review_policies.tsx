import type { Paged } from "../lib/console/paging.ts";
import type { PolicyRow } from "../lib/console/security_review.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Card } from "./card.tsx";
import { InertText } from "./inert_text.tsx";
import { Pager } from "./pager.tsx";
import { REVIEW_PATH } from "./review_button.tsx";

const WORDS: Record<PolicyRow["policy"], string> = {
  hold: "Held until approved",
  notify: "Passed on, and shown here",
  allow: "Passed on without a word",
};

/** What becomes of each server's changes, and where that is said. */
export function ReviewPolicies({ policies, url }: { policies: Paged<PolicyRow>; url: URL }) {
  if (policies.total === 0) return null;
  return (
    <Card title="What becomes of changes" isFlush>
      <table class="table is-text">
        <caption class="visually-hidden">What becomes of changes, by server</caption>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Changes</th>
            <th scope="col" class="hide-small">Trust</th>
            <th scope="col">
              <span class="visually-hidden">Change it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {policies.rows.map((policy) => (
            <tr key={policy.server}>
              <td class="mono strong">
                <InertText text={policy.server} />
              </td>
              <td>{WORDS[policy.policy]}</td>
              <td class="hide-small">{policy.trust === "trusted" ? "Trusted" : "Not trusted"}</td>
              <td>
                {policy.isEditable ? <PolicyForm policy={policy} /> : (
                  <span class="muted">
                    As <code>changes</code> and <code>trust</code> in its entry
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Pager list={policies} url={url} noun="servers" />
    </Card>
  );
}

function PolicyForm({ policy }: { policy: PolicyRow }) {
  const subject = inertString(policy.server);
  return (
    <details class="definition">
      <summary>
        Change <span class="visually-hidden">{subject}</span>
      </summary>
      <form
        method="post"
        action={REVIEW_PATH}
        f-client-nav={false}
        class="inline-form"
        data-busy="Changing"
      >
        <input type="hidden" name="action" value="policy" />
        <input type="hidden" name="server" value={policy.server} />
        <select name="changes" class="select" aria-label={`Changes of ${subject}`}>
          {Object.entries(WORDS).map(([value, words]) => (
            <option key={value} value={value} selected={value === policy.policy}>{words}</option>
          ))}
        </select>
        <select name="trust" class="select" aria-label={`Trust in ${subject}`}>
          <option value="trusted" selected={policy.trust === "trusted"}>Trusted</option>
          <option value="untrusted" selected={policy.trust === "untrusted"}>Not trusted</option>
        </select>
        <button type="submit" class="button">Apply</button>
        <p class="muted small">
          The server is connected to anew.
          {policy.isHolding ? " What is held now may be passed on." : ""}
        </p>
      </form>
    </details>
  );
}
