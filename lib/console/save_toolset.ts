import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import type { Toolset } from "../core/toolset.ts";
import type { ToolsetWords } from "./toolset_form.ts";
import { chosenReferences } from "./toolset_tools.ts";

const Names = z.array(z.string());

/**
 * Reads the form: `tool` for each row that is ticked, `tools` for many that are not drawn, in the
 * order of the list; then `add` for what was ticked beside it, and names written one a line.
 */
export function readToolsetForm(form: URLSearchParams): ToolsetWords {
  const listed = [...form].flatMap(([key, value]) =>
    key === "tool" ? value : key === "tools" ? readNames(value) : []
  );
  const written = (form.get("more") ?? "").split("\n").map((line) => line.trim());
  const tools = [...listed, ...form.getAll("add"), ...written].filter((name) => name !== "");
  const [from, version] = [form.get("from"), form.get("version")];
  return {
    name: form.get("name")?.trim() ?? "",
    description: form.get("description")?.trim() ?? "",
    tools: [...new Set(tools)],
    ...(from ? { from } : {}),
    ...(version ? { version } : {}),
  };
}

/** Saves it with each tool as it is now; one that is not there keeps its place as it was. */
export async function saveToolset(
  gateway: Pick<Gateway, "guide" | "toolsets">,
  written: ToolsetWords,
  editing?: Toolset,
): Promise<Toolset> {
  const { toolsets } = gateway.toolsets;
  const source = written.from === undefined ? undefined : toolsets.find(written.from);
  try {
    return await toolsets.save({
      name: editing?.name ?? written.name,
      description: written.description,
      tools: chosenReferences(gateway, written.tools, editing ?? source),
      replace: editing !== undefined,
      over: editing && written.version,
    });
  } catch (error) {
    const isLate = editing && error instanceof GatewayError && error.code === "CONFLICT";
    if (!isLate) throw error;
    throw new GatewayError("CONFLICT", {
      message: `Somebody else has saved ${editing.name} since this page was opened`,
      hint: "What you wrote is kept below; saving again puts it in the place of theirs.",
    });
  }
}

function readNames(text: string): string[] {
  try {
    return Names.parse(JSON.parse(text));
  } catch {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot read which tools were chosen",
      recoverySteps: ["Load the page again, and choose them once more"],
    });
  }
}
