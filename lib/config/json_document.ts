import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { configError, located } from "./files.ts";

// The parser below recurses: unchecked, a file of nothing but brackets would overflow the stack.
const MAX_DEPTH = 64;

export interface Position {
  line: number;
  column: number;
}

/** An object read from JSON with comments, every part of which knows where it stands. */
export interface JsonDocument {
  file: string;
  root: Node;
  position(offset: number): Position;
}

export interface Member {
  name: string;
  key: Node;
  value: Node;
}

/** Reads an object; `example` shows what a file of this kind looks like. */
export function parseJsonObject(text: string, file: string, example: string): JsonDocument {
  const position = positions(text);
  const fail = (offset: number, message: string, fix: string) => {
    throw configError(located({ file, ...position(offset) }, message), fix);
  };

  const tooDeep = offsetBeyond(text, MAX_DEPTH);
  if (tooDeep !== undefined) {
    fail(
      tooDeep,
      `nested more than ${MAX_DEPTH} levels deep`,
      "Remove some of the levels",
    );
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const first = errors[0];
  if (first) fail(first.offset, ...explain(first, text));
  if (!root) throw configError(`${file} is empty`, `Write at least ${example}`);
  if (root.type !== "object") {
    const found = root.type === "null"
      ? "null"
      : root.type === "array"
      ? "a list"
      : `a ${root.type}`;
    fail(root.offset, `expected an object, found ${found}`, `Write ${example}`);
  }
  return { file, root, position };
}

/** The members of an object in the order of the file, doubles included. */
export function members(node: Node): Member[] {
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key && value && typeof key.value === "string" ? [{ name: key.value, key, value }] : [];
  });
}

/** Turns offsets into lines and columns; CRLF, LF and CR each end a line. */
export function positions(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (m) => m.index + m[0].length)];
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function offsetBeyond(text: string, limit: number): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (;;) {
    scanner.scan();
    const first = text[scanner.getTokenOffset()];
    if (first === undefined) return undefined;
    if (first === "{" || first === "[") depth++;
    else if (first === "}" || first === "]") depth--;
    if (depth > limit) return scanner.getTokenOffset();
  }
}

function explain(error: ParseError, text: string): [message: string, fix: string] {
  const token = text.slice(error.offset, error.offset + Math.min(error.length, 20));
  const code = printParseErrorCode(error.error);
  if (token === "," && (code === "PropertyNameExpected" || code === "ValueExpected")) {
    return ["extra comma", "Remove it"];
  }
  switch (code) {
    case "InvalidSymbol":
      return [`${token} is not valid JSON`, "Put names and text in double quotes"];
    case "PropertyNameExpected":
      return ["expected a name in double quotes", "Add the name, or remove the extra text"];
    case "ValueExpected":
      return ["a value is missing", "Add the value, or remove its name"];
    case "ColonExpected":
      return ["a colon is missing", "Add a colon between the name and its value"];
    case "CommaExpected":
      return ["a comma is missing", "Add a comma before this position"];
    case "CloseBraceExpected":
      return ["a closing brace is missing", "Add } to close the object"];
    case "CloseBracketExpected":
      return ["a closing bracket is missing", "Add ] to close the list"];
    case "EndOfFileExpected":
      return ["unexpected text after the end of the object", "Remove it, or an extra } before it"];
    case "UnexpectedEndOfComment":
      return ["the comment is not closed", "Close it with */"];
    case "UnexpectedEndOfString":
      return ["the string is not closed", "Close it with a double quote on the same line"];
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
      return ["the string has an invalid escape sequence", "Write \\\\ for a backslash"];
    case "InvalidCharacter":
      return ["the string contains a control character", "Write a tab as \\t, a line break as \\n"];
    case "UnexpectedEndOfNumber":
    case "InvalidNumberFormat":
      return ["the number is invalid", "Write it in decimal digits"];
    default:
      return ["this is not valid JSON", "Fix it or remove it"];
  }
}
