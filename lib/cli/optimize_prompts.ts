import { resolve } from "@std/path";
import { z } from "zod";
import { configError } from "../config/problem.ts";
import { findTextFile } from "../config/text_file.ts";
import { JSON_FLAG } from "./command.ts";
import { WrittenPrompt } from "./optimization_client.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { textFlag } from "./optimize_flags.ts";
import { promptList } from "./optimize_show_text.ts";
import { notesText, promptsText } from "./optimize_text.ts";
import { painter, print, printJson } from "./terminal.ts";

const List = z.array(WrittenPrompt).min(1);

export const optimizePrompts = optimizeCommand({
  usage: "optimize prompts SERVER.TOOL [--file FILE] [--list]",
  meaning: "The golden prompts of a tool; with --file, save those of a file",
  details: [
    'The file is a list: [{ "category": "direct", "prompt": "Will it rain in Oslo?" }]. The category is',
    "direct, indirect or negative; `expectedBehavior` may name, for a negative one, the tool that should",
    "be called instead (expectedTool). All are saved, or none. With an `id` it is the next version of",
    "that prompt. - reads standard input. A gateway has to run.",
  ],
  flags: [
    { flag: "file", placeholder: "FILE", meaning: "Save the prompts of this JSON file" },
    { flag: "list", meaning: "List all of the tool's; so it is without --file" },
    JSON_FLAG,
  ],
  async run(input) {
    const path = textFlag(input, "file");
    const written = path === undefined ? undefined : await readPrompts(path);
    const { gateway, optimization } = await openOptimization(input);
    const tool = await namedTool("optimize prompts", input, gateway);
    const saved = written && await optimization.savePrompts(tool, written);
    const isListing = saved === undefined || input.flags.get("list") === true;
    const detail = isListing ? await optimization.detail(tool) : undefined;
    if (input.flags.get("json") === true) {
      return printJson(detail ? { ...saved, prompts: detail.prompts } : saved);
    }
    const paint = painter(input.env);
    if (saved) {
      print(`Saved ${promptsText(saved.saved)} for ${fullName(tool)}.\n`);
      print(notesText(saved.warnings, paint));
    }
    if (detail) print(promptList(detail.prompts, [], paint));
    if (detail && !saved) print(notesText(detail.warnings, paint));
  },
});

async function readPrompts(path: string): Promise<WrittenPrompt[]> {
  const label = path === "-" ? "standard input" : path;
  const text = path === "-"
    ? await new Response(Deno.stdin.readable).text()
    : await findTextFile(resolve(path));
  if (text === undefined) throw configError(`There is no file ${path}`, "Check the path");
  return promptsOf(text, label);
}

/** The prompts that a text holds. */
export function promptsOf(text: string, label: string): WrittenPrompt[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw configError(`Cannot save ${label}: it is not valid JSON (${why})`, "Correct it");
  }
  const isWrapped = typeof value === "object" && value !== null && "prompts" in value;
  const parsed = (isWrapped ? z.strictObject({ prompts: List }) : List).safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") ?? "";
    throw configError(
      `Cannot save ${label}: ${place === "" ? "" : `${place}: `}${issue?.message}`,
      'Give a list such as [{ "category": "direct", "prompt": "Will it rain in Oslo?" }]',
    );
  }
  return Array.isArray(parsed.data) ? parsed.data : parsed.data.prompts;
}
