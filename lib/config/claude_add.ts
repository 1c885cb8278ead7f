import type { ServerSpec } from "../core/server.ts";
import { addressSpec } from "./address_spec.ts";
import { configError } from "./problem.ts";

const SHORT: Record<string, string> = {
  "-t": "--transport",
  "-e": "--env",
  "-H": "--header",
  "-s": "--scope",
};

/** `claude mcp add ...`, as the pages of many servers tell to run it; undefined where it is not. */
export function readClaudeAdd(
  words: readonly string[],
): { name: string; spec: ServerSpec } | undefined {
  if (words.slice(0, 3).join(" ") !== "claude mcp add") return undefined;
  const dashes = words.indexOf("--");
  const { plain, flags } = sorted(words.slice(3, dashes < 0 ? undefined : dashes), dashes < 0);
  const [name, ...rest] = plain;
  const [target, ...args] = dashes < 0 ? rest : words.slice(dashes + 1);
  if (name === undefined || target === undefined || target === "") {
    throw configError(
      "Cannot read the command: it has no name, or nothing to add",
      "Paste the address or the program alone",
    );
  }
  if (/^https?:/.test(target)) {
    const isSse = flags.get("--transport")?.at(-1) === "sse";
    const headers = pairs(flags.get("--header"), ":");
    return { name, spec: addressSpec(target, headers, isSse ? "sse" : "http") };
  }
  const env = pairs(flags.get("--env"), "=");
  return { name, spec: { type: "stdio", command: target, args, env } };
}

/** Flags apart from other words. From the program on, flags are its own. */
function sorted(words: readonly string[], hasProgram: boolean) {
  const plain: string[] = [];
  const flags = new Map<string, string[]>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const isProgram = hasProgram && plain.length > 1 && !/^https?:/.test(plain[1] ?? "");
    if (isProgram || !word.startsWith("-")) {
      plain.push(word);
      continue;
    }
    const [written = "", inline] = word.split(/=(.*)/s);
    const flag = SHORT[written] ?? written;
    flags.set(flag, [...flags.get(flag) ?? [], inline ?? words[++at] ?? ""]);
  }
  return { plain, flags };
}

function pairs(texts: readonly string[] = [], mark: string): Record<string, string> {
  return Object.fromEntries(texts.map((text) => {
    const at = text.indexOf(mark);
    return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  }));
}
