import { configError } from "../config/problem.ts";
import { JSON_FLAG } from "./command.ts";
import { fullName, namedTool, openOptimization, optimizeCommand } from "./optimize_command.ts";
import { textFlag } from "./optimize_flags.ts";
import { print, printJson } from "./terminal.ts";

const USAGE =
  "optimize record SERVER.TOOL CANDIDATE PROMPT --called | --not-called [--reasoning TEXT] [--error TEXT]";

export const optimizeRecord = optimizeCommand({
  usage: USAGE,
  meaning: "Report what came of a prompt that you put to a model yourself",
  details: [
    "CANDIDATE is a candidate's id, or `canonical` for the server's own description. Whether the run",
    "is correct follows from the prompt. Reports count once every prompt has one for both. A gateway",
    "has to run.",
  ],
  flags: [
    { flag: "called", meaning: "The tool was called" },
    { flag: "not-called", meaning: "It was not" },
    { flag: "reasoning", placeholder: "TEXT", meaning: "What the model said" },
    { flag: "error", placeholder: "TEXT", meaning: "What went wrong, where the run failed" },
    JSON_FLAG,
  ],
  async run(input) {
    const [, candidateId, promptId] = input.positionals;
    const [called, not] = [
      input.flags.get("called") === true,
      input.flags.get("not-called") === true,
    ];
    if (candidateId === undefined || promptId === undefined || called === not) {
      throw configError(
        "optimize record takes a tool, a candidate, a prompt, and either --called or --not-called",
        `Write it as: deno task cli ${USAGE}`,
      );
    }
    const reasoning = textFlag(input, "reasoning");
    const error = textFlag(input, "error");
    const { gateway, optimization } = await openOptimization(input);
    const only = { ...input, positionals: input.positionals.slice(0, 1) };
    const tool = await namedTool("optimize record", only, gateway);
    const run = await optimization.record(tool, {
      candidateId,
      promptId,
      result: {
        toolCalled: called,
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(error === undefined ? {} : { error }),
      },
    });
    if (input.flags.get("json") === true) return printJson({ run });
    const outcome = run.isError
      ? "failed, and counts for nothing"
      : run.correct
      ? "correct"
      : "not correct";
    print(`Recorded ${run.runId} for ${fullName(tool)}: ${outcome}.\n`);
  },
});
