/** One place in a definition that a person should look at before a model reads it. */
export interface Finding {
  /** The id of the rule, as in RULES. */
  rule: string;
  severity: "low" | "medium" | "high";
  /** JSON path: `description`, `inputSchema.properties.path.description`, `instructions`. */
  where: string;
  /** The place, at most 160 characters, invisible characters made visible as <U+200B>. */
  excerpt: string;
  /** One sentence for a person. */
  why: string;
}

export type Severity = Finding["severity"];

const LONGEST = 160;
/** How much of what comes before is shown. */
const BEFORE = 40;

/** Format characters, controls, tags and separators that a screen shows as nothing, or as a jump. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

/** What stands at `at` and around it, in one line and without tricks. */
export function excerptOf(text: string, at = 0): string {
  const start = Math.max(0, at - BEFORE);
  const piece = text.slice(start, start + LONGEST).toWellFormed();
  const shown = visible(piece);
  const cut = (start > 0 ? "…" : "") + shown;
  return cut.length <= LONGEST && start + LONGEST >= text.length
    ? cut
    : `${cut.slice(0, LONGEST - 1).toWellFormed()}…`;
}

/** The text with every unseen character written out, and line breaks as spaces. */
export function visible(text: string): string {
  return text.replace(/[\t\n\r ]+/g, " ").replace(UNSEEN, (character) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `<U+${code}>`;
  });
}
