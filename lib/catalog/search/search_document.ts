import { isObject } from "../../core/rpc.ts";
import { type CatalogTool, shownFingerprint } from "../catalog_tool.ts";

export interface SearchDocument {
  /** Unique in the index, `server.tool`. */
  key: string;
  server: string;
  name: string;
  title: string;
  description: string;
  parameters: string;
  category?: string;
  /** All that it is found under. */
  categories?: readonly string[];
  serverTitle?: string;
  serverDescription?: string;
  isDeprecated?: boolean;
  /** What its deprecation notice may name as replacement, as keys. */
  replacements?: readonly string[];
  fingerprint: string;
}

export type ToolAbout =
  & {
    [Key in "category" | "serverTitle" | "serverDescription" | "deprecated"]?: string | undefined;
  }
  & { categories?: readonly string[] | undefined };

/** Far more than a description that a model could use; keeps one tool from filling the index. */
const MOST_CHARS = 4_000;
const MOST_PARAMETERS = 200;
const DEEPEST = 3;

export function toSearchDocument(tool: CatalogTool, about: ToolAbout = {}): SearchDocument {
  const { category, categories, serverTitle, serverDescription, deprecated } = about;
  const { title, description, inputSchema } = tool.definition;
  const { annotations } = tool.definition;
  const annotated = isObject(annotations) && typeof annotations.title === "string"
    ? annotations.title
    : undefined;
  return {
    key: `${tool.server}.${tool.name}`,
    server: tool.server,
    name: tool.name,
    title: (title ?? annotated ?? "").slice(0, MOST_CHARS),
    description: (description ?? "").slice(0, MOST_CHARS),
    parameters: parameterText(inputSchema),
    ...(category ? { category } : {}),
    ...(serverTitle ? { serverTitle: serverTitle.slice(0, MOST_CHARS) } : {}),
    ...(serverDescription ? { serverDescription: serverDescription.slice(0, MOST_CHARS) } : {}),
    ...(categories ? { categories } : {}),
    ...(deprecated === undefined
      ? {}
      : { isDeprecated: true, replacements: replacementsIn(deprecated, tool) }),
    fingerprint: [
      shownFingerprint(tool),
      category,
      serverTitle,
      serverDescription,
      deprecated,
      ...categories ?? [],
    ].join("\n"),
  };
}

/** "Use read_text_file instead": any word may be a tool of the same server. */
function replacementsIn(notice: string, { server, name }: CatalogTool): string[] {
  const words = new Set(notice.match(/[\w-]+/g));
  words.delete(name);
  return Array.from(words, (word) => `${server}.${word}`);
}

export function parameterText(schema: unknown): string {
  const found: string[] = [];
  collect(schema, 0, found);
  return found.join(" ").slice(0, MOST_CHARS);
}

function collect(schema: unknown, depth: number, found: string[]): void {
  if (depth > DEEPEST || !isObject(schema)) return;
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (found.length >= MOST_PARAMETERS) return;
      found.push(name);
      if (!isObject(property)) continue;
      if (typeof property.description === "string") found.push(property.description);
      collect(property, depth + 1, found);
    }
  }
  if (isObject(schema.items)) collect(schema.items, depth + 1, found);
}
