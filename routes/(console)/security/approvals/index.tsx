import { page } from "fresh";
import { BusyForms } from "../../../../islands/forms.tsx";
import {
  APPROVAL_DECISIONS,
  type ApprovalCard,
  type ApprovalsPage,
  approvalsPage,
} from "./(_page)/model.ts";
import { formatCount, inertString } from "../../../../lib/console/ui/format.ts";
import { Ago, CodeBlock, InertText } from "../../../../components/text.tsx";
import { Card, PageHeader } from "../../../../components/layout.tsx";
import { Confirm, FormFailure, PostForm } from "../../../../components/forms.tsx";
import { EmptyState } from "../../../../components/states.tsx";
import { Icon } from "../../../../components/icon.tsx";
import { SecurityTabs } from "../(_components)/tabs.tsx";
import { callOf, decideByForm } from "../../../../lib/console/api.ts";
import { define, formOf } from "../../../../lib/console/define.ts";
import { formError, submitForm } from "../../../../lib/console/errors.ts";

export const handler = define.handlers({ GET: ["read", "manage"], POST: ["manage"] }, {
  async GET(ctx) {
    ctx.state.title = "Approvals";
    return page<ApprovalsPage>(await approvalsPage(ctx.state.gateway));
  },

  async POST(ctx) {
    ctx.state.title = "Approvals";
    const { gateway } = ctx.state;
    const form = await formOf(ctx);
    return await submitForm<ApprovalsPage>(ctx, async () => {
      await decideByForm(APPROVAL_DECISIONS, gateway, form, callOf(ctx, "console"));
      return PATH;
    }, async (error) => ({ ...await approvalsPage(gateway), refused: formError(error) }));
  },
});

/** Calls that wait for a person, and what may be called through each toolset. */
export default define.page<typeof handler>(function ApprovalsPage({ data: page }) {
  const { calls, refused } = page;
  return (
    <div class="stack" data-live="sessions toolsets">
      <BusyForms />
      <PageHeader
        title="Approvals"
        lead={calls.length === 0
          ? "Calls that may change or delete things and need approval first"
          : `${formatCount(calls.length, "call")} to decide on, each within two minutes`}
      />
      <SecurityTabs current={PATH} />
      {refused === undefined ? null : <FormFailure error={refused} title="Nothing was done" />}
      {calls.length === 0
        ? (
          <EmptyState icon="ready" title="No call waits">
            Where a server, a toolset or a token has the mode{" "}
            <code>confirm</code>, a call that may change or delete things waits here, unless its
            client can ask the user itself. Without approval it is not made.
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
    </div>
  );
});

const PATH = "/security/approvals";

const MODES = [
  ["all", "All calls"],
  ["confirm", "Destructive calls need approval"],
  ["read-only", "Only tools that read"],
] as const;

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
    <PostForm action={PATH} busy={`${label}…`} fields={{ action, id: call.id }}>
      <button type="submit" class="button">
        {label}
        {subject === undefined ? null : <span class="visually-hidden">{` ${subject}`}</span>}
      </button>
    </PostForm>
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
            <PostForm
              action={PATH}
              class="inline-form above"
              busy="Applying…"
              fields={{ action: "mode", toolset: name }}
            >
              <select name="mode" class="select" aria-label={`What may be called through ${name}`}>
                {MODES.map(([value, label]) => (
                  <option key={value} value={value} selected={value === mode}>{label}</option>
                ))}
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
        in their entries, and tokens may have one of their own. The strictest of all counts.
      </p>
    </Card>
  );
}
