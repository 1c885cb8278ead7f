import { parse, stringify, TomlError } from "smol-toml";
import { isObject } from "../core/rpc.ts";
import { broken, dig, nest, type Syntax } from "./client_syntax.ts";
import { configError } from "./files.ts";

const read = (text: string, file: string) => {
  try {
    return parse(text);
  } catch (error) {
    throw broken(file, error, error instanceof TomlError ? error : undefined);
  }
};
const snippet = (path: string[], value: unknown) => stringify(nest(path, value)).trim();
/**
 * No TOML library keeps comments. So a table is replaced as text, and the result is parsed again: if
 * anything besides the value would change, nothing does.
 */
export const TOML: Syntax = {
  snippet,
  valueAt: (text, file, path) => dig(read(text, file), path),
  withValueAt(text, file, path, value) {
    const before = read(text, file);
    const isSame = JSON.stringify(dig(before, path)) === JSON.stringify(value);
    if (isSame) return text;
    const block = value === undefined ? "" : `${snippet(path, value)}\n`;
    const after = replaceTable(text, path, block);
    const wanted = JSON.stringify(withValue(before, path, value));
    try {
      if (sorted(parse(after)) === sorted(JSON.parse(wanted))) return after;
    } catch { /* said below */ }
    throw configError(
      `Cannot change "${path.join(".")}" in ${file} without changing the rest of the file`,
      value === undefined
        ? "Remove it from the file by hand"
        : `Add this to the file by hand:\n\n${block}`,
    );
  },
};

/** The text with a table and the tables below it replaced, or with the block at its end. */
function replaceTable(text: string, path: string[], block: string): string {
  const header = /^\s*\[+\s*(.+?)\s*\]+\s*(#.*)?$/;
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const kept: string[] = [];
  let place: number | undefined;
  let isInside = false;
  for (const line of lines) {
    const name = header.exec(line)?.[1];
    if (name !== undefined) {
      const parts = name.split(".").map((part) => part.trim().replaceAll(/^["']|["']$/g, ""));
      isInside = path.every((part, index) => parts[index] === part);
      if (isInside) place ??= kept.length;
    }
    if (!isInside) kept.push(line);
  }
  const added = block === "" ? [] : block.trimEnd().split("\n");
  if (place === undefined) {
    const gap = kept.length > 0 && added.length > 0 && kept.at(-1)!.trim() !== "" ? [""] : [];
    return [...kept, ...gap, ...added, ""].join("\n");
  }
  const rest = kept.slice(place);
  const gap = added.length > 0 && rest.length > 0 && rest[0]!.trim() !== "" ? [""] : [];
  while (added.length === 0 && kept[place - 1]?.trim() === "" && place > 0) kept.splice(--place, 1);
  return [...kept.slice(0, place), ...added, ...gap, ...rest, ""].join("\n");
}

/** A copy with the value set or removed; an object that removal leaves empty goes, too. */
function withValue(root: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value;
  const { [key]: old, ...others } = isObject(root) ? root : {};
  const inner = withValue(old, rest, value);
  const isEmpty = value === undefined && isObject(inner) && Object.keys(inner).length === 0;
  return inner === undefined || isEmpty ? others : { ...others, [key]: inner };
}

function sorted(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner) =>
      isObject(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
        : inner,
  );
}
