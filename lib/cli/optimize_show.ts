import { CANONICAL } from "../core/optimization.ts";
import { JSON_FLAG } from "./command.ts";
import { namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { showText } from "./optimize_show_text.ts";
import { painter, print, printJson } from "./terminal.ts";

export const optimizeShow = optimizeCommand({
  usage: "optimize show SERVER.TOOL",
  meaning: "One tool: both descriptions, the numbers before and after, prompts and candidates",
  details: [
    "A ✓ or ✗ before a prompt says how it went with the description in force. The name may also be the",
    "flat one (SERVER_TOOL), or the server's own where only one has it. A gateway has to run.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    const { gateway, optimization } = await openOptimization(input);
    const ref = await namedTool("optimize show", input, gateway);
    const detail = await optimization.detail(ref);
    const runs = await optimization.runs(ref, detail.promotion?.candidateId ?? CANONICAL);
    if (input.flags.get("json") === true) return printJson({ tool: detail, runs });
    print(showText(detail, runs, painter(input.env)));
  },
});
