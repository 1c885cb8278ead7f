import {
  APPROVAL_DECISIONS,
  type ApprovalCard,
  type ApprovalsPage,
  approvalsPage,
} from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, Listed } from "../../../../components/text.tsx";
import { Card } from "../../../../components/layout.tsx";
import { Confirm, PostButton, PostForm, SelectOptions } from "../../../../components/forms.tsx";
import { EmptyState, Notice } from "../../../../components/states.tsx";
import { SecurityPage } from "../(_components)/page.tsx";
import { formPage } from "../../../../lib/console/form_page.ts";
import { define } from "../../../../lib/console/define.ts";

const PATH = "/security/approvals";

export const handler = formPage({
  title: "Approvals",
  path: PATH,
  decisions: APPROVAL_DECISIONS,
  load: approvalsPage,
});

/** Calls that wait for a person, and what may be called through each toolset. */
export default define.page<typeof handler>(function ApprovalsPage({ data: page }) {
  const { calls } = page;
  return (
    <SecurityPage
      path={PATH}
      live="sessions toolsets"
      outcome={page}
      lead={calls.length === 0
        ? "Calls that may change or delete things and need approval first"
        : `${formatCount(calls.length, "call")} waiting; each expires after two minutes`}
    >
      {calls.length === 0
        ? (
          <EmptyState icon="ready" title="No calls waiting">
            If a server, a toolset or a token has the mode{" "}
            <code>confirm</code>, calls that may change or delete things wait here for approval,
            unless the client can ask its user. Calls that are not approved are refused.
          </EmptyState>
        )
        : (
          <Card title="Waiting" isFlush>
            <ul class="rows">
              {calls.map((call) => <Waiting key={call.id} call={call} />)}
            </ul>
          </Card>
        )}
      <Toolsets toolsets={page.toolsets} />
    </SecurityPage>
  );
});

function Waiting({ call }: { call: ApprovalCard }) {
  const { id, who, client, hidden } = call;
  const name = inertString(`${call.server}.${call.tool}`);
  return (
    <li class="row approval">
      <div class="row-text stack">
        <h3 class="approval-head">
          <span class="mono strong">{name}</span>
          <span class="row-aside">
            <Ago at={call.askedAt} />
          </span>
        </h3>
        <p class="muted">
          Requested by <Listed texts={[who, client].filter((text) => text !== undefined)} />
        </p>
        <CodeBlock code={inertString(call.arguments)} label={`arguments for ${name}`} />
        {hidden > 0 && (
          <Notice tone="warn" role={null}>
            {formatCount(hidden, "more character")} of the arguments not shown.
          </Notice>
        )}
        <div class="form-actions">
          <Confirm
            id={`approve-${id}`}
            label="Approve"
            subject={name}
            title={`Run ${name}?`}
            action={PATH}
            fields={{ action: "approve", id }}
            verb="Run it"
            busy="Approving…"
            isPrimary
            before={
              <PostButton
                action={PATH}
                busy="Approving…"
                fields={{ action: "always", id }}
                label="Always in this session"
              />
            }
          >
            It runs immediately, with the arguments shown.
          </Confirm>
          <PostButton
            action={PATH}
            busy="Denying…"
            fields={{ action: "deny", id }}
            label="Deny"
            subject={name}
          />
        </div>
      </div>
    </li>
  );
}

const MODES = [
  ["all", "All calls"],
  ["confirm", "Changes need approval"],
  ["read-only", "Read-only tools"],
] as const;

function Toolsets({ toolsets }: Pick<ApprovalsPage, "toolsets">) {
  if (toolsets.length === 0) return null;
  return (
    <Card title="Allowed calls by toolset" isFlush>
      <ul class="rows">
        {toolsets.map(({ name, mode }) => (
          <li key={name} class="row mode-row">
            <p class="mono strong">{name}</p>
            <PostForm
              action={PATH}
              class="inline-form above"
              busy="Applying…"
              fields={{ action: "mode", toolset: name }}
            >
              <select name="mode" class="select" aria-label={`Allowed calls for ${name}`}>
                <SelectOptions choices={MODES} value={mode} />
              </select>
              <button type="submit" class="button">
                Apply <span class="visually-hidden">to {name}</span>
              </button>
            </PostForm>
          </li>
        ))}
      </ul>
      <p class="muted small approval-note">
        Servers have <code>mode</code>{" "}
        in their configuration, and tokens can have their own. The strictest applies.
      </p>
    </Card>
  );
}
