import { noPositionals } from "./arguments.ts";
import { type CommandInput, JSON_FLAG } from "./command.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";
import type { ToolsetList } from "./toolset_answers.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { NOT_RUNNING, oneLine, warningsText } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetList = toolsetCommand({
  usage: "toolset list",
  meaning: "All toolsets, what they cost, and which one is equipped",
  details: [
    "TOOLS says how many can be called now of how many there are; TOKENS is roughly what a model",
    "reads when they are listed.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("toolset list", input);
    await using opened = await openToolsets(input);
    const list = await opened.toolsets.list();
    const { isRunning } = opened;
    if (input.flags.get("json") === true) return printJson({ ...list, running: isRunning });
    if (list.toolsets.length === 0) {
      return print("There are no toolsets. Make one with `deno task cli toolset create`.\n");
    }
    print(listText(list, isRunning, input));
    if (!isRunning) print(`\n${NOT_RUNNING}`);
  },
});

function listText(
  { toolsets, equipped }: ToolsetList,
  isRunning: boolean,
  { env }: Pick<CommandInput, "env">,
): string {
  const paint = painter(env);
  const heading = ["NAME", "TOOLS", "TOKENS", "", ""].map((word) => paint("gray", word));
  const rows = toolsets.map(({ name, toolCount, registered, tokens, description = "" }) => [
    name,
    isRunning ? `${registered}/${toolCount}` : String(toolCount),
    String(tokens),
    name === equipped ? paint("green", "equipped") : "",
    oneLine(description),
  ]);
  const warnings = toolsets.flatMap(({ name, warnings }) =>
    warnings.map((warning) => `${name}: ${warning}`)
  );
  const after = warnings.length > 0 ? `\n${warningsText(warnings, paint)}` : "";
  return cutToWidth(table([heading, ...rows])) + after;
}
