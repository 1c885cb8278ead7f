import { oneNameOf } from "./arguments.ts";
import { JSON_FLAG } from "./command.ts";
import { print, printJson } from "./terminal.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { detailText } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetShow = toolsetCommand({
  usage: "toolset show NAME",
  meaning: "One toolset: how each of its tools stands, and what has changed since it was saved",
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneNameOf("toolset", "toolset show", input);
    await using opened = await openToolsets(input);
    const { toolsets, isRunning } = opened;
    const toolset = await toolsets.show(name);
    const isEquipped = (await toolsets.list()).equipped === name;
    if (input.flags.get("json") === true) {
      return printJson({ toolset, equipped: isEquipped, running: isRunning });
    }
    print(detailText(toolset, { env: input.env, isRunning, isEquipped }));
  },
});
