import { applyEdits, format } from "jsonc-parser";
import { z } from "zod";
import type { Gateway } from "../compose.ts";
import type { AuditAsker } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import { CallMode } from "../core/server.ts";
import type { WaitingCall } from "../surfaces/call_control/approvals.ts";
import type { FormError } from "./form_error.ts";

type ApprovingGateway = Pick<Gateway, "access" | "approvals" | "toolsetModes" | "toolsets">;

const id = z.string().min(1);

/** What a person can do here, as forms and the API send it. */
const ApprovalAction = z.discriminatedUnion("action", [
  z.object({ action: z.literal("approve"), id }),
  z.object({ action: z.literal("deny"), id }),
  z.object({ action: z.literal("always"), id }),
  z.object({ action: z.literal("mode"), toolset: z.string().min(1), mode: CallMode }),
]);
export type ApprovalAction = z.infer<typeof ApprovalAction>;

export interface ApprovalCard extends WaitingCall {
  /** What a person calls whoever wants to call. */
  who: string;
}

export interface ApprovalsPage {
  calls: ApprovalCard[];
  toolsets: { name: string; mode: CallMode }[];
  /** Why what was asked for last was not done. */
  refused?: FormError;
}

/** Reads what was sent; throws where it is nothing that can be done. */
export function readApprovalAction(input: Record<string, unknown>): ApprovalAction {
  const parsed = ApprovalAction.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot decide: ${issue?.path.join(".") || "action"}: ${issue?.message}`,
    recoverySteps: ["Load the list again, and send what it says"],
  });
}

/** Does it, and says in a sentence what was done. */
export async function decideApproval(
  gateway: ApprovingGateway,
  action: ApprovalAction,
  by: AuditAsker,
): Promise<string> {
  if (action.action === "mode") {
    const { name } = gateway.toolsets.toolsets.resolve(action.toolset);
    await gateway.toolsetModes.set(name, action.mode, by);
    return `Calls through ${name}: ${action.mode}`;
  }
  const approvals = await gateway.approvals();
  const { server, tool } = approvals.decide(action.id, action.action, by);
  const words = { approve: "Approved", deny: "Denied", always: "Approved for the session" };
  return `${words[action.action]}: ${tool} of ${server}`;
}

/** The calls that wait, and the toolsets with their modes. */
export async function approvalsPage(gateway: ApprovingGateway): Promise<ApprovalsPage> {
  const { access, toolsets: { toolsets }, toolsetModes } = gateway;
  const waiting = (await gateway.approvals()).list();
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
