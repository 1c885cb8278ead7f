import { configError } from "../config/problem.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import type { SearchAnswer } from "./search_answer.ts";
import { resolveGateways } from "./servers_access.ts";
import { cutToWidth, inert, painter, print, printJson, table } from "./terminal.ts";

const MOST = 100;

export const search: Command = {
  usage: "search WORDS... [--limit N] [--category NAME] [--server NAME] [--explain]",
  meaning: "Tools that can do what the words say, the best first",
  details: [
    "The same search as models have, at the gateway that runs; relevance is from 0 to 1.",
  ],
  flags: [
    { flag: "limit", placeholder: "N", meaning: `How many: 1 to ${MOST}, 10 unless told` },
    { flag: "category", placeholder: "NAME", meaning: "Only tools of this category" },
    { flag: "server", placeholder: "NAME", meaning: "Only this server's" },
    { flag: "explain", meaning: "Say for each why it has its rank" },
    JSON_FLAG,
  ],
  async run(input) {
    const query = queryOf(input);
    const [gateway] = await resolveGateways(input);
    const answer = await gateway!.client.search(query);
    if (input.flags.get("json") === true) return printJson(answer);
    print(searchText(answer, input));
  },
};

function queryOf({ positionals, flags }: CommandInput): URLSearchParams {
  const text = positionals.join(" ").trim();
  if (text === "") {
    throw configError(
      "search needs words that say what the tool should do",
      'Write it as: deno task cli search "read a file"',
    );
  }
  const limit = flags.get("limit") ?? "10";
  if (!/^\d{1,3}$/.test(String(limit)) || Number(limit) < 1 || Number(limit) > MOST) {
    throw configError("Cannot use --limit", `Give a whole number from 1 to ${MOST}`);
  }
  const query = new URLSearchParams({ q: text, limit: String(limit) });
  for (const name of ["category", "server"]) {
    const value = flags.get(name);
    if (typeof value === "string") query.set(name, value);
  }
  return query;
}

function searchText({ found, degraded }: SearchAnswer, { env, flags }: CommandInput): string {
  const paint = painter(env);
  const note = degraded === undefined ? "" : `${paint("yellow", "Note:")} ${line(degraded)}\n`;
  if (found.length === 0) {
    return `${note}No tool is found. Say it in other words, or see \`deno task cli tools list\`.\n`;
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

function whyOf({ explanation = "", scores = {} }: SearchAnswer["found"][number]): string {
  const parts = Object.entries(scores).sort(([, a], [, b]) => b - a)
    .map(([field, score]) => `${field} ${score.toFixed(2)}`);
  return line([explanation, parts.join(", ")].filter((part) => part !== "").join(" | "));
}

function line(text: string): string {
  return inert(text).replaceAll(/\s+/g, " ").trim();
}
