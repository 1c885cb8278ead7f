import { RESTART_NOTE } from "../optimizer/report.ts";
import { JSON_FLAG } from "./command.ts";
import { fullName, namedCandidate, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { REASON_FLAG, textFlag } from "./optimize_flags.ts";
import { print, printJson } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

export const optimizePromote = optimizeCommand({
  usage: "optimize promote SERVER.TOOL CANDIDATE [--reason TEXT]",
  meaning: "Show a candidate to every client in the place of the server's own description",
  details: [
    "Where the numbers do not speak for it, --reason says why it is promoted all the same. The server",
    "itself, the tool's name and its schema stay as they are. A gateway has to run.",
  ],
  flags: [REASON_FLAG, JSON_FLAG],
  async run(input) {
    const reason = textFlag(input, "reason");
    const { gateway, optimization } = await openOptimization(input);
    const { candidateId, ...ref } = await namedCandidate("optimize promote", input, gateway);
    const promotion = await optimization.promote(ref, {
      candidateId,
      ...(reason === undefined ? {} : { reason }),
    });
    if (input.flags.get("json") === true) return printJson({ promotion });
    const { description, verdict } = promotion;
    print(`Promoted ${candidateId} for ${fullName(ref)} (${description.length} characters).\n`);
    if (verdict) print(`${oneLine(verdict.words)}\n`);
    print(`${RESTART_NOTE}\n`);
  },
});
