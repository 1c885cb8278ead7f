import { counted, didYouMean } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";
import type { ToolsetToolDetail } from "../operations/toolsets_admin.ts";
import type { CommandExtras, OutcomeView } from "./operation_command.ts";
import {
  type Color,
  factsText,
  inert,
  listing,
  minuteOf,
  terminalLine,
  warningsText,
  wholeListing,
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
      "TOOLS is how many of the tools can be called now; TOKENS is roughly what a model reads when they",
      "are listed.",
    ],
    show: listText,
  },
  "toolset.show": { show: detailText },
  "toolset.create": {
    details: [
      "TOOL is any of a tool's names (git.status, git_status), or 'git.*' for all enabled tools of a",
      "server. If a tool is not found, nothing is saved. If no gateway is running, each server has the",
      "tools that it had when it was last connected.",
    ],
  },
  "toolset.equip": { show: equippedText },
  "toolset.import": {
    details: [
      "FILE is a path, or - for stdin. This form also works, alone or in a list:",
      '{ "name": "dev", "tools": [{ "namespacedName": "git.status" }] }',
      "A tool that does not exist yet stays in its toolset and appears once its server lists it. Exits",
      "with code 1 if a toolset was not saved.",
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
  const rows = listing(toolsets, {
    paint,
    empty: "There are no toolsets. Create one with `quartermaster toolset create`.\n",
  }, {
    NAME: ({ name }) => name,
    TOOLS: ({ toolCount, registered }) => isRunning ? `${registered}/${toolCount}` : toolCount,
    TOKENS: ({ tokens }) => tokens,
    STATE: ({ name }) => name === equipped ? { color: "green", text: "equipped" } : "",
    DESCRIPTION: ({ description }) => description,
  });
  const warnings = toolsets.flatMap(({ name, warnings }) =>
    warnings.map((warning) => `${name}: ${warning}`)
  );
  return rows + (warnings.length > 0 ? `\n${warningsText(warnings, paint)}` : "");
}

function equippedText(
  { equipped, registered, toolCount, warnings = [] }: OutputOf<Toolsets["equip"]>,
  { paint, isRunning }: OutcomeView,
): string {
  // Without a gateway no server was tried, so none is unavailable.
  const known = warnings.filter((warning) => isRunning || !warning.includes("skipping tools"));
  const count = counted(toolCount, "tool");
  return [
    `Equipped ${equipped}: ${isRunning ? `${registered.length} of ${count} registered` : count}.\n`,
    ...(isRunning ? registered.map((tool) => `  ${inert(tool)}\n`) : []),
    warningsText(known, paint),
    isRunning ? "" : "Clients see the tools once a gateway is running.\n",
  ].join("");
}

function detailText(
  { toolset, equipped }: OutputOf<Toolsets["show"]>,
  { paint, isRunning }: OutcomeView,
): string {
  const { name, description, toolCount, registered, tokens, updatedAt, tools, warnings } = toolset;
  const count = counted(toolCount, "tool");
  return [
    `${name}${equipped ? `  ${paint("green", "equipped")}` : ""}\n`,
    description === undefined ? "" : `${terminalLine(description)}\n`,
    factsText({
      Tools: `${
        isRunning ? `${registered} of ${count} registered` : count
      }, about ${tokens} tokens`,
      Endpoint: `/toolsets/${name}/mcp`,
      Saved: minuteOf(updatedAt),
    }, paint),
    "\n",
    wholeListing(tools, { paint }, {
      // Whether a server can be reached is not known while no gateway tries.
      STATE: ({ state }) =>
        state === "waiting" && !isRunning ? "not running" : { color: COLORS[state], text: state },
      NAME: ({ namespacedName }) => namespacedName,
      CALLED: ({ name }) => name,
      TOKENS: ({ tokens }) => tokens,
      NOTE: (tool) => noteText(tool, isRunning),
    }),
    warnings.length > 0 ? `\n${warningsText(warnings, paint)}` : "",
  ].join("");
}

function noteText({ state, note = "", change }: ToolsetToolDetail, isRunning: boolean): string {
  const own = state === "registered" || (state === "waiting" && !isRunning) ? "" : note;
  if (!change) return own;
  const { savedVersion = "?", currentVersion = "?", compatibility, reasons } = change;
  const verdict = compatibility === "unknown" ? "the difference is unknown" : compatibility;
  const why = reasons.length > 0 ? `: ${reasons.join("; ")}` : "";
  const text = `changed since saved (v${savedVersion} -> v${currentVersion}), ${verdict}${why}`;
  return own === "" ? text : `${own}; ${text}`;
}

function importText(
  { toolsets }: OutputOf<Toolsets["importFile"]>,
  { paint, input: { dryRun } }: OutcomeView,
): string {
  if (toolsets.length === 0) return "The file has no toolsets.\n";
  return toolsets.flatMap(({ name, wasNamed, toolCount, unmatched, problem }) => {
    const was = wasNamed === undefined ? "" : ` (called "${terminalLine(wasNamed)}" in the file)`;
    return [
      problem === undefined
        ? `${dryRun ? "Would save" : "Saved"} ${name}${was}: ${counted(toolCount, "tool")}\n`
        : `${paint("red", dryRun ? "Would not save" : "Not saved")}: ${name}${was}: ${
          inert(problem)
        }\n`,
      ...unmatched.map(({ written, reason, nearest }) => {
        const { hint } = didYouMean(nearest);
        const text = `${written}: ${reason}${hint === undefined ? "" : `. ${hint}`}`;
        return `  ${paint("yellow", "not matched:")} ${terminalLine(text)}\n`;
      }),
    ];
  }).join("");
}
