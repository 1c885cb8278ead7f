import { configError } from "../config/problem.ts";
import { MAX_DESCRIPTION } from "../core/optimization.ts";
import { JSON_FLAG } from "./command.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { textFlag } from "./optimize_flags.ts";
import { print, printJson } from "./terminal.ts";

export const optimizePropose = optimizeCommand({
  usage: "optimize propose SERVER.TOOL --description TEXT [--example TEXT]",
  meaning: "Keep a description of your own as a candidate for a tool",
  details: [
    `Up to ${MAX_DESCRIPTION} characters. It changes nothing until it is promoted. A gateway has to run.`,
  ],
  flags: [
    { flag: "description", placeholder: "TEXT", meaning: "The description" },
    { flag: "example", placeholder: "TEXT", meaning: "When it should be called, for yourself" },
    JSON_FLAG,
  ],
  async run(input) {
    const description = textFlag(input, "description");
    const example = textFlag(input, "example");
    if (description === undefined) {
      throw configError(
        "optimize propose needs a description",
        "Write it as: deno task cli optimize propose SERVER.TOOL --description TEXT",
      );
    }
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize propose", input, gateway);
    const candidate = await optimization.propose(tool, {
      description,
      ...(example === undefined ? {} : { example }),
    });
    if (input.flags.get("json") === true) return printJson({ candidate });
    const { id, charCount } = candidate;
    print(`Kept ${id} for ${fullName(tool)}: ${charCount} of ${MAX_DESCRIPTION} characters.\n`);
    print(`Try it with \`deno task cli optimize evaluate ${fullName(tool)} ${id}\`.\n`);
  },
});
