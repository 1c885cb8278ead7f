import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/text.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { type NamedTool, NamedTools } from "./find_tool.ts";
import { listServers, openServers } from "./servers_access.ts";
import { cutToWidth, inert, painter, print, printJson, table } from "./terminal.ts";

export const toolsList: Command = {
  usage: "tools list [--server NAME] [--filter TEXT]",
  meaning: "All tools of all servers, and which of them are on",
  details: [
    "With no gateway running these are the tools that each server had when it was last connected.",
  ],
  flags: [
    { flag: "server", placeholder: "NAME", meaning: "Only this server's; can be repeated" },
    {
      flag: "filter",
      placeholder: "TEXT",
      meaning: "Only those with all of these words in name, title or description",
    },
    JSON_FLAG,
  ],
  async run(input) {
    noPositionals("tools list", input);
    await using servers = await openServers(input);
    const wanted = input.values.get("server");
    if (wanted) checkServers(wanted, (await listServers(servers)).map(({ name }) => name));
    const { all } = new NamedTools(await servers.allTools());
    const tools = all.filter((tool) =>
      (wanted?.includes(tool.server) ?? true) && matches(tool, input.flags.get("filter"))
    );
    if (input.flags.get("json") === true) {
      return printJson({
        tools: tools.map(({ server, name, namespaced, flat, enabled, definition }) => ({
          server,
          name,
          namespacedName: namespaced,
          flatName: flat,
          enabled,
          title: definition.title,
          description: definition.description,
        })),
      });
    }
    if (tools.length > 0) print(toolsTable(tools, input));
    print(summary(tools, all.length));
    if (!servers.isRunning) print("No gateway is running: start one with `quartermaster start`.\n");
  },
};

function checkServers(wanted: string[], names: string[]): void {
  for (const name of wanted) {
    if (names.includes(name)) continue;
    const near = nearestNames(name, names);
    throw new GatewayError("SERVER_NOT_FOUND", {
      message: `There is no server "${name}"`,
      recoverySteps: ["See `quartermaster server list`"],
      ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?` } : {}),
    });
  }
}

/** Whether a tool has every word of the filter somewhere in what describes it. */
export function matches(
  { namespaced, flat, definition }: Pick<NamedTool, "namespaced" | "flat" | "definition">,
  filter: string | boolean | undefined,
): boolean {
  if (typeof filter !== "string") return true;
  const { title = "", description = "" } = definition;
  const text = [namespaced, flat, title, description].join("\n").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function toolsTable(tools: NamedTool[], { env }: CommandInput): string {
  const paint = painter(env);
  const heading = ["", "NAME", ""].map((word) => paint("gray", word));
  const rows = tools.map(({ namespaced, enabled, definition }) => [
    enabled ? paint("green", "on") : paint("gray", "off"),
    inert(namespaced).replaceAll("\n", " "),
    inert(definition.description ?? definition.title ?? "").trim().split("\n")[0] ?? "",
  ]);
  return cutToWidth(table([heading, ...rows]));
}

function summary(tools: NamedTool[], total: number): string {
  if (total === 0) return "There are no tools. Add a server with `quartermaster server add`.\n";
  if (tools.length === 0) return "No tool is like that.\n";
  const off = tools.filter(({ enabled }) => !enabled).length;
  const of = tools.length === total ? "" : ` of ${total}`;
  const count = `${tools.length}${of} ${total === 1 ? "tool" : "tools"}`;
  return `\n${count}${off === 0 ? "" : `, ${off} of them off`}.\n`;
}
