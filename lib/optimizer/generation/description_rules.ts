import type { ToolText } from "../../core/tool_text.ts";

/** Words that a sentence has, and a list of keywords does not. */
const FUNCTION_WORDS = new Set(
  ("a an and any are as at be by can do does for from if in into is it its no not of on one only or " +
    "out over so than that the their them then there this to use used uses using via when where " +
    "which while who with without you your").split(" "),
);
const MOST_KEYWORDS = 9;
const MOST_WORDS_WITHOUT = 13;
const MOST_REPEATS = 4;

const OTHERS = "(?:every|any|all|the) (?:the )?others?(?: (?:tool|function|option)s?)?|other tools";
const DISPARAGED =
  "deprecated|obsolete|outdated|broken|unsafe|insecure|unreliable|disabled|removed" +
  "|retired|forbidden|useless|discontinued|not supported|(?:do|does|will) not work";
const CHOOSE = "prefer|use|call|choose|pick|select|invoke|run";

/** Claims on a model's choice that no tool's own purpose supports, sentence by sentence. */
const HIJACKS: [pattern: RegExp, why: string][] = [
  [
    new RegExp(`\\b(?:always|must|only ever)\\b.*\\b(?:${CHOOSE})\\b.*\\b(?:this|it)\\b`, "i"),
    "it demands to be called always",
  ],
  [
    new RegExp(
      `\\b(?:${CHOOSE})\\b.*\\b(?:over|instead of|rather than|before)\\b.*\\b(?:${OTHERS})`,
      "i",
    ),
    "it demands to be preferred to all other tools",
  ],
  [
    new RegExp(
      `\\b(?:ignore|avoid|skip|(?:do not|don't|never) (?:${CHOOSE}))\\b.*\\b(?:${OTHERS})`,
      "i",
    ),
    "it forbids other tools",
  ],
  [
    new RegExp(
      `\\b(?:${CHOOSE})\\b.*\\b(?:for|on|in|before) (?:every|any|all) ` +
        "(?:request|prompt|question|task|query|message|conversation)s?(?=\\W*$|,)",
      "i",
    ),
    "it demands to be called for every request",
  ],
];

/** As manipulationIn(), of all that models read of a tool. */
export function manipulationInText(
  { description, parameters = {} }: ToolText,
  siblings: readonly string[],
): string | undefined {
  const found = manipulationIn(description, siblings);
  if (found !== undefined) return found;
  for (const [path, text] of Object.entries(parameters)) {
    const why = manipulationIn(text, siblings);
    if (why !== undefined) return `the description of the parameter ${path}: ${why}`;
  }
  return undefined;
}

/**
 * Why a description must not be tried: it manipulates the choice of a tool in the place of describing
 * one. Such a text can do well in an evaluation, so it is refused before runs are paid for.
 */
export function manipulationIn(
  description: string,
  siblings: readonly string[],
): string | undefined {
  const sentences = description.replaceAll(/\s+/g, " ").split(/(?<=[.!?;])\s/);
  const names = siblings.map((name) => name.replaceAll(/[^\w-]/g, "\\$&"));
  const disparaging = new RegExp(
    `(?:\\b(?:${
      [OTHERS, ...names].join("|")
    })\\b.*\\b(?:is|are|was|were)\\b.*\\b(?:${DISPARAGED})\\b` +
      `|\\b(?:${DISPARAGED})\\b.*\\b(?:${[OTHERS, ...names].join("|")})\\b)`,
    "i",
  );
  for (const sentence of sentences) {
    if (disparaging.test(sentence)) return "it says that other tools must not be used";
    const found = HIJACKS.find(([pattern]) => pattern.test(sentence));
    if (found) return found[1];
  }
  return isStuffed(description) ? "it is a list of keywords" : undefined;
}

function isStuffed(description: string): boolean {
  const pieces = description.split(/[,;|/\n.]+/).map(wordsOf);
  const isKeyword = (words: string[]) =>
    words.length > 0 && words.length <= 2 && !words.some((word) => FUNCTION_WORDS.has(word));
  if (longestRun(pieces, isKeyword) > MOST_KEYWORDS) return true;
  const words = wordsOf(description);
  if (longestRun(words, (word) => !FUNCTION_WORDS.has(word)) > MOST_WORDS_WITHOUT) return true;
  const repeats = Map.groupBy(words.filter((word) => !FUNCTION_WORDS.has(word)), (word) => word);
  return [...repeats.values()].some(({ length }) => length > MOST_REPEATS);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_'-]+/gu) ?? [];
}

function longestRun<T>(items: readonly T[], isPart: (item: T) => boolean): number {
  let [longest, now] = [0, 0];
  for (const item of items) {
    now = isPart(item) ? now + 1 : 0;
    longest = Math.max(longest, now);
  }
  return longest;
}
