import {
  Confirm,
  PostButton,
  PostForm,
  SelectField,
  SelectOptions,
  TextField,
} from "../../../../../components/forms.tsx";
import { inertString } from "../../../../../lib/console/ui/format.ts";
import type { ReviewDecision } from "../../../../../lib/trust/review_items.ts";
import { Ago, InertText } from "../../../../../components/text.tsx";
import { Card } from "../../../../../components/layout.tsx";
import type { PolicyRow, ReviewCard } from "../(_page)/model.ts";
import { Badge } from "../../../../../components/badges.tsx";
import type { Paged } from "../../../../../lib/console/lists.ts";
import { HiddenHeading, Pager, Table } from "../../../../../components/tables.tsx";

export const REVIEW_PATH = "/security/review";

/** One click that needs no question: it loosens nothing. */
export function Button(
  props: { label: string; subject: string; fields: Record<string, string> },
) {
  return <PostButton action={REVIEW_PATH} busy={props.label} {...props} />;
}

const DECISIONS: Record<ReviewDecision["kind"], string> = {
  approved: "Approved",
  rejected: "Rejected",
  reverted: "Reverted",
  waived: "Waived",
};

export function ReviewDecisions({ decisions }: { decisions: readonly ReviewDecision[] }) {
  if (decisions.length === 0) return null;
  return (
    <Card title="Decided" isFlush>
      <ul class="rows">
        {decisions.map((decision, index) => (
          <li key={index} class="row">
            <div class="row-text">
              <p>
                {DECISIONS[decision.kind]}{" "}
                <InertText
                  as="span"
                  class="mono strong"
                  text={`${decision.server}.${decision.tool}`}
                />
                {decision.rule !== undefined && (
                  <>
                    , rule <code>{decision.rule}</code>
                  </>
                )}
              </p>
              <p class="muted">
                {decision.reason !== undefined && (
                  <>
                    <InertText text={decision.reason} />
                    {" · "}
                  </>
                )}
                {decision.by !== undefined && `by ${decision.by} · `}
                <Ago at={decision.at} />
              </p>
            </div>
            <div class="fixes above">
              <Other decision={decision} id={`decided-${index + 1}`} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Other({ decision, id }: { decision: ReviewDecision; id: string }) {
  const { server, tool, fingerprint, kind, rule } = decision;
  const subject = inertString(`${server}.${tool}`);
  if (kind === "approved") {
    const fields = { action: "revert", server, tool };
    return <Button label="Revert" subject={subject} fields={fields} />;
  }
  if (kind === "waived") {
    const fields = { action: "waive", server, tool, rule: rule ?? "", undo: "true" };
    return <Button label="Undo" subject={`the waiver for ${subject}`} fields={fields} />;
  }
  return (
    <Confirm
      id={id}
      label="Approve"
      subject={subject}
      title={`Serve ${subject} as the server lists it?`}
      action={REVIEW_PATH}
      verb="Approve"
      busy="Approving"
      fields={{ action: "approve", server, tool, fingerprint }}
    >
      Every client sees the definition that was turned down, at once.
    </Confirm>
  );
}

/** What the scanner found in a definition: the rule, the place, and why; each can be waived. */
export function ReviewFindings({ card }: { card: ReviewCard }) {
  if (card.findings.length === 0) return null;
  const rules = new Set(card.findings.map(({ rule }) => rule));
  const { id, server, tool, fingerprint } = card;
  return (
    <>
      <ul class="review-findings">
        {card.findings.map(({ rule, severity, where, excerpt, why }, index) => (
          <li key={index}>
            {severity === "high"
              ? <Badge tone="bad" icon="error">high</Badge>
              : <Badge tone="warn" icon="alert">{severity}</Badge>} <code>{rule}</code> in{" "}
            <InertText as="code" text={where} />
            <p>{why}</p>
            {excerpt !== "" && (
              <InertText
                as="p"
                class="mono small review-excerpt"
                text={excerpt}
              />
            )}
          </li>
        ))}
      </ul>
      <details class="definition">
        <summary>
          Waive a finding <span class="visually-hidden">{inertString(`${server}.${tool}`)}</span>
        </summary>
        <PostForm
          action={REVIEW_PATH}
          class="form"
          busy="Waiving"
          fields={{ action: "waive", server, tool, fingerprint }}
        >
          <p class="muted">
            It no longer counts for this definition. Where nothing else is found, clients see it and
            can use it, at once. Another definition is checked again.
          </p>
          <SelectField
            id={`${id}-rule`}
            label="Rule"
            name="rule"
            choices={[...rules].map((rule) => [rule, rule])}
            value={undefined}
          />
          <TextField
            id={`${id}-reason`}
            label="Reason"
            hint="Kept with your decision"
            name="reason"
            required
            maxLength={500}
          />
          <div class="form-actions">
            <button type="submit" class="button button-danger">Waive the finding</button>
          </div>
        </PostForm>
      </details>
    </>
  );
}

const POLICIES: Record<PolicyRow["policy"], string> = {
  hold: "Held until approved",
  notify: "Passed on, and shown here",
  allow: "Passed on without notice",
};

const TRUST = { trusted: "Trusted", untrusted: "Not trusted" };

export function ReviewPolicies({ policies, url }: { policies: Paged<PolicyRow>; url: URL }) {
  if (policies.total === 0) return null;
  return (
    <Card title="Policy for changed tools" isFlush>
      <Table
        class="is-text"
        caption="Policy for changed tools, by server"
        columns={[
          "Server",
          "Changes",
          ["Trust", "hide-small"],
          <HiddenHeading key="change" label="Change it" />,
        ]}
      >
        {policies.rows.map((policy) => (
          <tr key={policy.server}>
            <InertText as="td" class="mono strong" text={policy.server} />
            <td>{POLICIES[policy.policy]}</td>
            <td class="hide-small">{TRUST[policy.trust]}</td>
            <td>
              {policy.isEditable ? <PolicyForm policy={policy} /> : (
                <span class="muted">
                  As <code>changes</code> and <code>trust</code> in its entry
                </span>
              )}
            </td>
          </tr>
        ))}
      </Table>
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
      <PostForm
        action={REVIEW_PATH}
        class="inline-form"
        busy="Changing"
        fields={{ action: "policy", server: policy.server }}
      >
        <select name="changes" class="select" aria-label={`Changes of ${subject}`}>
          <SelectOptions choices={Object.entries(POLICIES)} value={policy.policy} />
        </select>
        <select name="trust" class="select" aria-label={`Trust in ${subject}`}>
          <SelectOptions choices={Object.entries(TRUST)} value={policy.trust} />
        </select>
        <button type="submit" class="button">Apply</button>
        <p class="muted small">
          The server reconnects.
          {policy.isHolding ? " What is held now may be passed on." : ""}
        </p>
      </PostForm>
    </details>
  );
}
