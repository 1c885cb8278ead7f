import type { ParameterChange, ToolText } from "../core/tool_text.ts";
import type { ToolOptimizationDetail } from "../operations/optimization/schemas.ts";
import { configError } from "../config/files.ts";
import type { CommandFlag } from "../config/command_line.ts";
import { OPTIMIZATION_OPERATIONS } from "../operations/optimization.ts";
import type { CommandInput } from "./command.ts";
import { readInput } from "./operation_command.ts";
import { type Paint, terminalLine } from "./terminal.ts";

/** What a text changes about parameters, as a diff. */
export function parametersText(
  { parameters = {} }: Pick<ToolText, "parameters">,
  { canonicalParameters: own }: Pick<ToolOptimizationDetail, "canonicalParameters">,
  paint: Paint,
): string {
  return Object.entries(parameters).map(([path, text]) => {
    const before = Object.hasOwn(own, path) ? own[path] ?? "(none)" : "(no such parameter now)";
    return `    parameter ${terminalLine(path)}\n` +
      `      ${paint("red", `- ${terminalLine(before)}`)}\n` +
      `      ${paint("green", `+ ${terminalLine(text)}`)}\n`;
  }).join("");
}

/** What the server itself said of a parameter, and says now. */
export function parameterChangeText({ path, before, now }: ParameterChange): string {
  return `  ${terminalLine(path)} was: ${terminalLine(before ?? "none")}\n` +
    `  ${terminalLine(path)} is:  ${now === undefined ? "gone" : terminalLine(now ?? "none")}\n`;
}

export const PARAMETER_FLAG: CommandFlag = {
  flag: "parameter",
  placeholder: "PATH=TEXT",
  meaning: "Description of a parameter, such as filter.since=TEXT or tags[]=TEXT; can be repeated",
};

/** A proposal with its texts for parameters. */
export async function readProposal(input: CommandInput): Promise<Record<string, unknown>> {
  const given = await readInput(OPTIMIZATION_OPERATIONS.propose, input);
  const written = (input.values.get(PARAMETER_FLAG.flag) ?? []).map((pair) => {
    // A quoted name can have a "=" in it.
    const [, path, text] = /^((?:\["(?:[^"\\]|\\.)*"\]|[^="])+)=(.*)$/s.exec(pair) ?? [];
    if (path !== undefined && text !== undefined) return [path, text] as const;
    throw configError(
      `--parameter requires PATH=TEXT, not "${pair}"`,
      "Example: --parameter city=TEXT",
    );
  });
  return written.length === 0 ? given : { ...given, parameters: Object.fromEntries(written) };
}
