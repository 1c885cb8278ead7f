/** A tool in one line; what an index has room for. */
export const SUMMARY_CHARS = 80;

/** How descriptions begin that speak of themselves instead of the matter. */
const PREAMBLE =
  /^(?:(?:this|the) (?:tool|function|method|endpoint|command|api)|(?:use|call) this(?: tool| function)?|(?:a|an) (?:simple |powerful )?tool|tool)(?: (?:is used|can be used|is designed|allows you|allows users|enables you|lets you|helps you|helps|allows|enables|will|that|which|can|for|to))*\s+/i;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|max|min|no)|\b[A-Z])\.$/i;

/** The first sentence of a description, plain and short; the name in words where there is none. */
export function summaryOf(
  { name, title, description = "" }: {
    name: string;
    title?: string | undefined;
    description?: string | undefined;
  },
): string {
  const text = plain(firstParagraph(description));
  const sentence = firstSentence(text).replace(PREAMBLE, "");
  const words = sentence || plain(title ?? "") || inWords(name);
  return capitalized(shortened(words.replace(/[.:;,\s]+$/, "")));
}

function firstParagraph(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).map((part) => part.trim());
  // A heading or a label alone says little.
  return paragraphs.find((part) => part !== "" && !/^(#+ .*|[^\n]{0,30}:)$/.test(part)) ??
    paragraphs.find((part) => part !== "") ?? "";
}

/** Without markup, on one line. */
function plain(text: string): string {
  return text
    .replace(/^#+\s*/gm, "")
    .replace(/^\s*[-*>]\s+/gm, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]+/g, "")
    .replace(/<[^<>\n]{1,40}>/g, "")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function firstSentence(text: string): string {
  for (const { index } of text.matchAll(/[.!?。！？](?=\s|$)/g)) {
    const sentence = text.slice(0, index + 1);
    if (!ABBREVIATION.test(sentence)) return sentence;
  }
  return text;
}

function shortened(text: string): string {
  if (text.length <= SUMMARY_CHARS) return text;
  const room = text.slice(0, SUMMARY_CHARS + 1);
  // A whole clause reads better than a cut sentence, if it says enough.
  const [clause = ""] = /^.*(?=[,;:(–—])/.exec(room) ?? [];
  if (clause.length >= SUMMARY_CHARS / 2) return clause.replace(/[\s,;:(–—]+$/, "");
  const words = text.slice(0, SUMMARY_CHARS - 1);
  const cut = words.lastIndexOf(" ") > SUMMARY_CHARS / 2
    ? words.slice(0, words.lastIndexOf(" "))
    : words;
  return `${cut.toWellFormed().replace(/[\s\uFFFD]+$/, "")}…`;
}

function inWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_.\-/]+/g, " ").trim().toLowerCase();
}

function capitalized(text: string): string {
  return /^[a-z]+[\s]/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text;
}
