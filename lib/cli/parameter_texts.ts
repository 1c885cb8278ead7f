import type { ParameterChange, ToolText } from "../core/tool_text.ts";
import type { ToolOptimizationDetail } from "../operations/optimization/schemas.ts";
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
