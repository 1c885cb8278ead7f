import * as z from "zod";
import { deleteAll, deleteFound, Repository, setAll } from "./collection.ts";
import { keyBytes, keys, type RecordKey } from "./keys.ts";

/** How many earlier versions of a tool are kept, and how long they may be together. */
const KEPT_VERSIONS = 20;
const KEPT_CHARS = 1_000_000;
/** Of the tools that are gone: a server that loses all of its tools for a while has fewer. */
const KEPT_GONE = 2_000;
/** Just under what Deno KV takes for one key. */
const KEY_BYTES = 2_000;
/** Invalid tools have names of any length; this much of one is in its key. */
const NAME_IN_KEY = 300;

const ToolVersion = z.strictObject({
  text: z.string(),
  fingerprint: z.string(),
  seenAt: z.number(),
});

/** A tool as its server defines it, and how it was defined before. */
export const RecordedTool = z.strictObject({
  server: z.string(),
  name: z.string(),
  /** Counts up from 1 with each change. */
  version: z.int(),
  current: ToolVersion,
  /** Newest first. */
  earlier: z.array(ToolVersion),
  /** When its server stopped listing it as a valid tool, if it did. */
  goneSince: z.number().optional(),
  /** The offers of clients that its server lists it to, if not to all. */
  listedTo: z.array(z.string()).optional(),
});
export type RecordedTool = z.infer<typeof RecordedTool>;

/**
 * What a server lists although it is not a valid tool. Apart from the valid ones, so that a tool which
 * turns invalid and valid again goes on with the version that it had.
 */
const InvalidTool = z.strictObject({
  server: z.string(),
  name: z.string(),
  problem: z.string(),
  text: z.string(),
  /** When it was first listed like this. */
  seenAt: z.number(),
});
type InvalidTool = z.infer<typeof InvalidTool>;

export interface SeenTool {
  name: string;
  text: string;
  fingerprint: string;
  listedTo?: readonly string[];
}

type SeenInvalid = Pick<InvalidTool, "name" | "text" | "problem">;

export interface KeptTools {
  tools: RecordedTool[];
  invalid: InvalidTool[];
}

interface Entry<T> {
  key: RecordKey;
  value: T;
}

/** The tools of each server, one a record, with their history. */
export class CanonicalToolsRepository extends Repository {
  list(server: string): Promise<RecordedTool[]> {
    return this.#values(keys.canonicalTools(server), RecordedTool);
  }

  async history(server: string, tool?: string): Promise<KeptTools> {
    const key = tool === undefined ? undefined : keys.canonicalTools(server, tool);
    const [tools, invalid] = await Promise.all([
      key === undefined
        ? this.list(server)
        : keyBytes(key) > KEY_BYTES
        ? []
        : this.readAs(key, RecordedTool).then((found) => found ? [found] : []),
      tool === undefined
        ? this.#values(keys.invalidTools(server), InvalidTool)
        : this.#values(keys.invalidTools(server, nameInKey(tool)), InvalidTool),
    ]);
    return { tools, invalid: invalid.filter(({ name }) => tool === undefined || name === tool) };
  }

  /** Notes what a server lists now; writes only what changed, and returns what that was. */
  async record(
    server: string,
    seen: SeenTool[],
    now: number,
    invalid: SeenInvalid[] = [],
  ): Promise<{ changed: RecordedTool[]; isInvalidChanged: boolean }> {
    const known = new Map((await this.list(server)).map((tool) => [tool.name, tool]));
    const listed = new Set(seen.map(({ name }) => name));
    const gone = [...known.values()].filter(({ name }) => !listed.has(name))
      .sort((a, b) => (b.goneSince ?? now) - (a.goneSince ?? now));
    const changed = [
      ...seen.flatMap((tool) => next(server, tool, known.get(tool.name), now) ?? []),
      ...gone.slice(0, KEPT_GONE).filter(({ goneSince }) => goneSince === undefined)
        .map((tool) => ({ ...tool, goneSince: now })),
    ];
    const entries = changed.map(entryOf);
    const kept = entries.filter(({ key }) => keyBytes(key) <= KEY_BYTES);
    const count = entries.length - kept.length;
    if (count > 0) {
      this.store.warn("Cannot store tools with very long names", { server, count });
    }
    // Unchecked: another gateway on the same store sees the same list, and the last to write it is
    // right too.
    await setAll(this.store, kept);
    await deleteAll(
      this.store,
      gone.slice(KEPT_GONE).map(({ name }) => keys.canonicalTools(server, name)),
    );
    const isInvalidChanged = await this.#recordInvalid(server, invalid, now);
    return { changed: kept.map(({ value }) => value), isInvalidChanged };
  }

  async removeServer(server: string): Promise<void> {
    await deleteFound(this.store, { prefix: keys.canonicalTools(server) });
    await deleteFound(this.store, { prefix: keys.invalidTools(server) });
  }

  /** Writes back what was read before a server was removed; what it lists next goes on from there. */
  restore(tools: readonly RecordedTool[]): Promise<void> {
    return setAll(this.store, tools.map(entryOf));
  }

  async #recordInvalid(server: string, seen: SeenInvalid[], now: number): Promise<boolean> {
    const known = new Map(
      (await this.#entries(keys.invalidTools(server), InvalidTool))
        .map((entry) => [JSON.stringify(entry.key), entry]),
    );
    const counts = new Map<string, number>();
    const changed: Entry<InvalidTool>[] = [];
    for (const { name, text, problem } of seen) {
      const short = nameInKey(name);
      const nth = (counts.get(short) ?? 0) + 1;
      counts.set(short, nth);
      const key = keys.invalidTools(server, short, nth);
      const before = known.get(JSON.stringify(key))?.value;
      known.delete(JSON.stringify(key));
      const isSame = before?.name === name && before.text === text;
      if (isSame && before.problem === problem) continue;
      const seenAt = isSame ? before.seenAt : now;
      changed.push({ key, value: { server, name, problem, text, seenAt } });
    }
    await setAll(this.store, changed);
    await deleteAll(this.store, [...known.values()].map(({ key }) => key));
    return changed.length > 0 || known.size > 0;
  }

  async #values<T>(prefix: RecordKey, schema: z.ZodType<T>): Promise<T[]> {
    return (await this.#entries(prefix, schema)).map(({ value }) => value);
  }

  async #entries<T>(prefix: RecordKey, schema: z.ZodType<T>): Promise<Entry<T>[]> {
    const entries: Entry<T>[] = [];
    for await (const { key, value } of this.store.list({ prefix })) {
      const parsed = schema.safeParse(value);
      if (parsed.success) entries.push({ key, value: parsed.data });
      else this.store.warn("Skipped an unreadable tool record", { key });
    }
    return entries;
  }
}

function entryOf(value: RecordedTool): Entry<RecordedTool> {
  return { key: keys.canonicalTools(value.server, value.name), value };
}

function nameInKey(name: string): string {
  // The store keeps no lone surrogates, so that the key would be another one when read back.
  return name.slice(0, NAME_IN_KEY).toWellFormed();
}

function next(
  server: string,
  { name, text, fingerprint, listedTo }: SeenTool,
  known: RecordedTool | undefined,
  now: number,
): RecordedTool | undefined {
  const current = { text, fingerprint, seenAt: now };
  const to = listedTo ? { listedTo: [...listedTo] } : {};
  if (!known) return { server, name, version: 1, current, earlier: [], ...to };
  if (known.current.fingerprint === fingerprint) {
    const isSame = known.goneSince === undefined && known.listedTo?.join() === listedTo?.join();
    if (isSame) return undefined;
    const { goneSince: _, listedTo: __, ...returned } = known;
    return { ...returned, ...to };
  }
  let chars = 0;
  return {
    server,
    name,
    version: known.version + 1,
    current,
    ...to,
    earlier: [known.current, ...known.earlier].slice(0, KEPT_VERSIONS)
      // The last one before is always kept, or nobody could say what has changed.
      .filter(({ text }, index) => (chars += text.length) <= KEPT_CHARS || index === 0),
  };
}
