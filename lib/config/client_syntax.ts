import { configError, located } from "./files.ts";
import { isObject } from "../core/rpc.ts";
import { valueAt, withValueAt } from "./json_edit.ts";

/** Reads and changes a client's file: one value, by its path; everything else stays. */
export interface Syntax {
  /** Throws if the text is broken; undefined if there is no such value. */
  valueAt(text: string, file: string, path: string[]): unknown;
  /** The text with the value set, or removed if it is undefined. */
  withValueAt(text: string, file: string, path: string[], value: unknown): string;
  /** A file with nothing but this value. */
  snippet(path: string[], value: unknown): string;
}

/** The parsers of TOML and YAML are loaded for the clients that use them. */
export async function openSyntax(kind: "json" | "toml" | "yaml"): Promise<Syntax> {
  if (kind === "toml") return (await import("./client_toml.ts")).TOML;
  if (kind === "yaml") return (await import("./client_yaml.ts")).YAML;
  return {
    valueAt,
    withValueAt,
    snippet: (path, value) => JSON.stringify(nest(path, value), null, 2),
  };
}

export function nest(path: string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

export function dig(root: unknown, path: string[]): unknown {
  return path.reduce((value, key) => isObject(value) ? value[key] : undefined, root);
}

export function broken(file: string, error: unknown, place?: { line: number; column: number }) {
  const message = (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
  return configError(
    place ? located({ file, ...place }, message) : `${file}: ${message}`,
    "Fix the file, then try again",
    error,
  );
}
