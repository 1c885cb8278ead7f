import type { AccessScope, Right } from "../core/access.ts";

/** What each right lets its owner do. */
export const RIGHT_MEANINGS: Readonly<Record<Right, string>> = {
  read: "See servers, tools and toolsets, and equip a toolset for itself",
  call: "Call tools, read resources and get prompts",
  manage: "Change servers, toolsets, settings, tokens and projects",
  optimize: "Spend model time on better descriptions",
};

/** What a scope admits, in one line. */
export function scopeWords({ servers, toolsets, tools }: AccessScope): string {
  const parts = [["servers", servers], ["tools", tools], ["toolsets", toolsets]] as const;
  const narrowed = parts.filter(([, patterns]) => !isEverything(patterns));
  if (narrowed.length === 0) return "everything";
  return narrowed.map(([noun, patterns]) => `${noun} ${patternWords(patterns)}`).join("; ");
}

function isEverything(patterns: readonly string[]): boolean {
  return patterns.length === 1 && patterns[0] === "*";
}

function patternWords(patterns: readonly string[]): string {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!"));
  const kept = patterns.filter((pattern) => pattern.startsWith("!")).map((text) => text.slice(1));
  if (kept.length === 0) return wanted.join(", ");
  return wanted.length === 0 || isEverything(wanted)
    ? `all but ${kept.join(", ")}`
    : `${wanted.join(", ")} but not ${kept.join(", ")}`;
}
