import { type Command, JSON_FLAG } from "./command.ts";
import { oneNameOf } from "./arguments.ts";
import { print, printJson } from "./terminal.ts";
import { openAccess } from "./token_store.ts";

export const projectCreate: Command = {
  usage: "project create NAME [--description TEXT]",
  meaning: "Make a project, which servers are assigned to and tokens can be for",
  flags: [{ flag: "description", placeholder: "TEXT", meaning: "What it is for" }, JSON_FLAG],
  async run(input) {
    const name = oneNameOf("project", "project create", input);
    const description = input.flags.get("description");
    await using opened = await openAccess(input);
    const { admin } = opened;
    const project = await admin.saveProject({
      name,
      servers: [],
      versionstamp: null,
      ...(typeof description === "string" ? { description } : {}),
    });
    if (input.flags.get("json") === true) return printJson({ project });
    print(
      `Made ${name}. Give it servers with \`deno task cli project assign ${name} SERVER...\`.\n`,
    );
  },
};
