import { resolve } from "@std/path";
import { JSON_FLAG } from "./command.ts";
import { print, printJson } from "./terminal.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { openToolsets } from "./toolsets_access.ts";
import { writeNew } from "./write_new.ts";

export const toolsetExport = toolsetCommand({
  usage: "toolset export [NAME...] [--output FILE] [--force]",
  meaning: "Write toolsets as a file that `toolset import` reads; all of them without a name",
  details: [
    "What is written is JSON in any case; with --output, --json tells what was done in it.",
  ],
  flags: [
    { flag: "output", placeholder: "FILE", meaning: "Write there, not to standard output" },
    { flag: "force", meaning: "Overwrite the file where it is there already" },
    JSON_FLAG,
  ],
  async run(input) {
    const names = [...new Set(input.positionals)];
    const output = input.flags.get("output");
    const force = input.flags.get("force") === true;
    await using opened = await openToolsets(input);
    const file = await opened.toolsets.export(names);
    if (typeof output !== "string" || output === "-") return printJson(file);
    await writeNew(resolve(output), `${JSON.stringify(file, null, 2)}\n`, force);
    if (input.flags.get("json") === true) printJson({ file: output });
    else print(`Wrote ${names.length === 0 ? "all toolsets" : names.join(", ")} to ${output}\n`);
  },
});
