import { scopeWords } from "../auth/scope_words.ts";
import { configError } from "../config/problem.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { inert, print, printError, printJson } from "./terminal.ts";
import { readNewToken } from "./token_flags.ts";
import { openAccess } from "./token_store.ts";

export const tokenCreate: Command = {
  usage: "token create --name NAME [--rights A,B] [--expires TIME]",
  meaning: "Make a token that a client or a browser comes in with",
  details: [
    "Its text is printed once, on standard output and nothing else there, and cannot be had again.",
    "Unless told it may see and call everything, and does not expire. A pattern is a name, with *",
    "for any text, or with ! before it what is kept out: --tools 'git.*,!git.push'.",
  ],
  flags: [
    { flag: "name", placeholder: "NAME", meaning: "What you know it by" },
    { flag: "rights", placeholder: "A,B", meaning: "Of read, call, manage, optimize" },
    { flag: "servers", placeholder: "P,...", meaning: "Only servers with these names" },
    { flag: "toolsets", placeholder: "P,...", meaning: "Only toolsets with these names" },
    { flag: "tools", placeholder: "P,...", meaning: "Only tools with these names: server.tool" },
    { flag: "project", placeholder: "NAME", meaning: "For this project alone" },
    { flag: "expires", placeholder: "TIME", meaning: "How long it is good for: 90m, 12h, 30d, 4w" },
    { flag: "per-minute", placeholder: "N", meaning: "Calls begun within a minute, at most" },
    { flag: "concurrent", placeholder: "N", meaning: "Calls under way at once, at most" },
    {
      flag: "mode",
      placeholder: "MODE",
      meaning:
        "Calls it may make: all, confirm (a person agrees to what changes things), read-only",
    },
    JSON_FLAG,
  ],
  async run(input) {
    noPositionals("token create --name NAME", input);
    const written = readNewToken(input);
    await using opened = await openAccess(input);
    const { admin } = opened;
    const projects = (await admin.projects()).map(({ name }) => name);
    if (written.project !== undefined && !projects.includes(written.project)) {
      throw configError(
        `There is no project "${written.project.slice(0, 80)}"`,
        "See deno task cli project list",
      );
    }
    const { token, text } = await admin.createToken(written);
    if (input.flags.get("json") === true) return printJson({ token, text });
    print(`${text}\n`);
    const { id, name, scope, project, limit, expiresAt } = token;
    const words = [
      `may ${scope.rights.join(", ")}`,
      scopeWords(scope),
      ...(project === undefined ? [] : [`in project ${project} alone`]),
      ...(limit?.mode === undefined ? [] : [`mode ${limit.mode}`]),
      expiresAt === undefined ? "does not expire" : `until ${new Date(expiresAt).toISOString()}`,
    ];
    printError(inert(`Made ${name} (${id}): ${words.join("; ")}.\n`));
    printError("Keep it: it is not shown again. Send it as `Authorization: Bearer TOKEN`.\n");
  },
};
