import { z } from "zod";
import { CallMode } from "../core/server.ts";
import { fieldHints } from "./fields.ts";
import type { OldPath } from "./http.ts";
import { ApprovalDecision, WaitingCall } from "../trust/call_control/control.ts";
import { actorOf, operation } from "./operation.ts";

const OUTCOMES = { approve: "Approved", deny: "Denied", always: "Approved for the session" };

const Decided = z.object({ decision: ApprovalDecision, server: z.string(), tool: z.string() });

const list = operation({
  name: "approval.list",
  title: "List calls that wait",
  description: "List the calls that wait for a person's approval, oldest first.",
  input: z.strictObject({}),
  output: z.object({ calls: z.array(WaitingCall) }),
  rights: ["read", "manage"],
  scope: "whole",
  effect: "read",
  isLive: true,
  run: async ({ approvals }) => ({ calls: (await approvals()).list() }),
});

const decide = operation({
  name: "approval.decide",
  title: "Decide on a call",
  description: "Approve or deny a call that waits, or approve its tool for the whole session.",
  input: z.strictObject({
    id: z.string().min(1).describe("The call's id"),
    decision: ApprovalDecision,
  }),
  output: Decided,
  rights: ["manage"],
  scope: "whole",
  effect: "write",
  isLive: true,
  async run({ approvals }, { id, decision }, call) {
    const { server, tool } = (await approvals()).decide(id, decision, actorOf(call));
    return { decision, server, tool };
  },
  text: ({ decision, server, tool }) => `${OUTCOMES[decision]}: ${tool} of ${server}.`,
});

const setMode = operation({
  name: "toolset.mode",
  title: "Set a toolset's mode",
  description: "Set which calls a toolset lets through: all, those confirmed, or read-only ones.",
  input: z.strictObject({
    toolset: z.string().min(1).describe("Toolset name")
      .register(fieldHints, { completes: "toolset" }),
    mode: CallMode,
  }),
  output: z.object({ toolset: z.string(), mode: CallMode }),
  rights: ["manage"],
  scope: "whole",
  effect: "write",
  idempotent: true,
  isLive: true,
  async run({ toolsets, toolsetModes }, { toolset, mode }, call) {
    const { name } = toolsets.toolsets.resolve(toolset);
    await toolsetModes.set(name, mode, actorOf(call));
    return { toolset: name, mode };
  },
  text: ({ toolset, mode }) => `Calls through ${toolset}: ${mode}.`,
});

export const APPROVAL_OPERATIONS = { list, decide, setMode };

export const APPROVAL_PATHS: OldPath[] = [
  { path: "GET /api/approvals", operation: "approval.list" },
  {
    path: "POST /api/approvals/:id",
    operation: "approval.decide",
    answer: ({ decision, server, tool }: z.infer<typeof Decided>) => (
      { done: `${OUTCOMES[decision]}: ${tool} of ${server}` }
    ),
  },
  {
    path: "PUT /api/approvals/modes/:toolset",
    operation: "toolset.mode",
    answer: ({ toolset, mode }: { toolset: string; mode: CallMode }) => (
      { done: `Calls through ${toolset}: ${mode}` }
    ),
  },
];
