import { isReference } from "../core/secret_reference.ts";
import { type ServerSpec, specTexts } from "../core/server.ts";

export const TELLING_NAME = /key|token|secret|passw|pwd|auth|credential|signature|^sig$/i;

// Redacting these would blot out half of every log and hide nothing.
const TOO_COMMON = new Set(["true", "false", "null", "none", "info", "debug", "warn", "error"]);
const MIN_LENGTH = 4;

/** Every text of a server's entry that must not appear in a log. */
export function secretsOf(spec: ServerSpec, foreign: Iterable<string>): string[] {
  const found = new Set<string>(foreign);
  let argument: string | undefined;
  for (const { kind, text } of specTexts(spec)) {
    if (kind === "argument") addArgumentSecrets(text, argument, found);
    else if (kind === "variable") found.add(text);
    else if (kind === "header") addHeaderSecrets(text, found);
    else if (URL.canParse(text)) addUrlSecrets(new URL(text), found);
    argument = text;
  }
  return [...found].filter((value) =>
    value.trim().length >= MIN_LENGTH && !TOO_COMMON.has(value.trim().toLowerCase()) &&
    !isReference(value)
  );
}

// `--api-key=x`, `-e API_KEY=x`, `--api-key x` and `--header "Authorization: Bearer x"`.
function addArgumentSecrets(arg: string, before: string | undefined, found: Set<string>): void {
  const [, name, value] = /^-{0,2}([^=\s]+)=(.*)$/s.exec(arg) ?? [];
  if (name !== undefined && value !== undefined && TELLING_NAME.test(name)) found.add(value);
  const [, header, content] = /^([\w-]+):\s*(.+)$/s.exec(arg) ?? [];
  if (header !== undefined && content !== undefined && TELLING_NAME.test(header)) {
    addHeaderSecrets(content, found);
  }
  const isNamed = before !== undefined && /^--?[^=]+$/.test(before) && TELLING_NAME.test(before);
  if (isNamed && !arg.startsWith("-")) found.add(arg);
}

function addHeaderSecrets(value: string, found: Set<string>): void {
  found.add(value);
  // `Bearer abc`: the token can turn up without its scheme.
  found.add(value.replace(/^\S+\s+/, ""));
}

function addUrlSecrets(url: URL, found: Set<string>): void {
  for (const part of [url.username, url.password]) {
    found.add(part);
    try {
      found.add(decodeURIComponent(part));
    } catch {
      // Not an encoded text, so there is no other form of it.
    }
  }
  for (const [name, value] of url.searchParams) {
    if (!TELLING_NAME.test(name) || isReference(value)) continue;
    found.add(value);
    found.add(encodeURIComponent(value));
  }
}
