import { noPositionals } from "./arguments.ts";
import { JSON_FLAG } from "./command.ts";
import { openOptimization, optimizeCommand } from "./optimize_command.ts";
import { print, printJson } from "./terminal.ts";

export const optimizeEnable = switchCommand(
  "enable",
  "Let the gateway spend model time on descriptions",
  "Optimization is on: models may be asked, by you and by clients.\n",
);

export const optimizeDisable = switchCommand(
  "disable",
  "Spend no more model time; what was promoted stays in force",
  "Optimization is off. What was promoted stays in force, and can be reverted.\n",
);

function switchCommand(word: "enable" | "disable", meaning: string, done: string) {
  const command = `optimize ${word}`;
  return optimizeCommand({
    usage: command,
    meaning,
    details: ["It stays so over restarts. A gateway has to run."],
    flags: [JSON_FLAG],
    async run(input) {
      noPositionals(command, input);
      const { optimization } = await openOptimization(input);
      const enabled = await optimization.setEnabled(word === "enable");
      if (input.flags.get("json") === true) return printJson({ enabled });
      print(done);
    },
  });
}
