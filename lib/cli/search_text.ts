import { configError } from "../config/files.ts";
import type { OutputOf } from "../operations/operation.ts";
import { TOOL_OPERATIONS } from "../operations/tool_search.ts";
import type { CommandInput } from "./command.ts";
import { type CommandExtras, type OutcomeView, readInput } from "./operation_command.ts";
import { cutToWidth, inert, table } from "./terminal.ts";

type SearchOutput = OutputOf<typeof TOOL_OPERATIONS.search>;

/** What the search shows and reads beyond its operation. */
export const SEARCH_EXTRAS: Record<string, CommandExtras> = {
  "tool.search": {
    details: [
      "The query may be several words. Requires a running gateway; relevance is from 0 to 1.",
    ],
    flags: [{ flag: "explain", meaning: "Explain the rank of each tool" }],
    read: readSearch,
    show: searchText,
  },
};

async function readSearch(input: CommandInput): Promise<Record<string, unknown>> {
  const query = input.positionals.join(" ").trim();
  if (query === "") {
    throw configError(
      "search needs words that say what the tool should do",
      'Write it as: quartermaster search "read a file"',
    );
  }
  return await readInput(TOOL_OPERATIONS.search, { ...input, positionals: [query] });
}

function searchText({ found, degraded }: SearchOutput, { paint, flags }: OutcomeView): string {
  const note = degraded === undefined ? "" : `${paint("yellow", "Note:")} ${line(degraded)}\n`;
  if (found.length === 0) {
    return `${note}No tool found. Try other words, or run \`quartermaster tools list\`.\n`;
  }
  const heading = ["RELEVANCE", "NAME", "CATEGORY", "TOKENS", ""]
    .map((word) => paint("gray", word));
  const rows = found.map(({ relevance, namespacedName, category, tokens, summary }) => [
    relevance === undefined ? "" : relevance.toFixed(2),
    line(namespacedName),
    line(category),
    tokens === undefined ? "" : String(tokens),
    line(summary),
  ]);
  const lines = table([heading, ...rows]).trimEnd().split("\n");
  if (flags.get("explain") !== true) return note + cutToWidth(`${lines.join("\n")}\n`);
  const explained = lines.flatMap((text, index) => {
    const why = index === 0 ? "" : whyOf(found[index - 1]!);
    return why === "" ? [cutToWidth(text)] : [cutToWidth(text), paint("gray", `      ${why}`)];
  });
  return `${note}${explained.join("\n")}\n`;
}

function whyOf({ explanation = "", scores = {} }: SearchOutput["found"][number]): string {
  const parts = Object.entries(scores).map(([field, score = 0]): [string, number] => [field, score])
    .sort(([, a], [, b]) => b - a)
    .map(([field, score]) => `${field} ${score.toFixed(2)}`);
  return line([explanation, parts.join(", ")].filter((part) => part !== "").join(" | "));
}

function line(text: string): string {
  return inert(text).replaceAll(/\s+/g, " ").trim();
}
