import * as z from "zod";
import { GoldenPrompt } from "../core/optimization.ts";
import { SuspectPrompt } from "../optimizer/evaluation/labels.ts";
import { fieldHints } from "./fields.ts";
import { LabelDecision, PromptId, TOOL } from "./optimization/schemas.ts";
import { MANAGES, operation, READS } from "./operation.ts";

const suspectLabels = operation({
  ...READS,
  name: "optimization.labels",
  title: "Check labels",
  description: "List a tool's prompts whose label may be wrong: no description passes them, or " +
    "models disagree.",
  input: z.strictObject(TOOL),
  output: z.object({ prompts: z.array(SuspectPrompt) }),
  cli: "optimize labels TOOL",
  async run({ optimization }, input) {
    return { prompts: (await (await optimization()).detail(input)).suspects };
  },
  text: ({ prompts }) =>
    prompts.length === 0
      ? "No prompt looks wrongly labeled."
      : prompts.map(({ id, prompt, category, why, proposal }) =>
        `${id} (${category}): ${prompt}\n  ${why}; relabel would make it ${proposalText(proposal)}`
      ).join("\n"),
  next: ({ prompts: [first] }) =>
    first ? [{ label: "Keep, relabel or drop one", operation: "optimization.label" }] : [],
});

const judgeLabel = operation({
  ...MANAGES,
  rights: ["optimize"],
  name: "optimization.label",
  title: "Decide on a label",
  description: "Keep a prompt's label, change it to the proposed one, or drop the prompt.",
  input: z.strictObject({
    ...TOOL,
    promptId: PromptId,
    decision: LabelDecision.register(fieldHints, {
      help: "keep the label, relabel as proposed, or drop the prompt",
    }),
  }),
  output: z.object({ prompt: GoldenPrompt.nullable() }),
  cli: "optimize label TOOL PROMPT",
  async run({ optimization }, { promptId, ...input }) {
    const { prompts } = await optimization();
    return { prompt: await prompts.judgeLabel({ ...input, id: promptId }) ?? null };
  },
  text: ({ prompt }) =>
    prompt === null
      ? "Retired the prompt."
      : `Saved ${prompt.id}, ${prompt.category}, as version ${prompt.version}.`,
});

function proposalText({ category, expectedTool }: SuspectPrompt["proposal"]): string {
  return expectedTool === undefined ? category : `${category}, meant for ${expectedTool}`;
}

export const LABEL_OPERATIONS = { suspectLabels, judgeLabel };
