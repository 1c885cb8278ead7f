import * as z from "zod";
import { isObject, parseJson } from "../core/rpc.ts";
import { shortened } from "../core/text.ts";
import { schemaBreaks } from "./schema_compatibility.ts";
import { TextSegment, wordDiff } from "./word_diff.ts";

export const ToolChange = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), path: z.string(), segments: z.array(TextSegment) }),
  z.object({ kind: z.literal("added"), path: z.string(), after: z.string() }),
  z.object({ kind: z.literal("removed"), path: z.string(), before: z.string() }),
  z.object({
    kind: z.literal("changed"),
    path: z.string(),
    before: z.string(),
    after: z.string(),
  }),
  z.object({ kind: z.literal("reordered"), path: z.string() }),
]);
export type ToolChange = z.infer<typeof ToolChange>;

/** How a tool's definition changed, and whether existing calls keep working. */
export const ToolDiff = z.object({
  compatibility: z.enum(["compatible", "breaking"]),
  reasons: z.array(z.string()),
  changes: z.array(ToolChange),
  more: z.int(),
});
export type ToolDiff = z.infer<typeof ToolDiff>;

const MAX_CHANGES = 60;
const MAX_REASONS = 12;
const MAX_DEPTH = 40;
const MAX_VALUE = 240;
const MAX_PATH = 300;

/** What a reader looks for first. */
const FIRST = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
const TEXTS = new Set(["title", "description"]);
/** Lists whose order means nothing. */
const SETS = new Set(["required", "enum", "type"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions"]);

export function compareTools(before: string, after: string, maxChanges = MAX_CHANGES): ToolDiff {
  if (before === after) return { compatibility: "compatible", reasons: [], changes: [], more: 0 };
  const [old, fresh] = [before, after].map((text) => parseJson(text) ?? text);
  const changes = new ChangeList(maxChanges);
  const reasons: string[] = [];
  try {
    changes.compare(old, fresh, "", undefined, 0);
    reasons.push(...breaks(old, fresh));
  } catch (error) {
    // Definitions can be nested deeper than can be walked.
    if (!(error instanceof RangeError)) throw error;
    reasons.push("It is nested too deeply to compare");
  }
  return {
    compatibility: reasons.length === 0 ? "compatible" : "breaking",
    reasons: reasons.length > MAX_REASONS
      ? [...reasons.slice(0, MAX_REASONS), `And ${reasons.length - MAX_REASONS} more`]
      : reasons,
    changes: changes.list,
    more: changes.more,
  };
}

class ChangeList {
  readonly list: ToolChange[] = [];
  readonly #most: number;
  more = 0;

  constructor(most: number) {
    this.#most = most;
  }

  compare(
    old: unknown,
    fresh: unknown,
    path: string,
    key: string | undefined,
    depth: number,
  ): void {
    if (Object.is(old, fresh)) return;
    // The whole definition has no key of its own.
    const where = path === "" ? "definition" : path;
    if (key !== undefined && TEXTS.has(key) && isTextOrNone(old) && isTextOrNone(fresh)) {
      const segments = () => wordDiff(old ?? "", fresh ?? "");
      return this.#add(() => ({ kind: "text", path: where, segments: segments() }));
    }
    if (old === undefined) {
      return this.#add(() => ({ kind: "added", path: where, after: shown(fresh) }));
    }
    if (fresh === undefined) {
      return this.#add(() => ({ kind: "removed", path: where, before: shown(old) }));
    }
    if (depth < MAX_DEPTH) {
      if (Array.isArray(old) && Array.isArray(fresh)) {
        return key !== undefined && SETS.has(key)
          ? this.#compareSets(old, fresh, where)
          : this.#compareLists(old, fresh, path, depth);
      }
      if (isObject(old) && isObject(fresh)) {
        return this.#compareRecords(old, fresh, path, key, depth);
      }
    }
    const [from, to] = [JSON.stringify(old), JSON.stringify(fresh)];
    if (from === to) return;
    this.#add(() => ({ kind: "changed", path: where, before: shown(old), after: shown(fresh) }));
  }

  #compareRecords(
    old: Record<string, unknown>,
    fresh: Record<string, unknown>,
    path: string,
    key: string | undefined,
    depth: number,
  ): void {
    // In these a name is chosen freely: it may be "title", and means nothing.
    const isMap = key !== undefined && MAPS.has(key);
    const keys = new Set([...Object.keys(old), ...Object.keys(fresh)]);
    const order = depth === 0 ? [...FIRST.filter((key) => keys.delete(key)), ...keys] : [...keys];
    for (const name of order) {
      const own = (record: Record<string, unknown>) =>
        Object.hasOwn(record, name) ? record[name] : undefined;
      const where = joinPath(path, name);
      this.compare(own(old), own(fresh), where, isMap ? undefined : name, depth + 1);
    }
  }

  #compareSets(old: unknown[], fresh: unknown[], path: string): void {
    const [from, to] = [old, fresh].map((list) => list.map((item) => JSON.stringify(item)));
    const [olds, news] = [new Set(from), new Set(to)];
    const [lost, won] = [olds.difference(news), news.difference(olds)];
    for (const item of lost) {
      this.#add(() => ({ kind: "removed", path, before: shortened(item, MAX_VALUE) }));
    }
    for (const item of won) {
      this.#add(() => ({ kind: "added", path, after: shortened(item, MAX_VALUE) }));
    }
    const isSame = lost.size + won.size === 0;
    if (isSame && from?.join() !== to?.join()) this.#add(() => ({ kind: "reordered", path }));
  }

  #compareLists(old: unknown[], fresh: unknown[], path: string, depth: number): void {
    for (let index = 0; index < Math.max(old.length, fresh.length); index++) {
      const where = shortened(`${path}[${index}]`, MAX_PATH);
      this.compare(old[index], fresh[index], where, undefined, depth + 1);
    }
  }

  #add(change: () => ToolChange): void {
    if (this.list.length < this.#most) this.list.push(change());
    else this.more++;
  }
}

function breaks(old: unknown, fresh: unknown): string[] {
  if (!isObject(fresh)) return ["It is no longer a tool definition"];
  if (!isObject(old)) return ["It was not a tool definition before"];
  const reasons = old.name === fresh.name ? [] : ["It has a different name"];
  reasons.push(
    ...schemaBreaks(old.inputSchema, fresh.inputSchema, "input").map((why) => `Input: ${why}`),
  );
  if (old.outputSchema !== undefined) {
    const result = fresh.outputSchema === undefined
      ? ["it no longer has an output schema"]
      : schemaBreaks(old.outputSchema, fresh.outputSchema, "output");
    reasons.push(...result.map((why) => `Result: ${why}`));
  }
  const [was, is] = [taskSupport(old), taskSupport(fresh)];
  if (is === "required" && was !== "required") reasons.push("It can now be called only as a task");
  if (is === "forbidden" && was !== "forbidden") {
    reasons.push("It can no longer be called as a task");
  }
  return reasons;
}

function taskSupport({ execution }: Record<string, unknown>): unknown {
  const support = isObject(execution) ? execution.taskSupport : undefined;
  return support ?? "forbidden";
}

function isTextOrNone(value: unknown): value is string | undefined {
  return typeof value === "string" || value === undefined;
}

function joinPath(path: string, key: string): string {
  const isPlain = /^[\p{L}\p{N}_$-]+$/u.test(key);
  const part = isPlain ? key : `[${JSON.stringify(key)}]`;
  return shortened(path === "" || !isPlain ? `${path}${part}` : `${path}.${part}`, MAX_PATH);
}

function shown(value: unknown): string {
  return shortened(JSON.stringify(value), MAX_VALUE);
}
