import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { z } from "zod";
import { type EntryKey, isEntryKey } from "./entry_keys.ts";

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

// VS Code lets a variable be a number, or null to leave it out.
const EntryShape = z.object({
  type: z.string(),
  command: z.string().trim().min(1),
  args: z.array(z.string()),
  env: z.record(z.string(), scalar.or(z.null())),
  envFile: z.string().min(1),
  cwd: z.string().min(1),
  url: z.string().trim().min(1),
  headers: z.record(z.string(), scalar),
  disabled: z.boolean(),
  enabled: z.boolean(),
}).partial();

/** A server's entry with the right types, its placeholders not yet replaced. */
export type Entry = z.infer<typeof EntryShape>;

const MUST: Record<EntryKey, { whole: string; part?: string; example: string }> = {
  type: { whole: "text", example: '"type": "stdio"' },
  command: { whole: "text", example: '"command": "npx", with the rest under "args"' },
  args: { whole: "a list of text", part: "text", example: '"args": ["-y", "some-package"]' },
  env: { whole: "an object of text", part: "text", example: '"env": { "NAME": "value" }' },
  envFile: { whole: "a path", example: '"envFile": ".env"' },
  cwd: { whole: "a path", example: '"cwd": "${workspaceFolder}"' },
  url: { whole: "text", example: '"url": "https://example.com/mcp"' },
  headers: {
    whole: "an object of text",
    part: "text",
    example: '"headers": { "Authorization": "Bearer ${TOKEN}" }',
  },
  disabled: { whole: "true or false", example: '"disabled": true' },
  enabled: { whole: "true or false", example: '"enabled": false' },
};

/** Checks the types; `fail` hears of each value that is wrong, and then there is no entry. */
export function parseEntry(
  values: ReadonlyMap<EntryKey, Node>,
  fail: (at: Node, message: string, fix: string) => void,
): Entry | undefined {
  const parsed = EntryShape.safeParse(
    Object.fromEntries(Array.from(values, ([key, node]) => [key, getNodeValue(node)])),
  );
  if (parsed.success) return parsed.data;
  for (const { path: [key, ...rest] } of parsed.error.issues) {
    const node = isEntryKey(key) ? values.get(key) : undefined;
    if (!isEntryKey(key) || node === undefined) continue;
    const { whole, part, example } = MUST[key];
    const inner = rest.filter((step) => typeof step !== "symbol");
    const must = inner.length > 0 ? part ?? whole : whole;
    fail(
      findNodeAtLocation(node, inner) ?? node,
      `has a wrong value at ${placeOf(key, ...inner)}: it must be ${must}`,
      `Write it as ${example}`,
    );
  }
  return undefined;
}

/** `args[1]`, `env.TOKEN`: how messages name a place inside an entry. */
export function placeOf(key: string, ...rest: readonly (string | number)[]): string {
  return key + rest.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("");
}
