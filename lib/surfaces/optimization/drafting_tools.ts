import { z } from "zod";
import { MAX_DESCRIPTION, PromptCategory } from "../../core/optimization.ts";
import { builtin, type BuiltinTool } from "../builtin_tool.ts";
import type { OptimizationAdmin } from "../optimization_admin.ts";
import { answer, counted } from "./answers.ts";
import { MOST_SAVED_PROMPTS } from "./limits.ts";

const Prompt = z.object({
  id: z.string().optional().describe("Of one to replace"),
  toolName: z.string().optional(),
  category: PromptCategory,
  prompt: z.string(),
  expectedBehavior: z.object({
    shouldCallTool: z.boolean().optional(),
    notes: z.string().optional(),
    expectedTool: z.string().optional().describe("Sibling it is for"),
  }).optional(),
});

/** What a description is judged by, and what might replace it. */
export function draftingTools(admin: OptimizationAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "get_canonical_tools",
      title: "Original tools",
      description: "A server's tools as it describes them itself.",
      input: z.object({ server: z.string() }),
      annotations: { readOnlyHint: true },
      run({ server }) {
        const data = { server, tools: admin.canonicalTools(server) };
        return Promise.resolve(answer([JSON.stringify(data)], data, {
          next: [
            "propose_candidate: save 2 to 4 better descriptions of a tool",
            "save_golden_prompts: save prompts to try them with",
          ],
        }));
      },
    }),
    builtin({
      name: "propose_candidate",
      title: "Propose",
      description: `Save a better description for a tool, at most ${MAX_DESCRIPTION} characters.`,
      // Its length is checked by what keeps it, which says how long it was.
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        description: z.string(),
        example: z.string().optional(),
      }),
      async run(input) {
        const { id, charCount, toolName } = await admin.propose(input, "caller");
        return answer(
          [`Saved candidate ${id} for ${toolName} (${charCount} characters).`],
          { candidateId: id, charCount },
          {
            next: [
              "save_golden_prompts: save prompts for the tool, if there are none",
              "evaluate_candidate: have it evaluated; or try each prompt yourself and report it with record_eval_run",
            ],
          },
        );
      },
    }),
    builtin({
      name: "save_golden_prompts",
      title: "Save prompts",
      description:
        "Save test prompts for a tool: direct and indirect ones should call it, negative ones not.",
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        prompts: z.array(Prompt).max(MOST_SAVED_PROMPTS),
      }),
      async run(input) {
        const { saved, prompts, warnings } = await admin.savePrompts(input, "caller");
        const kept = prompts.map(({ id, category, prompt }) => ({ id, category, prompt }));
        return answer(
          [
            `Saved ${counted(saved, "prompt")} for ${input.tool}:`,
            ...kept.map(({ id, category, prompt }) => `- ${id} (${category}): ${prompt}`),
          ],
          { saved, prompts: kept },
          {
            warnings,
            next: [
              "propose_candidate: save a description to try, if there is none",
              "evaluate_candidate: have it evaluated; or report results by these ids with record_eval_run",
            ],
          },
        );
      },
    }),
  ];
}
