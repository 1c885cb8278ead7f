import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { ToolOverride } from "../storage/tool_metadata_repository.ts";
import type { FormError } from "./form_error.ts";

/** What a person wrote of a tool that could not be saved, and why. */
export interface RefusedWords {
  written: ToolWords;
  error: FormError;
}

export type ToolWords = Record<"summary" | "category" | "deprecated", string>;

export function readToolWords(form: URLSearchParams): ToolWords {
  const text = (name: string) => form.get(name) ?? "";
  return {
    summary: text("summary"),
    category: text("category"),
    deprecated: text("deprecated"),
  };
}

/** Keeps what a person wrote of a tool; an empty field, or a reset, leaves it to what is inferred. */
export async function saveToolWords(
  gateway: Pick<Gateway, "guide" | "describeTool">,
  server: string,
  tool: string,
  form: URLSearchParams,
): Promise<void> {
  if (gateway.guide.table.find(server, tool) === undefined) {
    throw new GatewayError("TOOL_NOT_FOUND", { message: `There is no tool "${server}.${tool}"` });
  }
  const isReset = form.has("reset");
  const written = (name: string) => {
    const text = isReset ? "" : form.get(name)?.replaceAll(/\s+/g, " ").trim() ?? "";
    return text === "" ? {} : { [name]: name === "category" ? text.toLowerCase() : text };
  };
  const parsed = ToolOverride.safeParse({
    server,
    tool,
    ...written("summary"),
    ...written("category"),
    ...written("deprecated"),
  });
  if (!parsed.success) {
    const fields = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot save what is said of "${server}.${tool}": ${[...fields].join(" and ")}`,
      recoverySteps: [...fields].map((field) => RULES[field] ?? "Check it"),
    });
  }
  await gateway.describeTool(parsed.data);
}

const RULES: Record<string, string> = {
  summary: "A summary has at most 80 characters",
  category: "A category has 1 to 40 small letters, digits, _ or -",
  deprecated: "The reason has at most 300 characters",
};
