import { resolve } from "@std/path";
import { findTextFile } from "../config/text_file.ts";
import { configError } from "../config/problem.ts";
import { type CommandInput, JSON_FLAG } from "./command.ts";
import { inert, painter, print, printJson } from "./terminal.ts";
import type { ImportReport } from "./toolset_answers.ts";
import { toolsetCommand } from "./toolset_command.ts";
import { countOf, NOT_RUNNING, oneLine } from "./toolset_text.ts";
import { openToolsets } from "./toolsets_access.ts";

export const toolsetImport = toolsetCommand({
  usage: "toolset import FILE|- [--replace] [--dry-run]",
  meaning: "Save the toolsets of a file that `toolset export` or another program wrote",
  details: [
    'Also read: { "name": "dev", "tools": [{ "namespacedName": "git.status" }] }, or a list of such.',
    "A tool that is not here yet stays in its toolset and is there once its server has it. The exit",
    "code is 1 where a toolset was not saved.",
  ],
  flags: [
    { flag: "replace", meaning: "Overwrite toolsets of the same name" },
    { flag: "dry-run", meaning: "Say what would be done, and do nothing" },
    JSON_FLAG,
  ],
  async run(input) {
    const [path, ...others] = input.positionals;
    if (path === undefined || others.length > 0) {
      throw configError(
        "toolset import takes one file",
        "Write it as: deno task cli toolset import FILE, with - for standard input",
      );
    }
    const dryRun = input.flags.get("dry-run") === true;
    const file = await readFile(path);
    await using opened = await openToolsets(input);
    const report = await opened.toolsets.import(file, {
      replace: input.flags.get("replace") === true,
      dryRun,
    });
    if (input.flags.get("json") === true) printJson(report);
    else {
      print(reportText(report, dryRun, input));
      if (!opened.isRunning) print(NOT_RUNNING);
    }
    return report.toolsets.some(({ problem }) => problem !== undefined) ? 1 : 0;
  },
});

async function readFile(path: string): Promise<unknown> {
  const label = path === "-" ? "standard input" : path;
  const text = path === "-"
    ? await new Response(Deno.stdin.readable).text()
    : await findTextFile(resolve(path));
  if (text === undefined) throw configError(`There is no file ${path}`, "Check the path");
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw configError(
      `Cannot import ${label}: it is not valid JSON (${
        error instanceof Error ? error.message : error
      })`,
      "Correct it",
    );
  }
}

function reportText(
  { toolsets }: ImportReport,
  dryRun: boolean,
  { env }: Pick<CommandInput, "env">,
): string {
  const paint = painter(env);
  if (toolsets.length === 0) return "There are no toolsets in it.\n";
  return toolsets.map(({ name, wasNamed, toolCount, unmatched, problem }) => {
    const was = wasNamed === undefined ? "" : ` (called "${oneLine(wasNamed)}" there)`;
    const done = dryRun ? "Would save" : "Saved";
    const head = problem === undefined
      ? `${done} ${name}${was}: ${countOf(toolCount)}\n`
      : `${paint("red", dryRun ? "Would not save" : "Not saved")}: ${name}${was}: ${
        inert(problem)
      }\n`;
    const lines = unmatched.map(({ written, reason, nearest }) => {
      const guess = nearest.length > 0 ? `. Did you mean ${nearest.join(", ")}?` : "";
      return `  ${paint("yellow", "not matched:")} ${oneLine(`${written}: ${reason}${guess}`)}\n`;
    });
    return head + lines.join("");
  }).join("");
}
