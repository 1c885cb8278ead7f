import type { CatalogTool } from "./catalog_tool.ts";

/** How much of two descriptions must be the same words, where the schemas are the same. */
const SAME_WORDS = 0.6;
const MAX_NEAR = 20;

type Named = Pick<CatalogTool, "name" | "definition">;

/** Which of the tools that came is one of those that went: its name, then the name it had. */
export function findRenames(
  came: readonly Named[],
  went: readonly Named[],
): ReadonlyMap<string, string> {
  if (came.length === 0 || went.length === 0) return new Map();
  const [open, left] = [Map.groupBy(came, bodyOf), Map.groupBy(went, bodyOf)];
  const found = new Map<string, string>();
  for (const [body, tools] of open) {
    const gone = left.get(body) ?? [];
    // Two that fit are as good as none: a wrong name would mislead whoever decides.
    if (tools.length === 1 && gone.length === 1) found.set(tools[0]!.name, gone[0]!.name);
  }
  const taken = new Set(found.values());
  const others = came.filter(({ name }) => !found.has(name));
  const rest = went.filter(({ name }) => !taken.has(name));
  // Each is compared with each: a server that renames everything is not worth that.
  if (others.length > MAX_NEAR || rest.length > MAX_NEAR) return found;
  for (const tool of others) {
    const [first, second] = rest.filter((gone) => isNear(gone, tool));
    if (!first || second || others.filter((other) => isNear(first, other)).length > 1) continue;
    found.set(tool.name, first.name);
  }
  return found;
}

function isNear(a: Named, b: Named): boolean {
  const [before, after] = [a.definition, b.definition];
  const isSameSchema = sorted(before.inputSchema) === sorted(after.inputSchema);
  const [words, others] = [wordsOf(before.description), wordsOf(after.description)];
  if (words.size === 0 || others.size === 0) return false;
  if (isSameSchema) {
    return 2 * words.intersection(others).size >= SAME_WORDS * (words.size + others.size);
  }
  return before.description === after.description && parametersOf(a) === parametersOf(b);
}

function bodyOf({ definition: { name: _, ...body } }: Named): string {
  return sorted(body);
}

function parametersOf({ definition: { inputSchema: { properties } } }: Named): string {
  return typeof properties === "object" && properties !== null
    ? Object.keys(properties).sort().join("\n")
    : "";
}

function wordsOf(text = ""): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function sorted(value: unknown): string {
  return JSON.stringify(
    value,
    (_, item) =>
      typeof item === "object" && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => a < b ? -1 : 1))
        : item,
  );
}
