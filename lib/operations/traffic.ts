import * as z from "zod";
import { counted } from "../core/text.ts";
import { GoldenPrompt, PromptCategory } from "../core/optimization.ts";
import { PromptProposal } from "../optimizer/traffic.ts";
import { CallMark } from "../storage/traffic_repository.ts";
import { fieldHints } from "./fields.ts";
import { SPEND } from "./jobs.ts";
import { decidedBy, MANAGES, operation, READS_GUARDED } from "./operation.ts";

const DECIDES = { ...MANAGES, rights: ["manage", "optimize"] } as const;
const Key = z.string().describe("A proposal's key").register(fieldHints, { completes: "nothing" });

const mark = operation({
  ...MANAGES,
  rights: ["optimize"],
  name: "traffic.mark",
  title: "Mark a wrong tool",
  description: "Record that your last call of a tool should have used another tool.",
  input: z.strictObject({
    tool: z.string().optional().register(fieldHints, { completes: "tool" }),
    id: z.string().optional().describe("A recorded call, instead of tool")
      .register(fieldHints, { placeholder: "CALL" }),
    rightTool: z.string().optional().describe("If known")
      .register(fieldHints, { completes: "tool", placeholder: "TOOL" }),
  }),
  output: CallMark,
  mcp: "mark_wrong_tool",
  cli: "optimize mark [TOOL]",
  run: async ({ traffic }, input, call) =>
    await (await traffic()).mark(input, { principal: call.principal, by: decidedBy(call) }),
  text: ({ server, tool, rightTool }) =>
    `Marked the call of ${server}.${tool} as wrong` +
    (rightTool === undefined ? "." : `: ${rightTool} is right.`),
});

const list = operation({
  ...READS_GUARDED,
  name: "traffic.list",
  title: "Proposed prompts",
  description: "List golden prompts that recorded searches and calls suggest.",
  input: z.strictObject({}),
  output: z.object({ enabled: z.boolean(), proposals: z.array(PromptProposal) }),
  cli: "optimize proposals",
  async run({ traffic }) {
    const admin = await traffic();
    return { enabled: admin.enabled, proposals: await admin.proposals() };
  },
  text({ enabled, proposals }) {
    if (!enabled) {
      return "Prompts from traffic are off. With --learn-prompts, recorded searches and calls are " +
        "proposed as golden prompts; nothing is used before you accept it.";
    }
    if (proposals.length === 0) return "Nothing is proposed.";
    return proposals.map(({ key, server, tool, category, prompt, expectedTool, reason }) =>
      `${key}  ${server}.${tool}  ${category}${
        expectedTool === undefined ? "" : ` (for ${expectedTool})`
      }: ${prompt === "" ? "(no text)" : prompt}\n  ${reason}`
    ).join("\n");
  },
});

const accept = operation({
  ...DECIDES,
  name: "traffic.accept",
  title: "Accept proposed prompts",
  description: "Save proposed prompts as golden prompts, as they are or edited.",
  input: z.strictObject({
    keys: z.array(Key).max(200).default([]).describe("Those that are saved as they are")
      .register(fieldHints, { completes: "nothing" }),
    proposals: z.array(z.strictObject({
      key: Key,
      prompt: z.string().optional(),
      category: PromptCategory.optional(),
      server: z.string().optional(),
      tool: z.string().optional(),
      expectedTool: z.string().optional(),
    })).max(200).default([]).describe("Those that are saved with changes")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({ saved: z.int(), prompts: z.array(GoldenPrompt) }),
  cli: "optimize accept KEY...",
  async run({ traffic }, { keys, proposals }) {
    const all = [...keys.map((key) => ({ key })), ...proposals];
    const prompts = await (await traffic()).accept(all);
    return { saved: prompts.length, prompts };
  },
  text: ({ saved }) => `Saved ${counted(saved, "prompt")}.`,
});

const discard = operation({
  ...DECIDES,
  name: "traffic.discard",
  title: "Discard proposed prompts",
  description: "Discard proposed prompts. They are not proposed again.",
  input: z.strictObject({
    keys: z.array(Key).min(1).max(500).describe("The keys of proposals")
      .register(fieldHints, { completes: "nothing" }),
  }),
  output: z.object({ discarded: z.int() }),
  cli: "optimize discard KEY...",
  run: async ({ traffic }, { keys }) => ({ discarded: await (await traffic()).discard(keys) }),
  text: ({ discarded }) => `Discarded ${counted(discarded, "proposal")}.`,
});

const write = operation({
  ...SPEND,
  rights: ["manage", "optimize"],
  name: "traffic.write",
  title: "Write a prompt from arguments",
  description:
    "Have a model write what a user may have said, from a call's arguments without secrets.",
  input: z.strictObject({ key: Key }),
  output: z.object({ prompt: z.string() }),
  cli: "optimize write-prompt KEY",
  run: async ({ traffic }, { key }, { signal }) => (
    { prompt: await (await traffic()).write(key, signal) }
  ),
  text: ({ prompt }) => prompt,
});

export const TRAFFIC_OPERATIONS = { mark, list, accept, discard, write };
