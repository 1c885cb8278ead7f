import { noPositionals } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";
import { openAccess } from "./token_store.ts";
import { oneLine } from "./toolset_text.ts";

export const projectList: Command = {
  usage: "project list",
  meaning: "All projects, their servers, and how many tokens are for each alone",
  details: ["A server that is assigned to no project is in all of them."],
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("project list", input);
    await using opened = await openAccess(input);
    const [all, tokens] = await Promise.all([opened.admin.projects(), opened.admin.tokens()]);
    const projects = all.map((project) => ({
      ...project,
      tokens: tokens.filter((token) => token.project === project.name).length,
    }));
    if (input.flags.get("json") === true) return printJson({ projects });
    if (projects.length === 0) {
      return print("There are no projects. Make one with `deno task cli project create NAME`.\n");
    }
    const paint = painter(input.env);
    const heading = ["NAME", "TOKENS", "SERVERS", ""].map((word) => paint("gray", word));
    const rows = projects.map(({ name, tokens, servers, description = "" }) => [
      name,
      String(tokens),
      servers.length === 0 ? "none of its own" : servers.join(", "),
      oneLine(description),
    ]);
    print(cutToWidth(table([heading, ...rows])));
  },
};
