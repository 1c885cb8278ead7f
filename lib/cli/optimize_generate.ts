import { JSON_FLAG } from "./command.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { CANDIDATE_LIMITS, numberFlag, PROMPT_LIMITS } from "./optimize_flags.ts";
import { notesText, promptsText } from "./optimize_text.ts";
import { clearStatus, painter, print, printJson, showStatus } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

const CANDIDATES = 4;
const PROMPTS = 5;

export const optimizeGenerate = optimizeCommand({
  usage: "optimize generate SERVER.TOOL [--candidates N] [--prompts N]",
  meaning: "Have a model write candidates and golden prompts for a tool",
  details: [
    `Without flags: ${CANDIDATES} candidates and ${PROMPTS} prompts for each category. It spends model`,
    "time, so optimization has to be on. A gateway has to run.",
  ],
  flags: [
    { flag: "candidates", placeholder: "N", meaning: "Candidates for each tool: 1 to 10" },
    { flag: "prompts", placeholder: "N", meaning: "Prompts for each category: 1 to 50" },
    JSON_FLAG,
  ],
  async run(input) {
    const candidates = numberFlag(input, "candidates", CANDIDATE_LIMITS);
    const prompts = numberFlag(input, "prompts", PROMPT_LIMITS);
    const isBoth = candidates === undefined && prompts === undefined;
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize generate", input, gateway);
    showStatus(`${fullName(tool)}  Writing prompts and candidates`);
    try {
      // Prompts first: what writes candidates reads them.
      const saved = isBoth || prompts !== undefined
        ? await optimization.generatePrompts(tool, prompts ?? PROMPTS)
        : undefined;
      const written = isBoth || candidates !== undefined
        ? await optimization.generateCandidates(tool, candidates ?? CANDIDATES)
        : undefined;
      clearStatus();
      const warnings = [...saved?.warnings ?? [], ...written?.warnings ?? []];
      if (input.flags.get("json") === true) {
        return printJson({
          candidates: written?.candidates ?? [],
          prompts: saved?.prompts ?? [],
          warnings,
        });
      }
      if (saved) print(`Saved ${promptsText(saved.saved)} for ${fullName(tool)}.\n`);
      for (const { id, charCount, description } of written?.candidates ?? []) {
        print(`${id}  ${charCount} characters\n  ${oneLine(description)}\n`);
      }
      print(notesText(warnings, painter(input.env)));
    } finally {
      clearStatus();
    }
  },
});
