import { scopeWords } from "../auth/scope_words.ts";
import type { ShownToken } from "../surfaces/access_admin.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";
import { openAccess } from "./token_store.ts";
import { oneLine } from "./toolset_text.ts";

export const tokenList: Command = {
  usage: "token list",
  meaning: "All tokens, what they may do, when they were last used and when they expire",
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("token list", input);
    await using opened = await openAccess(input);
    const tokens = await opened.admin.tokens();
    if (input.flags.get("json") === true) return printJson({ tokens });
    if (tokens.length === 0) {
      return print(
        "There are no tokens. Make one with `deno task cli token create --name NAME`.\n",
      );
    }
    print(listText(tokens, input));
  },
};

function listText(tokens: readonly ShownToken[], { env }: Pick<CommandInput, "env">): string {
  const paint = painter(env);
  const now = Date.now();
  const heading = ["NAME", "ID", "RIGHTS", "SCOPE", "LAST USED", "EXPIRES"]
    .map((word) => paint("gray", word));
  const rows = tokens.map(({ name, id, scope, project, limit, lastUsedAt, expiresAt }) => [
    oneLine(name),
    id,
    scope.rights.join(","),
    [
      scopeWords(scope),
      ...(project === undefined ? [] : [`project ${project}`]),
      ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
    ].join("; "),
    lastUsedAt === undefined ? "never" : minute(lastUsedAt),
    expiresAt === undefined
      ? "never"
      : expiresAt <= now
      ? paint("red", "expired")
      : minute(expiresAt),
  ]);
  return cutToWidth(table([heading, ...rows]));
}

function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
