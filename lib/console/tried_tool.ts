import type { Gateway } from "../compose.ts";
import { formError } from "./form_error.ts";
import { tryForm } from "./try_form.ts";
import { tryTool } from "./try_tool.ts";
import { argumentsOf, readTryForm } from "./ui/try_fields.ts";
import type { TriedTool } from "./ui/try_outcome.ts";

/** Calls a tool with what a plain form sent. */
export async function tryFromForm(
  gateway: Pick<Gateway, "servers" | "toolCalls" | "logs">,
  server: string,
  tool: string,
  form: URLSearchParams,
  signal: AbortSignal,
): Promise<TriedTool> {
  const words = readTryForm(form);
  const definition = gateway.servers.tools(server).find(({ name }) => name === tool);
  const read = argumentsOf(definition ? tryForm(definition).fields : [], words);
  if ("problems" in read) return { words, problems: read.problems };
  try {
    const isConfirmed = form.get("try") === "confirmed";
    const outcome = await tryTool(gateway, { server, tool, args: read.args, isConfirmed, signal });
    return { words, outcome };
  } catch (error) {
    return { words, error: formError(error) };
  }
}
