import { configError } from "../config/problem.ts";
import { oneNameOf } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { openServers, type ServerTools } from "./servers_access.ts";
import { historyText } from "./history_text.ts";
import { inert, painter, print, printJson, table } from "./terminal.ts";

export const serverTools: Command = {
  usage: "server tools NAME [--enable A,B | --all | --none | --history]",
  meaning: "Which tools of a server are on; with a flag, choose them",
  details: [
    "Names are the server's own. With --enable, exactly these tools are on, and tools that the",
    "server gets later stay off; with --all, those are on too.",
  ],
  flags: [
    { flag: "enable", placeholder: "A,B", meaning: "Have exactly these tools on" },
    { flag: "all", meaning: "Have all tools on, new ones too" },
    { flag: "none", meaning: "Have no tool on" },
    { flag: "history", meaning: "Show how its tools have changed, and what it lists wrongly" },
    JSON_FLAG,
  ],
  async run(input) {
    const name = oneNameOf("server", "server tools", input);
    const choice = readChoice(input);
    await using servers = await openServers(input);
    if (input.flags.get("history") === true) {
      const history = await servers.history(name);
      if (input.flags.get("json") === true) printJson(history);
      else print(historyText(history, painter(input.env)));
      return;
    }
    const tools = choice === undefined
      ? await servers.tools(name)
      : await servers.setTools(name, choice);
    if (input.flags.get("json") === true) printJson(tools);
    else print(toolsText(tools, input));
  },
};

function readChoice({ flags, values }: CommandInput): string[] | null | undefined {
  const given = ["enable", "all", "none", "history"].filter((flag) => flags.has(flag));
  if (given.length > 1) {
    throw configError(`--${given[0]} and --${given[1]} exclude each other`, "Give one of them");
  }
  if (flags.get("all") === true) return null;
  if (flags.get("none") === true) return [];
  return values.get("enable")?.flatMap((names) => names.split(","))
    .map((tool) => tool.trim()).filter((tool) => tool !== "");
}

function toolsText({ server, enabled, all }: ServerTools, { env }: CommandInput): string {
  const isOn = (tool: string) => enabled === null || enabled.includes(tool);
  const on = all.filter(isOn).length;
  const summary = enabled === null
    ? `All ${all.length} tools of ${server} are on, and new ones will be.\n`
    : `${on} of ${all.length} tools of ${server} are on; new ones stay off.\n`;
  const paint = painter(env);
  const rows = all.map((tool) => [
    isOn(tool) ? paint("green", "on") : paint("gray", "off"),
    inert(tool),
  ]);
  return table(rows) + (rows.length > 0 ? "\n" : "") + summary;
}
