import { RESTART_NOTE } from "../optimizer/report.ts";
import { JSON_FLAG } from "./command.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { REASON_FLAG, textFlag } from "./optimize_flags.ts";
import { print, printJson } from "./terminal.ts";

export const optimizeRevert = optimizeCommand({
  usage: "optimize revert SERVER.TOOL [--to EVENT] [--reason TEXT]",
  meaning: "Go back to the server's own description, or to an earlier promotion",
  details: ["`optimize history SERVER.TOOL` lists the events. A gateway has to run."],
  flags: [
    { flag: "to", placeholder: "EVENT", meaning: "What was in force after this event" },
    REASON_FLAG,
    JSON_FLAG,
  ],
  async run(input) {
    const to = textFlag(input, "to");
    const reason = textFlag(input, "reason");
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize revert", input, gateway);
    const promotion = await optimization.revert(tool, {
      ...(to === undefined ? {} : { to }),
      ...(reason === undefined ? {} : { reason }),
    });
    if (input.flags.get("json") === true) return printJson({ promotion });
    print(
      promotion === null
        ? `${fullName(tool)} has the server's own description again.\n`
        : `${fullName(tool)} has ${promotion.candidateId} again.\n`,
    );
    print(`${RESTART_NOTE}\n`);
  },
});

export const optimizeKeep = optimizeCommand({
  usage: "optimize keep SERVER.TOOL",
  meaning: "Keep a promotion, though the server's own description has changed since",
  details: ["`optimize show SERVER.TOOL` shows both. A gateway has to run."],
  flags: [JSON_FLAG],
  async run(input) {
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize keep", input, gateway);
    const promotion = await optimization.keep(tool);
    if (input.flags.get("json") === true) return printJson({ promotion });
    print(`${fullName(tool)} keeps ${promotion.candidateId}.\n`);
  },
});
