import type { Command } from "./command.ts";
import { optimizeEvaluate } from "./optimize_evaluate.ts";
import { optimizeGenerate } from "./optimize_generate.ts";
import { optimizeHistory } from "./optimize_history.ts";
import { optimizeCancel, optimizeJobs, optimizePause, optimizeResume } from "./optimize_jobs.ts";
import { optimizePromote } from "./optimize_promote.ts";
import { optimizePrompts } from "./optimize_prompts.ts";
import { optimizePropose } from "./optimize_propose.ts";
import { optimizeRecord } from "./optimize_record.ts";
import { optimizeReport } from "./optimize_report.ts";
import { optimizeKeep, optimizeRevert } from "./optimize_revert.ts";
import { optimizeRun } from "./optimize_run.ts";
import { optimizeShow } from "./optimize_show.ts";
import { optimizeStatus } from "./optimize_status.ts";
import { optimizeDisable, optimizeEnable } from "./optimize_switch.ts";

/** All of the family, by name. */
export const OPTIMIZE_COMMANDS: Record<string, Command> = {
  "optimize status": optimizeStatus,
  "optimize report": optimizeReport,
  "optimize show": optimizeShow,
  "optimize propose": optimizePropose,
  "optimize prompts": optimizePrompts,
  "optimize generate": optimizeGenerate,
  "optimize evaluate": optimizeEvaluate,
  "optimize record": optimizeRecord,
  "optimize run": optimizeRun,
  "optimize jobs": optimizeJobs,
  "optimize pause": optimizePause,
  "optimize resume": optimizeResume,
  "optimize cancel": optimizeCancel,
  "optimize promote": optimizePromote,
  "optimize revert": optimizeRevert,
  "optimize keep": optimizeKeep,
  "optimize history": optimizeHistory,
  "optimize enable": optimizeEnable,
  "optimize disable": optimizeDisable,
};
