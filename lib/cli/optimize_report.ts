import { resolve } from "@std/path";
import type { OptimizationReport } from "../core/optimization.ts";
import { reportCsv, reportData, reportMarkdown } from "../optimizer/report.ts";
import { noPositionals } from "./arguments.ts";
import { JSON_FLAG } from "./command.ts";
import { openOptimization, optimizeCommand } from "./optimize_command.ts";
import { choiceFlag, textFlag } from "./optimize_flags.ts";
import { print } from "./terminal.ts";
import { writeNew } from "./write_new.ts";

const FORMATS = ["markdown", "json", "csv"] as const;
type Format = (typeof FORMATS)[number];

export const optimizeReport = optimizeCommand({
  usage: "optimize report [--server NAME] [--format FORMAT] [--output FILE]",
  meaning: "What optimization came to: counts, improvement, each tool before and after, cost",
  details: ["A gateway has to run. --json is short for --format json."],
  flags: [
    { flag: "server", placeholder: "NAME", meaning: "Only this server's" },
    {
      flag: "format",
      placeholder: "FORMAT",
      meaning: `One of ${FORMATS.join(", ")}; the first unless told`,
    },
    { flag: "output", placeholder: "FILE", meaning: "Write there, not to standard output" },
    { flag: "force", meaning: "Overwrite the file where it is there already" },
    JSON_FLAG,
  ],
  async run(input) {
    noPositionals("optimize report", input);
    const asJson = input.flags.get("json") === true;
    const format = choiceFlag(input, "format", FORMATS) ?? (asJson ? "json" : "markdown");
    const output = textFlag(input, "output");
    const { optimization } = await openOptimization(input);
    const text = formatted(await optimization.report(textFlag(input, "server")), format);
    if (output === undefined || output === "-") return print(text);
    await writeNew(resolve(output), text, input.flags.get("force") === true);
    print(asJson ? `${JSON.stringify({ file: output })}\n` : `Wrote the report to ${output}\n`);
  },
});

function formatted(reports: readonly OptimizationReport[], format: Format): string {
  if (format === "json") return `${JSON.stringify(reportData(reports), null, 2)}\n`;
  const text = format === "csv" ? reportCsv(reports) : reportMarkdown(reports);
  return text.endsWith("\n") ? text : `${text}\n`;
}
