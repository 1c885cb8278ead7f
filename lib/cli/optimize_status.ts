import { configError } from "../config/problem.ts";
import { JSON_FLAG } from "./command.ts";
import { checkKnown } from "./known_names.ts";
import { openOptimization, optimizeCommand } from "./optimize_command.ts";
import { statusText } from "./optimize_text.ts";
import { cutToWidth, painter, print, printJson } from "./terminal.ts";

export const optimizeStatus = optimizeCommand({
  usage: "optimize status [SERVER]",
  meaning: "How many tools have a better description, and how each one does",
  details: [
    "A dot for every tool, filled where its description was promoted. The percentages are what a",
    "model did with the description in force: called the tool when asked for it (direct), when its",
    "use had to be inferred (indirect), and left it alone (negative). A gateway has to run.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    const [server, ...others] = input.positionals;
    if (others.length > 0) {
      throw configError(
        "optimize status takes the name of one server, or none",
        "Write it as: deno task cli optimize status [SERVER]",
      );
    }
    const { optimization } = await openOptimization(input);
    const all = await optimization.overview();
    if (server !== undefined) {
      checkKnown("server", server, all.reports.map(({ serverName }) => serverName));
    }
    const reports = all.reports.filter(({ serverName }) =>
      server === undefined || serverName === server
    );
    const overview = { ...all, reports };
    if (input.flags.get("json") === true) return printJson(overview);
    print(cutToWidth(statusText(overview, painter(input.env))));
  },
});
