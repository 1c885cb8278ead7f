import type { CommandInput } from "./command.ts";
import { type Color, inert, painter, table } from "./terminal.ts";
import type { ToolsetDetail, ToolsetTool } from "./toolset_answers.ts";

type Paint = ReturnType<typeof painter>;

const COLORS: Record<ToolsetTool["state"], Color> = {
  registered: "green",
  waiting: "yellow",
  disabled: "gray",
  gone: "red",
};

export const NOT_RUNNING = "No gateway is running: start one with `deno task start`.\n";

export function countOf(tools: number): string {
  return tools === 1 ? "1 tool" : `${tools} tools`;
}

/** Whatever a server or a person wrote, in one line that steers nothing. */
export function oneLine(text: string): string {
  return inert(text).replaceAll(/\s+/g, " ").trim();
}

export function warningsText(warnings: readonly string[], paint: Paint): string {
  return warnings.map((warning) => `${paint("yellow", "Warning:")} ${oneLine(warning)}\n`).join("");
}

/** One line for each server whose tools are skipped. */
export function skippedWords(tools: readonly ToolsetTool[]): string[] {
  const waiting = tools.filter(({ state }) => state === "waiting")
    .map(({ namespacedName }) => namespacedName);
  return [...Map.groupBy(waiting, (name) => name.slice(0, name.indexOf(".")))]
    .map(([server, names]) => `${server} server unavailable, skipping tools: ${names.join(", ")}`);
}

export interface DetailOptions extends Pick<CommandInput, "env"> {
  isRunning: boolean;
  isEquipped: boolean;
}

/** One toolset with all its tools. */
export function detailText(toolset: ToolsetDetail, options: DetailOptions): string {
  const { isRunning, isEquipped } = options;
  const paint = painter(options.env);
  const { name, description, toolCount, registered, tokens, updatedAt, tools, warnings } = toolset;
  const count = isRunning
    ? `${registered} of ${countOf(toolCount)} registered`
    : countOf(toolCount);
  const facts = [
    ["Tools", `${count}, about ${tokens} tokens`],
    ["Door", `/toolsets/${name}/mcp`],
    ["Saved", new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ")],
  ];
  const heading = ["STATE", "NAME", "CALLED", "TOKENS", ""].map((word) => paint("gray", word));
  const rows = tools.map((tool) => [
    stateText(tool, isRunning, paint),
    oneLine(tool.namespacedName),
    tool.name ?? "",
    tool.tokens === undefined ? "" : String(tool.tokens),
    noteText(tool, isRunning),
  ]);
  return [
    `${name}${isEquipped ? `  ${paint("green", "equipped")}` : ""}\n`,
    ...(description === undefined ? [] : [`${oneLine(description)}\n`]),
    table(facts.map(([fact = "", text = ""]) => [paint("gray", fact), text])),
    `\n${table([heading, ...rows])}`,
    ...(warnings.length > 0 ? [`\n${warningsText(warnings, paint)}`] : []),
    ...(isRunning ? [] : [`\n${NOT_RUNNING}`]),
  ].join("");
}

// Whether a server could be reached is not known while nothing tries.
function stateText({ state }: ToolsetTool, isRunning: boolean, paint: Paint): string {
  if (state === "waiting" && !isRunning) return paint("gray", "not running");
  return paint(COLORS[state], state);
}

function noteText({ state, note = "", change }: ToolsetTool, isRunning: boolean): string {
  const own = state === "registered" || (state === "waiting" && !isRunning) ? "" : note;
  return oneLine([own, change ? changeText(change) : ""].filter((part) => part !== "").join("; "));
}

function changeText(change: NonNullable<ToolsetTool["change"]>): string {
  const { savedVersion, currentVersion, compatibility, reasons } = change;
  const version = (number: number | undefined) => number === undefined ? "?" : `v${number}`;
  const verdict = compatibility === "unknown" ? "how is not known" : compatibility;
  const why = reasons.length > 0 ? `: ${reasons.join("; ")}` : "";
  return `changed since saved (${version(savedVersion)} -> ${
    version(currentVersion)
  }), ${verdict}${why}`;
}
