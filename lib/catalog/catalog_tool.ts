import { createHash } from "node:crypto";
import { isObject, memberSpans, memberText, replaceSpan } from "../core/rpc.ts";
import { ToolDefinition } from "../core/tool.ts";
import { shortened } from "../core/text.ts";
import type { ToolText } from "../core/tool_text.ts";
import { withParameterTexts } from "./parameter_texts.ts";

export interface CatalogTool {
  server: string;
  name: string;
  definition: ToolDefinition;
  /** The definition as the text that came, but for passages taken out and promoted texts. */
  text: string;
  /** The text that came, where passages were taken out of it: no model reads it. */
  sent?: string;
  /** The text before another description, or texts for parameters, were promoted. */
  canonical?: string;
  fingerprint: string;
  enabled: boolean;
  /** The offers of clients (listed_to.ts) that its server lists it to; missing if to all. */
  listedTo?: readonly string[];
}

/** A tool that cannot be listed, because it would break whole clients. */
export interface BrokenTool {
  server: string;
  name: string;
  text: string;
  problem: string;
}

export function readTool(server: string, text: string, index: number): CatalogTool | BrokenTool {
  const value: unknown = JSON.parse(text);
  const parsed = ToolDefinition.safeParse(value);
  if (parsed.success) {
    const definition = parsed.data;
    const { name } = definition;
    return { server, name, definition, text, fingerprint: fingerprintOf(value), enabled: true };
  }
  const { name } = isObject(value) ? value : {};
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") || "the tool";
  return {
    server,
    name: typeof name === "string" && name !== "" ? name : `(tool ${index + 1} has no name)`,
    text,
    problem: `${place}: ${issue?.message ?? "not a valid tool"}`,
  };
}

export function isBroken(tool: CatalogTool | BrokenTool): tool is BrokenTool {
  return "problem" in tool;
}

export function isUsable(tool: CatalogTool | BrokenTool): tool is CatalogTool {
  return !isBroken(tool);
}

export function fingerprint(text: string): string {
  return fingerprintOf(JSON.parse(text));
}

function fingerprintOf(definition: unknown): string {
  return createHash("sha256").update(canonicalJson(definition)).digest("hex").slice(0, 32);
}

/** The name in a definition's text; empty if it has none, and so is not a tool. */
export function nameInText(text: string): string {
  const name: unknown = text.startsWith("{") && JSON.parse(memberText(text, "name") ?? "null");
  return typeof name === "string" ? name : "";
}

/** The text that came from the server: to compare, to keep and to review; never for a model. */
export function sentText({ text, canonical, sent }: CatalogTool): string {
  return sent ?? canonical ?? text;
}

/** The text that is served where no description is promoted. */
export function canonicalText({ text, canonical }: CatalogTool): string {
  return canonical ?? text;
}

export function canonicalDescription(tool: CatalogTool): string | undefined {
  if (tool.canonical === undefined) return tool.definition.description;
  return ToolDefinition.parse(JSON.parse(tool.canonical)).description;
}

/** Another one whenever what is shown of the tool is. */
export function shownFingerprint({ fingerprint, canonical, sent, text }: CatalogTool): string {
  if (canonical === undefined && sent === undefined) return fingerprint;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${fingerprint}+${hash.slice(0, 16)}`;
}

/** The tool with a description, and maybe texts for parameters, in the place of its server's own. */
export function withText(tool: CatalogTool, { description, parameters }: ToolText): CatalogTool {
  const canonical = canonicalText(tool);
  const described = describedText(canonical, description);
  if (parameters === undefined) {
    const definition = { ...ownTool(tool).definition, description };
    return { ...tool, definition, text: described, canonical };
  }
  const text = withParameterTexts(described, parameters);
  return { ...tool, definition: ToolDefinition.parse(JSON.parse(text)), text, canonical };
}

/** The tool as its server describes it. */
export function ownTool(tool: CatalogTool): CatalogTool {
  const { canonical, ...rest } = tool;
  if (canonical === undefined) return tool;
  return { ...rest, definition: ToolDefinition.parse(JSON.parse(canonical)), text: canonical };
}

function describedText(text: string, description: string): string {
  const written = JSON.stringify(description);
  const spans = memberSpans(text);
  const span = spans.get("description");
  if (span) return replaceSpan(text, span, written);
  const { end } = spans.get("name")!;
  return `${text.slice(0, end)},"description":${written}${text.slice(end)}`;
}

export function renamed(tool: CatalogTool, name: string): string {
  if (name === tool.name) return tool.text;
  const span = memberSpans(tool.text).get("name");
  return span ? replaceSpan(tool.text, span, JSON.stringify(name)) : tool.text;
}

/** JSON that is the same for any order of keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
  return `{${members.join(",")}}`;
}

export function describeProblem({ text, problem }: Pick<BrokenTool, "text" | "problem">): string {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return "It is not an object";
  const { name, title, description, inputSchema } = value;
  if (name === undefined || name === "") return "It has no name";
  if (typeof name !== "string") return "Its name is not a string";
  if (title !== undefined && typeof title !== "string") return "Its title is not a string";
  if (description !== undefined && typeof description !== "string") {
    return "Its description is not a string";
  }
  if (inputSchema === undefined) return "It has no input schema";
  if (!isObject(inputSchema)) return "Its input schema is not an object";
  if (inputSchema.type === undefined) {
    return 'Its input schema has no type; it must be "object"';
  }
  if (inputSchema.type !== "object") {
    const type = shortened(JSON.stringify(inputSchema.type), 60);
    return `Its input schema has the type ${type}; it must be "object"`;
  }
  if (/twice/.test(problem)) return "Another tool of this server has the same name";
  return problem.charAt(0).toUpperCase() + problem.slice(1);
}
