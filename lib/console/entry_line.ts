import { commandLine } from "../config/command_words.ts";
import type { ServerSpec } from "../core/server.ts";
import { MASK, maskSpec } from "../surfaces/masked_spec.ts";

/** An entry in a line that may be shown to anybody. */
export function entryLine(spec: ServerSpec, secrets: readonly string[] = []): string {
  const line = entryText(maskSpec(spec));
  return secrets.toSorted((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, MASK), line);
}

/** What a person would paste for it; as it is given, masked or not. */
export function entryText(spec: ServerSpec): string {
  switch (spec.type) {
    case "stdio":
      return commandLine([spec.command, ...spec.args]);
    case "demo":
      return "demo";
    default:
      return spec.url;
  }
}
