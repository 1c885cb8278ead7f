import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  type Node,
} from "jsonc-parser";
import { members, parseJsonObject } from "./json_document.ts";
import { configError, located } from "./files.ts";

const EXAMPLE = "{}";

export function valueAt(text: string, file: string, path: string[]): unknown {
  if (text.trim() === "") return undefined;
  const { root } = parseJsonObject(text, file, EXAMPLE);
  const node = findNodeAtLocation(root, path);
  return node && getNodeValue(node);
}

/**
 * The text with the value at a place set, or taken out where it is undefined. All else stays letter
 * by letter, comments too, which is why this does not use jsonc-parser's own `modify`: that one
 * formats the neighbors anew. A text that is broken is refused, and so is one with something other
 * than an object on the way.
 */
export function withValueAt(text: string, file: string, path: string[], value: unknown): string {
  const isEmpty = text.trim() === "";
  if (isEmpty && value === undefined) return text;
  const before = isEmpty ? "{}\n" : text;
  const { root, position } = parseJsonObject(before, file, EXAMPLE);
  let parent = root;
  for (const [depth, name] of path.entries()) {
    const member = members(parent).findLast((member) => member.name === name);
    const isLast = depth === path.length - 1;
    if (member === undefined) {
      if (value === undefined) return text;
      const wrapped = path.slice(depth + 1).reduceRight<unknown>(
        (inner, key) => ({ [key]: inner }),
        value,
      );
      return applyEdits(before, insertion(before, parent, name, wrapped));
    }
    if (isLast) {
      if (JSON.stringify(getNodeValue(member.value)) === JSON.stringify(value)) return text;
      return applyEdits(
        before,
        value === undefined
          ? removal(before, parent, member.key.parent!)
          : [replacement(before, member.key, member.value, value)],
      );
    }
    if (member.value.type !== "object") {
      throw configError(
        located({ file, ...position(member.value.offset) }, `"${name}" must be an object`),
        "Fix the file, then try again",
      );
    }
    parent = member.value;
  }
  return text;
}

function insertion(text: string, parent: Node, name: string, value: unknown): Edit[] {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const property = (base: string) => `${JSON.stringify(name)}: ${pretty(text, value, base)}`;
  const last = parent.children?.at(-1);
  if (last === undefined) {
    const base = indentAt(text, parent.offset);
    const inner = base + indentUnit(text);
    const close = parent.offset + parent.length - 1;
    const start = close - (/\s*$/.exec(text.slice(parent.offset + 1, close))?.[0].length ?? 0);
    const content = `${eol}${inner}${property(inner)}${eol}${base}`;
    return [{ offset: start, length: close - start, content }];
  }
  const end = last.offset + last.length;
  if (text.slice(lineStart(text, last.offset), last.offset).trim() !== "") {
    const content = `, ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return [{ offset: end, length: 0, content }];
  }
  const { comma, restOfLine } = after(text, end);
  const base = indentAt(text, last.offset);
  const entry = `${eol}${base}${property(base)}`;
  if (comma !== undefined && comma > restOfLine) {
    return [{ offset: comma, length: 0, content: entry }];
  }
  if (comma !== undefined) return [{ offset: restOfLine, length: 0, content: `${entry},` }];
  if (restOfLine === end) return [{ offset: end, length: 0, content: `,${entry}` }];
  return [
    { offset: end, length: 0, content: "," },
    { offset: restOfLine, length: 0, content: entry },
  ];
}

function replacement(text: string, key: Node, old: Node, value: unknown): Edit {
  const content = pretty(text, value, indentAt(text, key.offset));
  return { offset: old.offset, length: old.length, content };
}

function removal(text: string, parent: Node, property: Node): Edit[] {
  const end = property.offset + property.length;
  const { comma } = after(text, end);
  const blank = /\s*$/.exec(text.slice(0, property.offset))?.[0].length ?? 0;
  const start = property.offset - blank;
  const own: Edit = { offset: start, length: (comma ?? end) - start, content: "" };
  const siblings = parent.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  if (comma !== undefined || previous === undefined) return [own];
  // The one before is the last now, and many readers accept no comma after that.
  const left = after(text, previous.offset + previous.length).comma;
  return left === undefined ? [own] : [{ offset: left - 1, length: 1, content: "" }, own];
}

/** Where the comma after a value ends, and where what else stands on the value's line does. */
function after(text: string, offset: number): { comma: number | undefined; restOfLine: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  let comma: number | undefined;
  let restOfLine = offset;
  for (;;) {
    scanner.scan();
    const first = text[scanner.getTokenOffset()];
    const end = scanner.getTokenOffset() + scanner.getTokenLength();
    if (first === "\r" || first === "\n") {
      // A comma on a later line still counts, but what stands there is no longer this line.
      return { comma: comma ?? commaFrom(text, end), restOfLine };
    }
    if (first === "," && comma === undefined) comma = restOfLine = end;
    else if (first === "/") restOfLine = end;
    else if (first !== " " && first !== "\t") return { comma, restOfLine };
  }
}

function commaFrom(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at + 1 : undefined;
}

function pretty(text: string, value: unknown, base: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return JSON.stringify(value, null, indentUnit(text)).replaceAll("\n", `${eol}${base}`);
}

/** How much deeper each level of the file stands. */
function indentUnit(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}
