import type { Gateway } from "../compose.ts";
import type { ToolCall } from "../surfaces/tool_calls.ts";
import { formError } from "./form_error.ts";
import { tryForm } from "./try_form.ts";
import { tryTool } from "./try_tool.ts";
import { argumentsOf, readTryForm } from "./ui/try_fields.ts";
import type { TriedTool } from "./ui/try_outcome.ts";

/** Calls a tool with what a plain form sent; throws ACCESS_DENIED where that may not be. */
export async function tryFromForm(
  gateway: Pick<Gateway, "access" | "servers" | "toolCalls" | "logs">,
  { server, tool, ...by }: Pick<ToolCall, "server" | "tool" | "principal" | "signal">,
  form: URLSearchParams,
): Promise<TriedTool> {
  try {
    gateway.access.demand(by.principal, "call", "To try a tool");
  } catch (error) {
    gateway.toolCalls.refused({ server, tool, principal: by.principal }, error);
    throw error;
  }
  const words = readTryForm(form);
  const definition = gateway.servers.tools(server).find(({ name }) => name === tool);
  const read = argumentsOf(definition ? tryForm(definition).fields : [], words);
  if ("problems" in read) return { words, problems: read.problems };
  try {
    const isConfirmed = form.get("try") === "confirmed";
    const outcome = await tryTool(gateway, { server, tool, args: read.args, isConfirmed, ...by });
    return { words, outcome };
  } catch (error) {
    return { words, error: formError(error) };
  }
}
