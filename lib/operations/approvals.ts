import * as z from "zod";
import { AnswerMode, CallMode } from "../core/server.ts";
import { fieldHints } from "./fields.ts";
import { ApprovalDecision, WaitingCall } from "../trust/call_control/control.ts";
import { MANAGES, operation, READS_GUARDED } from "./operation.ts";

const OUTCOMES = { approve: "Approved", deny: "Denied", always: "Approved for the session" };

const Decided = z.object({ decision: ApprovalDecision, server: z.string(), tool: z.string() });

const list = operation({
  ...READS_GUARDED,
  name: "approval.list",
  title: "List waiting calls",
  description: "List the calls waiting for approval, oldest first.",
  input: z.strictObject({}),
  output: z.object({ calls: z.array(WaitingCall) }),
  isLive: true,
  run: async ({ approvals }) => ({ calls: await (await approvals()).list() }),
});

const decide = operation({
  ...MANAGES,
  name: "approval.decide",
  title: "Decide on a call",
  description: "Approve or deny a waiting call, or approve its tool for the whole session.",
  input: z.strictObject({
    id: z.string().min(1).describe("The call's id"),
    decision: ApprovalDecision,
  }),
  output: Decided,
  isLive: true,
  async run({ approvals }, { id, decision }) {
    const { server, tool } = await (await approvals()).decide(id, decision);
    return { decision, server, tool };
  },
  text: ({ decision, server, tool }) => `${OUTCOMES[decision]}: ${tool} of ${server}.`,
});

const setMode = operation({
  ...MANAGES,
  name: "toolset.mode",
  title: "Set a toolset's mode",
  description:
    "Set which calls a toolset allows: all, only confirmed ones, or only read-only ones.",
  input: z.strictObject({
    toolset: z.string().min(1).describe("Toolset name")
      .register(fieldHints, { completes: "toolset" }),
    mode: CallMode,
  }),
  output: z.object({ toolset: z.string(), mode: CallMode }),
  idempotent: true,
  isLive: true,
  async run({ toolsets, toolsetModes }, { toolset, mode }) {
    const { name } = toolsets.toolsets.resolve(toolset);
    await toolsetModes.set(name, mode);
    return { toolset: name, mode };
  },
  text: ({ toolset, mode }) => `Calls through ${toolset}: ${mode}.`,
});

const setAnswers = operation({
  ...MANAGES,
  name: "toolset.answers",
  title: "Set a toolset's content guard",
  description: "Set what the content guard does about answers through a toolset: off (as each " +
    "server has it), mark or block. The stricter of toolset and server applies.",
  input: z.strictObject({
    toolset: z.string().min(1).describe("Toolset name")
      .register(fieldHints, { completes: "toolset" }),
    answers: AnswerMode,
  }),
  output: z.object({ toolset: z.string(), answers: AnswerMode }),
  idempotent: true,
  isLive: true,
  async run({ toolsets, answerModes }, { toolset, answers }) {
    const { name } = toolsets.toolsets.resolve(toolset);
    await answerModes.set(name, answers);
    return { toolset: name, answers };
  },
  text: ({ toolset, answers }) => `Content guard for ${toolset}: ${answers}.`,
});

export const APPROVAL_OPERATIONS = { list, decide, setMode, setAnswers };
