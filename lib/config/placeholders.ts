import { basename, sep } from "node:path";
import { readSecretReference, secretReference } from "../core/secret_reference.ts";
import type { Env } from "./platform.ts";

export interface ExpansionContext {
  env: Env;
  workspaceFolder: string;
  home: string | undefined;
  /** The defaults of VS Code's `inputs`, by id. */
  inputs: ReadonlyMap<string, string | undefined>;
}

interface UnsetVariable {
  /** `GITHUB_TOKEN is not set`. */
  what: string;
  fix: string;
}

interface Expansion {
  text: string;
  /** Values that came from outside the file, and so may be secret. */
  values: string[];
  unset: UnsetVariable[];
  /** Placeholders that mean nothing; they stay in the text. */
  malformed: string[];
}

// Deeper defaults than `${A:-${B:-c}}` are nobody's, and each level is a recursion.
const MAX_DEPTH = 8;

/**
 * Replaces `${...}`; `$VAR` and `$$` stay as they are, and what a value contains is not looked at.
 * References to secrets, such as `${secret:NAME}`, stay too.
 */
export function expand(text: string, scope: ExpansionContext): Expansion {
  const result: Expansion = { text: "", values: [], unset: [], malformed: [] };
  result.text = replace(text, scope, result, 0);
  return result;
}

function replace(text: string, scope: ExpansionContext, result: Expansion, depth: number): string {
  if (!text.includes("${")) return text;
  const pairs = pairBraces(text);
  let output = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf("${", from);
    if (start < 0) return output + text.slice(from);
    output += text.slice(from, start);
    // Braces may stand in a default, `${A:-{"x":1}}`; where they do not pair up, the first one closes.
    const end = pairs.get(start + 1) ?? text.indexOf("}", start);
    if (end < 0) {
      result.malformed.push(shorten(text.slice(start)));
      return output + text.slice(start);
    }
    const whole = text.slice(start, end + 1);
    output += resolve(text.slice(start + 2, end), whole, scope, result, depth);
    from = end + 1;
  }
}

function resolve(
  body: string,
  whole: string,
  scope: ExpansionContext,
  result: Expansion,
  depth: number,
): string {
  const cut = body.indexOf(":-");
  const reference = cut < 0 ? body : body.slice(0, cut);
  const found = look(reference, scope);
  if (found === undefined || depth > MAX_DEPTH) {
    result.malformed.push(shorten(whole));
    return whole;
  }
  if ("value" in found) {
    if (found.foreign) result.values.push(found.value);
    return found.value;
  }
  if ("secret" in found) {
    // Not looked up here: entries hold the reference, and the value is filled in for a start alone.
    if (cut >= 0) {
      result.unset.push({
        what: `the secret ${found.secret} has a default value, which is not supported`,
        fix: `Write ${secretReference(found.secret)}`,
      });
    }
    return whole;
  }
  if (cut >= 0) return replace(body.slice(cut + 2), scope, result, depth + 1);
  result.unset.push(found);
  return whole;
}

type Found = { value: string; foreign: boolean } | { secret: string } | UnsetVariable;

function look(reference: string, scope: ExpansionContext): Found | undefined {
  switch (reference) {
    case "workspaceFolder":
      return { value: scope.workspaceFolder, foreign: false };
    case "workspaceFolderBasename":
      return { value: basename(scope.workspaceFolder), foreign: false };
    case "pathSeparator":
    case "/":
      return { value: sep, foreign: false };
    case "userHome":
      return scope.home === undefined
        ? { what: "the home folder is unknown", fix: "Set HOME" }
        : { value: scope.home, foreign: false };
  }
  const secret = readSecretReference(reference);
  if (secret) {
    if ("name" in secret) return { secret: secret.name };
    // Passed unchanged until now, and a server may want it so.
    if (reference.startsWith("secret:")) return undefined;
    return { what: secret.problem, fix: secret.fix };
  }
  const [, prefix, name] = /^(?:(env|input|command|config):)?(.+)$/s.exec(reference) ?? [];
  if (name === undefined) return undefined;
  switch (prefix) {
    case undefined:
    case "env":
      return /^[A-Za-z_][A-Za-z0-9_()]*$/.test(name) ? variable(name, scope.env) : undefined;
    case "input":
      return input(name, scope);
    default:
      return {
        what: `\${${prefix}:${name}} works only in VS Code`,
        fix: "Use the value itself, or an environment variable",
      };
  }
}

function variable(name: string, env: Env): Found {
  const value = env.get(name);
  if (value !== undefined) return { value, foreign: true };
  return {
    what: `${name} is not set`,
    fix: `Set ${name}, or give it a default: \${${name}:-value}`,
  };
}

function input(id: string, { env, inputs }: ExpansionContext): Found {
  const name = `QUARTERMASTER_INPUT_${variableName(id)}`;
  const value = env.get(name);
  if (value !== undefined) return { value, foreign: true };
  const fallback = inputs.get(id);
  if (fallback !== undefined) return { value: fallback, foreign: false };
  const undeclared = inputs.has(id) ? "" : ', and "inputs" does not declare it';
  return { what: `the input ${id} has no value${undeclared}`, fix: `Set ${name}` };
}

function variableName(id: string): string {
  return id.replace(/[^A-Za-z0-9]/g, "_").toUpperCase();
}

// For each opening brace the one that closes it, in one pass however the text is nested.
function pairBraces(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === "{") {
      open.push(index);
      continue;
    }
    const start = open.pop();
    if (start !== undefined) pairs.set(start, index);
  }
  return pairs;
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}
