import type { PromotionEvent } from "../core/optimization.ts";
import { JSON_FLAG } from "./command.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { by, minute } from "./optimize_show_text.ts";
import type { Paint } from "./optimize_text.ts";
import { painter, print, printJson } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

export const optimizeHistory = optimizeCommand({
  usage: "optimize history SERVER.TOOL",
  meaning: "What was promoted, reverted and kept for a tool, by whom and why; the newest first",
  details: [
    "`optimize revert SERVER.TOOL --to EVENT` goes back to what was in force after an event. A",
    "gateway has to run.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize history", input, gateway);
    const { history } = await optimization.detail(tool);
    if (input.flags.get("json") === true) return printJson({ history });
    if (history.length === 0) return print(`Nothing was ever promoted for ${fullName(tool)}.\n`);
    print(historyText(history, painter(input.env)));
  },
});

/** Each event with what was in force after it. */
export function historyText(history: readonly PromotionEvent[], paint: Paint): string {
  return history.map(({ id, time, action, by: who, promotion, reason }) => {
    const after = promotion === null
      ? "the server's own description"
      : `${promotion.candidateId}: ${oneLine(promotion.description)}`;
    const why = reason ?? (action === "promote" ? promotion?.reason : undefined);
    return `${minute(time)}  ${paint(COLORS[action], action)}  ${id}  by ${by(who)}\n` +
      `  ${after}\n${why === undefined ? "" : `  because: ${oneLine(why)}\n`}`;
  }).join("");
}

const COLORS = { promote: "green", revert: "yellow", keep: "gray" } as const;
