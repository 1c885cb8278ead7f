import { Confirm, PostForm, SelectOptions } from "../../../../../components/forms.tsx";
import { formatCount, inertString } from "../../../../../lib/console/ui/format.ts";
import type { ReviewDecision } from "../../../../../lib/trust/review_items.ts";
import { Ago, InertText } from "../../../../../components/text.tsx";
import { Icon } from "../../../../../components/icon.tsx";
import { Card } from "../../../../../components/layout.tsx";
import type { PolicyRow } from "../(_page)/model.ts";
import type { Paged } from "../../../../../lib/console/lists.ts";
import { DataTable, Pager } from "../../../../../components/tables.tsx";
import { Button, REVIEW_PATH } from "./items.tsx";

/** More than these are folded. */
const OPEN = 5;

const DECISIONS: Record<ReviewDecision["kind"], string> = {
  approved: "Approved",
  rejected: "Rejected",
  reverted: "Reverted",
  waived: "Waived",
};

export function ReviewDecisions({ decisions }: { decisions: readonly ReviewDecision[] }) {
  if (decisions.length === 0) return null;
  return (
    <details class="card card-flush" open={decisions.length <= OPEN}>
      <summary class="card-head">
        <Icon name="chevronRight" size={12} />
        <h2>Decided</h2>
        <span class="card-aside">{formatCount(decisions.length, "recent decision")}</span>
      </summary>
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
    </details>
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
      Every client sees the rejected definition immediately.
    </Confirm>
  );
}

const POLICIES: Record<PolicyRow["policy"], string> = {
  hold: "Hold until approved",
  notify: "Apply and show here",
  allow: "Apply without notice",
};

const TRUST = { normal: "Normal", trusted: "Trusted", untrusted: "Not trusted" };

export function ReviewPolicies({ policies, url }: { policies: Paged<PolicyRow>; url: URL }) {
  if (policies.total === 0) return null;
  return (
    <Card title="Policy for changed tools" isFlush>
      {policies.rows.some(({ isEditable }) => !isEditable) && (
        <p class="card-lead muted">
          For servers in a config file, set <code>changes</code> and <code>trust</code> there.
        </p>
      )}
      <DataTable
        caption="Policy for changed tools, by server"
        rows={policies.rows}
        keyOf={({ server }) => server}
        columns={[
          {
            head: "Server",
            cell: ({ server }) => <InertText as="span" class="mono strong" text={server} />,
          },
          { head: "Changes", cell: ({ policy }) => POLICIES[policy] },
          { head: "Trust", cell: ({ trust }) => TRUST[trust] },
          {
            head: "Edit",
            isQuiet: true,
            cell: (policy) =>
              policy.isEditable
                ? <PolicyForm policy={policy} />
                : <span class="muted">In its config file</span>,
          },
        ]}
      />
      <Pager list={policies} url={url} noun="servers" param="policies" />
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
        <select name="changes" class="select" aria-label={`Policy for changes to ${subject}`}>
          <SelectOptions choices={Object.entries(POLICIES)} value={policy.policy} />
        </select>
        <select name="trust" class="select" aria-label={`Trust in ${subject}`}>
          <SelectOptions choices={Object.entries(TRUST)} value={policy.trust} />
        </select>
        <button type="submit" class="button">Apply</button>
        <p class="muted small">
          The server reconnects.
          {policy.isHolding ? " Changes on hold may be applied." : ""}
        </p>
      </PostForm>
    </details>
  );
}
