import { z } from "zod";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** How many earlier versions of a tool are kept. */
const KEPT_VERSIONS = 20;
/** Well under what one commit can hold. */
const COMMIT_BYTES = 400_000;
const COMMIT_RECORDS = 200;

const ToolVersion = z.strictObject({
  /** The definition as the text that came. */
  text: z.string(),
  fingerprint: z.string(),
  /** When it was first seen, in ms since the epoch. */
  seenAt: z.number(),
});

/** A tool as its server defines it, and how it was defined before. */
export const CanonicalTool = z.strictObject({
  server: z.string(),
  name: z.string(),
  /** Counts up from 1 with each change. */
  version: z.int(),
  current: ToolVersion,
  /** Newest first. */
  earlier: z.array(ToolVersion),
  /** When its server stopped listing it, if it did. */
  goneSince: z.number().optional(),
});
export type CanonicalTool = z.infer<typeof CanonicalTool>;

/** A tool as it was listed just now. */
export interface SeenTool {
  name: string;
  text: string;
  fingerprint: string;
}

/** The tools of each server, one an entry, with their history. */
export class CanonicalToolsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async list(server: string): Promise<CanonicalTool[]> {
    const tools: CanonicalTool[] = [];
    for await (const { key, value } of this.#store.list({ prefix: keys.canonicalTools(server) })) {
      const parsed = CanonicalTool.safeParse(value);
      if (parsed.success) tools.push(parsed.data);
      else this.#store.warn("A tool's record cannot be read and is left out", { key });
    }
    return tools;
  }

  /** Notes what a server lists now; writes only what changed, and returns what that was. */
  async record(server: string, seen: SeenTool[], now: number): Promise<CanonicalTool[]> {
    const known = new Map((await this.list(server)).map((tool) => [tool.name, tool]));
    const listed = new Set(seen.map(({ name }) => name));
    const changed = [
      ...seen.flatMap((tool) => next(server, tool, known.get(tool.name), now) ?? []),
      ...[...known.values()].filter(({ name, goneSince }) =>
        !listed.has(name) && goneSince === undefined
      )
        .map((tool) => ({ ...tool, goneSince: now })),
    ];
    for (const batch of batches(changed)) {
      // Another gateway on the same store sees the same list: the last to write it is right too.
      await this.#store.commit({
        sets: batch.map((tool) => ({ key: keys.canonicalTool(server, tool.name), value: tool })),
        announce: false,
      });
    }
    return changed;
  }

  async removeServer(server: string): Promise<void> {
    const tools = await this.list(server);
    for (let start = 0; start < tools.length; start += COMMIT_RECORDS) {
      const deletes = tools.slice(start, start + COMMIT_RECORDS)
        .map(({ name }) => keys.canonicalTool(server, name));
      await this.#store.commit({ deletes, announce: false });
    }
  }
}

function next(
  server: string,
  { name, text, fingerprint }: SeenTool,
  known: CanonicalTool | undefined,
  now: number,
): CanonicalTool | undefined {
  const current = { text, fingerprint, seenAt: now };
  if (!known) return { server, name, version: 1, current, earlier: [] };
  if (known.current.fingerprint === fingerprint) {
    if (known.goneSince === undefined) return undefined;
    const { goneSince: _, ...returned } = known;
    return returned;
  }
  return {
    server,
    name,
    version: known.version + 1,
    current,
    earlier: [known.current, ...known.earlier].slice(0, KEPT_VERSIONS),
  };
}

function* batches(tools: CanonicalTool[]): Generator<CanonicalTool[]> {
  let batch: CanonicalTool[] = [];
  let size = 0;
  for (const tool of tools) {
    const bytes = 3 *
      (tool.current.text.length + tool.earlier.reduce((sum, { text }) => sum + text.length, 0));
    if (batch.length > 0 && (size + bytes > COMMIT_BYTES || batch.length >= COMMIT_RECORDS)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(tool);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}
