import BusyForms from "../islands/busy_forms.tsx";
import type { ApprovalCard, ApprovalsPage } from "../lib/console/security_approvals.ts";
import { formatCount } from "../lib/console/ui/format.ts";
import { inertString } from "../lib/console/ui/inert_text.ts";
import { Ago } from "./ago.tsx";
import { Card } from "./card.tsx";
import { CodeBlock } from "./code_block.tsx";
import { Confirm } from "./confirm.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FormFailure } from "./form_failure.tsx";
import { Icon } from "./icon.tsx";
import { InertText } from "./inert_text.tsx";
import { PageHeader } from "./page_header.tsx";
import { SecurityTabs } from "./security_tabs.tsx";

const PATH = "/security/approvals";

const MODES = [
  ["all", "All calls"],
  ["confirm", "Destructive calls wait for a yes"],
  ["read-only", "Only tools that read"],
] as const;

/** Calls that wait for a person, and what may be called through each toolset. */
export function ApprovalsView({ page }: { page: ApprovalsPage }) {
  const { calls, refused } = page;
  return (
    <>
      <BusyForms />
      <PageHeader
        title="Approvals"
        lead={calls.length === 0
          ? "Calls that may change or delete things, where somebody has to agree first"
          : `${formatCount(calls.length, "call")} to decide on, each within two minutes`}
      />
      <SecurityTabs current={PATH} />
      {refused === undefined ? null : <FormFailure error={refused} title="Nothing was done" />}
      {calls.length === 0
        ? (
          <EmptyState icon="ready" title="No call waits">
            Where a server, a toolset or a token has the mode{" "}
            <code>confirm</code>, a call that may change or delete things waits here, unless its
            client can ask the user itself. Without a yes it is not made.
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
    </>
  );
}

function Waiting({ call }: { call: ApprovalCard }) {
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
          Wanted by <InertText text={call.who} />
          {call.client === undefined ? null : (
            <>
              , with <InertText text={call.client} />
            </>
          )}
        </p>
        <CodeBlock code={inertString(call.arguments)} label={`arguments for ${name}`} />
        {call.hidden === 0 ? null : (
          <p class="notice tone-warn">
            <Icon name="alert" size={14} />
            <span>{formatCount(call.hidden, "more character")} of the arguments not shown.</span>
          </p>
        )}
        <div class="form-actions">
          <Confirm
            id={`approve-${call.id}`}
            label="Approve"
            subject={name}
            title={`Run ${name}?`}
            action={PATH}
            fields={{ action: "approve", id: call.id }}
            verb="Run it"
            busy="Approving…"
            isPrimary
            before={<Decide call={call} action="always" label="Always in this session" />}
          >
            It runs at once, with the arguments that are shown.
          </Confirm>
          <Decide call={call} action="deny" label="Deny" subject={name} />
        </div>
      </div>
    </li>
  );
}

interface DecideProps {
  call: ApprovalCard;
  action: "deny" | "always";
  label: string;
  subject?: string;
}

function Decide({ call, action, label, subject }: DecideProps) {
  return (
    <form method="post" action={PATH} f-client-nav={false} data-busy={`${label}…`}>
      <input type="hidden" name="action" value={action} />
      <input type="hidden" name="id" value={call.id} />
      <button type="submit" class="button">
        {label}
        {subject === undefined ? null : <span class="visually-hidden">{` ${subject}`}</span>}
      </button>
    </form>
  );
}

function Toolsets({ toolsets }: Pick<ApprovalsPage, "toolsets">) {
  if (toolsets.length === 0) return null;
  return (
    <Card title="What may be called through a toolset" isFlush>
      <ul class="rows">
        {toolsets.map(({ name, mode }) => (
          <li key={name} class="row mode-row">
            <p class="mono strong">{name}</p>
            <form
              method="post"
              action={PATH}
              f-client-nav={false}
              class="inline-form above"
              data-busy="Applying…"
            >
              <input type="hidden" name="action" value="mode" />
              <input type="hidden" name="toolset" value={name} />
              <select name="mode" class="select" aria-label={`What may be called through ${name}`}>
                {MODES.map(([value, words]) => (
                  <option key={value} value={value} selected={value === mode}>{words}</option>
                ))}
              </select>
              <button type="submit" class="button">
                Apply <span class="visually-hidden">to {name}</span>
              </button>
            </form>
          </li>
        ))}
      </ul>
      <p class="muted small approval-note">
        Servers have <code>mode</code>{" "}
        in their entries, and tokens may have one of their own. The strictest of all counts.
      </p>
    </Card>
  );
}
