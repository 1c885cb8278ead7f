import { JSON_FLAG } from "./command.ts";
import { NamedTools } from "./find_tool.ts";
import { openOptimization, optimizeCommand } from "./optimize_command.ts";
import {
  BUDGET_FLAGS,
  DEPTH_FLAG,
  DETACH_FLAG,
  jobOptionsOf,
  REPEATS_FLAG,
  TOOLSET_FLAG,
  YES_FLAG,
} from "./optimize_flags.ts";
import { startJob } from "./optimize_start.ts";
import { targetOf } from "./optimize_target.ts";

export const optimizeRun = optimizeCommand({
  usage: "optimize run SERVER | SERVER.TOOL... | --all [OPTIONS]",
  meaning: "Write candidates and prompts, try them on a model, and promote what is better",
  details: [
    "Says what it would take and asks first, unless --yes, which is needed where there is no terminal.",
    "The work is done in the gateway: Ctrl-C asks it to pause, and it can be resumed or cancelled. The",
    "exit code is 1 where a tool could not be done. A gateway has to run, and optimization has to be on.",
  ],
  flags: [
    { flag: "all", meaning: "Every tool that is on, of every server" },
    {
      flag: "candidates",
      placeholder: "N",
      meaning: "Candidates for each tool: 1 to 10, 4 unless told",
    },
    {
      flag: "prompts",
      placeholder: "N",
      meaning: "Prompts for each category: 1 to 50; 5 for quick, 12 for thorough unless told",
    },
    {
      flag: "threshold",
      placeholder: "PERCENT",
      meaning: "What a candidate has to reach overall: 0 to 100, 85 unless told",
    },
    DEPTH_FLAG,
    REPEATS_FLAG,
    TOOLSET_FLAG,
    { flag: "no-promote", meaning: "Only measure: promote nothing at the end" },
    ...BUDGET_FLAGS,
    YES_FLAG,
    DETACH_FLAG,
    JSON_FLAG,
  ],
  async run(input) {
    const options = jobOptionsOf(input);
    const { gateway, optimization } = await openOptimization(input);
    const isAll = input.flags.get("all") === true;
    const [rows, list] = await Promise.all([gateway.list(), gateway.allTools()]);
    const known = { servers: rows.map(({ name }) => name), tools: new NamedTools(list) };
    const target = targetOf(input.positionals, isAll, known);
    return await startJob("optimize run", { ...target, options }, { input, optimization });
  },
});
