import { applyEdits, format } from "jsonc-parser";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { CallMode } from "../../../../../lib/core/server.ts";
import { APPROVAL_OPERATIONS } from "../../../../../lib/operations/approvals.ts";
import type { WaitingCall } from "../../../../../lib/trust/call_control/control.ts";
import type { FormDecisions } from "../../../../../lib/console/form_page.ts";

type ApprovingGateway = Pick<Gateway, "access" | "approvals" | "toolsetModes" | "toolsets">;

export interface ApprovalCard extends WaitingCall {
  who: string;
}

export interface ApprovalsPage {
  calls: ApprovalCard[];
  toolsets: { name: string; mode: CallMode }[];
}

const decided = (decision: "approve" | "deny" | "always") => ({
  operation: APPROVAL_OPERATIONS.decide,
  defaults: { decision },
});

export const APPROVAL_DECISIONS: FormDecisions = {
  approve: decided("approve"),
  deny: decided("deny"),
  always: decided("always"),
  mode: { operation: APPROVAL_OPERATIONS.setMode },
};

export async function approvalsPage(gateway: ApprovingGateway): Promise<ApprovalsPage> {
  const { access, toolsets: { toolsets }, toolsetModes } = gateway;
  const waiting = await (await gateway.approvals()).list();
  return {
    calls: waiting.map((call) => ({
      ...call,
      arguments: indented(call.arguments),
      who: access.nameOf(call.principal),
    })),
    toolsets: toolsets.list().map(({ name }) => ({ name, mode: toolsetModes.of(name) })),
  };
}

/** With line breaks alone added: a parse would round numbers, and drop what is said twice. */
function indented(json: string): string {
  const options = { tabSize: 2, insertSpaces: true, eol: "\n" };
  return applyEdits(json, format(json, undefined, options));
}
