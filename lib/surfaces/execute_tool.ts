import { z } from "zod";
import { checkArguments } from "../catalog/argument_check.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { memberText } from "../core/rpc.ts";
import { namespacedName } from "../routing/names.ts";
import type { ForwardedCall } from "./builtin_tool.ts";

/** A tool's arguments; some models give the object as a text. */
export const ToolArguments = z.union([
  z.record(z.string(), z.unknown()),
  z.string().transform((text, context) => {
    try {
      const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
      return z.record(z.string(), z.unknown()).parse(value);
    } catch {
      context.addIssue({ code: "custom", message: "must be an object" });
      return z.NEVER;
    }
  }),
], { error: "must be an object" }).meta({ type: "object", anyOf: undefined });

/** Calls the tool, if its arguments fit. */
export function forwardTo(
  tool: CatalogTool,
  args: Record<string, unknown>,
  argumentsIn: string,
): ForwardedCall {
  const problems = checkArguments(tool, args);
  if (problems.length === 0) return { forward: tool, argumentsIn };
  const words = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`)
    .map((sentence) => sentence.replace(/\.$/, ""));
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `${namespacedName(tool.server, tool.name)}: ${words.join("; ")}`,
    recoverySteps: [
      "Correct these arguments and call again",
      "For the tool's whole schema call tool_discovery with detailLevel full, or get_tool_description",
    ],
    suggestedTools: ["get_tool_description", "tool_discovery"],
  });
}

/** The params of a call within a call: the inner arguments as they came, the outer `_meta` with them. */
export function forwardedParams(text: string, name: string, argumentsIn: string): string {
  const params = memberText(text, "params")!;
  const outer = memberText(params, "arguments") ?? "{}";
  const inner = memberText(outer, argumentsIn) ?? "{}";
  const meta = memberText(params, "_meta");
  // Some models give an object as a text.
  const args = inner.startsWith('"') ? JSON.parse(inner).trim() || "{}" : inner;
  const tail = meta === undefined ? "" : `,"_meta":${meta}`;
  return `{"name":${JSON.stringify(name)},"arguments":${args}${tail}}`;
}
