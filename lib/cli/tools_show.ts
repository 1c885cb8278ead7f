import { z } from "zod";
import { type Parameters, parametersOf } from "../core/parameters.ts";
import { oneToolOf } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { type NamedTool, resolveListed } from "./find_tool.ts";
import { openServers } from "./servers_access.ts";
import { inert, painter, print, printJson, table } from "./terminal.ts";

/** What a tool says about its own effects; hints from a server, never promises. */
const HINTS: [name: string, ifTrue: string, ifFalse?: string][] = [
  ["readOnlyHint", "changes nothing", "may change things"],
  ["destructiveHint", "may delete or overwrite", "only adds"],
  ["idempotentHint", "a second call changes nothing more"],
  ["openWorldHint", "reaches systems outside its server", "stays within its server"],
];

const Annotations = z.record(z.string(), z.unknown());

export const toolsShow: Command = {
  usage: "tools show SERVER.TOOL",
  meaning: "One tool: what it does, its parameters, and whether it is on",
  details: [
    "The name may also be the flat one (SERVER_TOOL), SERVER:TOOL, or the server's own where only one",
    "has it; a long one as clients have it, or whole.",
  ],
  flags: [JSON_FLAG],
  async run(input) {
    const name = oneToolOf("tools show", input);
    await using servers = await openServers(input);
    const tool = await resolveListed(name, servers);
    if (input.flags.get("json") !== true) return print(toolText(tool, input));
    const { server, namespaced, flat, enabled, definition } = tool;
    printJson({
      server,
      name: tool.name,
      namespacedName: namespaced,
      flatName: flat,
      enabled,
      definition,
    });
  },
};

function toolText(tool: NamedTool, { env }: Pick<CommandInput, "env">): string {
  const paint = painter(env);
  const { definition, enabled, namespaced, flat } = tool;
  const { title, description = "" } = definition;
  const state = enabled ? paint("green", "on") : paint("yellow", "off");
  const facts = [
    ["Names", inert([...new Set([namespaced, flat, tool.name])].join(", "))],
    ["State", enabled ? state : `${state} (quartermaster server tools ${tool.server})`],
    ...hintsOf(definition.annotations).map((
      hint,
      index,
    ) => [index === 0 ? "Says of itself" : "", hint]),
  ];
  const heading = title === undefined || title === namespaced ? "" : `  ${inert(title)}`;
  return [
    `${inert(namespaced)}${heading}\n`,
    table(facts.map(([name = "", text = ""]) => [paint("gray", name), text])),
    description.trim() === "" ? "It has no description.\n" : `${inert(description).trim()}\n`,
    parametersText("Parameters", parametersOf(definition.inputSchema), env),
    ...(definition.outputSchema === undefined
      ? []
      : [parametersText("Answers with", parametersOf(definition.outputSchema), env)]),
  ].join("\n");
}

export function hintsOf(annotations: unknown): string[] {
  const parsed = Annotations.safeParse(annotations);
  if (!parsed.success) return [];
  return HINTS.flatMap(([name, ifTrue, ifFalse]) => {
    const value = parsed.data[name];
    if (value === true) return [`${ifTrue} (${name})`];
    return value === false && ifFalse !== undefined ? [`${ifFalse} (${name}: false)`] : [];
  });
}

function parametersText(
  heading: string,
  { rows, isCut }: Parameters,
  env: CommandInput["env"],
): string {
  if (rows.length === 0) return `${heading}: none\n`;
  const paint = painter(env);
  const cells = rows.map((row) => [
    `  ${"  ".repeat(row.depth)}${inert(row.path)}`,
    inert(row.type),
    row.isRequired ? paint("yellow", "required") : "",
    inert(meaningOf(row)).replaceAll(/\s+/g, " "),
  ]);
  return `${heading}:\n${table(cells)}${isCut ? "  ... and more\n" : ""}`;
}

function meaningOf(row: Parameters["rows"][number]): string {
  const { description, choices, limits, defaultValue } = row;
  return [
    description,
    choices && `one of ${choices.join(", ")}`,
    limits,
    defaultValue && `default ${defaultValue}`,
  ].filter((part) => part !== undefined && part !== "").join("; ");
}
