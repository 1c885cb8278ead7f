import { didYouMean } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";
import type { ToolsetToolDetail } from "../operations/toolsets_admin.ts";
import type { CommandExtras, OutcomeView } from "./operation_command.ts";
import {
  type Color,
  countOf,
  inert,
  listing,
  minuteOf,
  type Paint,
  table,
  terminalLine,
  warningsText,
} from "./terminal.ts";

type Toolsets = typeof TOOLSET_OPERATIONS;

const COLORS: Record<ToolsetToolDetail["state"], Color> = {
  registered: "green",
  waiting: "yellow",
  disabled: "gray",
  gone: "red",
};

export const TOOLSET_EXTRAS: Record<string, CommandExtras> = {
  "toolset.list": {
    details: [
      "TOOLS says how many of the tools can be called now; TOKENS is roughly what a model reads when",
      "they are listed.",
    ],
    show: listText,
  },
  "toolset.show": { show: detailText },
  "toolset.create": {
    details: [
      "TOOL is any of its names (git.status, git_status), or 'git.*' for all of a server's enabled",
      "tools. If one cannot be found, nothing is saved. With no gateway running, the tools are those",
      "that each server had when it was last connected.",
    ],
  },
  "toolset.equip": { show: equippedText },
  "toolset.import": {
    details: [
      "FILE is a path, or - for standard input. Also read:",
      '{ "name": "dev", "tools": [{ "namespacedName": "git.status" }] }, or a list of such.',
      "A tool that is not there yet stays in its toolset and appears once its server has it. The exit",
      "code is 1 if a toolset was not saved.",
    ],
    show: importText,
    exitCode: ({ toolsets }: OutputOf<Toolsets["importFile"]>) =>
      toolsets.some(({ problem }) => problem !== undefined) ? 1 : 0,
  },
};

function listText(
  { toolsets, equipped }: OutputOf<Toolsets["list"]>,
  { paint, isRunning }: OutcomeView,
): string {
  if (toolsets.length === 0) {
    return "There are no toolsets. Create one with `quartermaster toolset create`.\n";
  }
  const rows = toolsets.map(({ name, toolCount, registered, tokens, description = "" }) => [
    name,
    isRunning ? `${registered}/${toolCount}` : String(toolCount),
    String(tokens),
    name === equipped ? paint("green", "equipped") : "",
    terminalLine(description),
  ]);
  const warnings = toolsets.flatMap(({ name, warnings }) =>
    warnings.map((warning) => `${name}: ${warning}`)
  );
  const after = warnings.length > 0 ? `\n${warningsText(warnings, paint)}` : "";
  return listing(["NAME", "TOOLS", "TOKENS", "", ""], rows, paint) + after;
}

function equippedText(
  { equipped, registered, toolCount, warnings = [] }: OutputOf<Toolsets["equip"]>,
  { paint, isRunning }: OutcomeView,
): string {
  // Without a gateway no server was tried, so none is unavailable.
  if (!isRunning) {
    const missing = warnings.filter((warning) => !warning.includes("skipping tools"));
    return `Equipped ${equipped}: ${countOf(toolCount)}.\n${warningsText(missing, paint)}` +
      "The tools are listed once a gateway runs.\n";
  }
  const listed = registered.map((tool) => `  ${inert(tool)}\n`).join("");
  return `Equipped ${equipped}: ${registered.length} of ${countOf(toolCount)} registered.\n` +
    `${listed}${warningsText(warnings, paint)}`;
}

function detailText(
  { toolset, equipped }: OutputOf<Toolsets["show"]>,
  { paint, isRunning }: OutcomeView,
): string {
  const { name, description, toolCount, registered, tokens, updatedAt, tools, warnings } = toolset;
  const count = isRunning
    ? `${registered} of ${countOf(toolCount)} registered`
    : countOf(toolCount);
  const facts = [
    ["Tools", `${count}, about ${tokens} tokens`],
    ["Endpoint", `/toolsets/${name}/mcp`],
    ["Saved", minuteOf(updatedAt)],
  ];
  const heading = ["STATE", "NAME", "CALLED", "TOKENS", ""].map((label) => paint("gray", label));
  const rows = tools.map((tool) => [
    stateText(tool, isRunning, paint),
    terminalLine(tool.namespacedName),
    tool.name ?? "",
    tool.tokens === undefined ? "" : String(tool.tokens),
    noteText(tool, isRunning),
  ]);
  return [
    `${name}${equipped ? `  ${paint("green", "equipped")}` : ""}\n`,
    ...(description === undefined ? [] : [`${terminalLine(description)}\n`]),
    table(facts.map(([fact = "", text = ""]) => [paint("gray", fact), text])),
    `\n${table([heading, ...rows])}`,
    ...(warnings.length > 0 ? [`\n${warningsText(warnings, paint)}`] : []),
  ].join("");
}

// Whether a server could be reached is not known while nothing tries.
function stateText({ state }: ToolsetToolDetail, isRunning: boolean, paint: Paint): string {
  if (state === "waiting" && !isRunning) return paint("gray", "not running");
  return paint(COLORS[state], state);
}

function noteText({ state, note = "", change }: ToolsetToolDetail, isRunning: boolean): string {
  const own = state === "registered" || (state === "waiting" && !isRunning) ? "" : note;
  return terminalLine(
    [own, change ? changeText(change) : ""].filter((part) => part !== "").join("; "),
  );
}

function changeText(change: NonNullable<ToolsetToolDetail["change"]>): string {
  const { savedVersion, currentVersion, compatibility, reasons } = change;
  const version = (number: number | undefined) => number === undefined ? "?" : `v${number}`;
  const verdict = compatibility === "unknown" ? "the difference is unknown" : compatibility;
  const why = reasons.length > 0 ? `: ${reasons.join("; ")}` : "";
  return `changed since saved (${version(savedVersion)} -> ${
    version(currentVersion)
  }), ${verdict}${why}`;
}

function importText(
  { toolsets }: OutputOf<Toolsets["importFile"]>,
  { paint, input: { dryRun } }: OutcomeView,
): string {
  if (toolsets.length === 0) return "There are no toolsets in it.\n";
  return toolsets.map(({ name, wasNamed, toolCount, unmatched, problem }) => {
    const was = wasNamed === undefined ? "" : ` (called "${terminalLine(wasNamed)}" there)`;
    const done = dryRun ? "Would save" : "Saved";
    const head = problem === undefined
      ? `${done} ${name}${was}: ${countOf(toolCount)}\n`
      : `${paint("red", dryRun ? "Would not save" : "Not saved")}: ${name}${was}: ${
        inert(problem)
      }\n`;
    const lines = unmatched.map(({ written, reason, nearest }) => {
      const { hint } = didYouMean(nearest);
      const guess = hint === undefined ? "" : `. ${hint}`;
      return `  ${paint("yellow", "not matched:")} ${
        terminalLine(`${written}: ${reason}${guess}`)
      }\n`;
    });
    return head + lines.join("");
  }).join("");
}
