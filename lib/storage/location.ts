import { resolve } from "node:path";

/** Where a store is kept. `label` is how messages name it. */
export type Location =
  | { kind: "memory"; label: string }
  | { kind: "file"; path: string; label: string }
  | { kind: "remote"; url: string; label: string }
  /** Deno Deploy binds the app's own KV; it has no name here. */
  | { kind: "deploy"; label: string };

/** Reads what `--kv` takes: a file, `:memory:`, a KV Connect URL, or nothing on Deno Deploy. */
export function parseLocation(location: string | undefined): Location {
  if (location === undefined) return { kind: "deploy", label: "the app's own KV" };
  if (location === ":memory:") return { kind: "memory", label: "the store in memory" };
  if (/^https?:\/\//i.test(location)) {
    const { origin, pathname } = new URL(location);
    return { kind: "remote", url: location, label: `${origin}${pathname}` };
  }
  const path = resolve(location);
  return { kind: "file", path, label: `"${path}"` };
}
