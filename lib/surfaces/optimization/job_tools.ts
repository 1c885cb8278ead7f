import { z } from "zod";
import type { OptimizationJob } from "../../core/optimization.ts";
import { RESTART_NOTE } from "../../optimizer/report.ts";
import { builtin, type BuiltinTool } from "../builtin_tool.ts";
import type { OptimizationAdmin } from "../optimization_admin.ts";
import { answer } from "./answers.ts";
import { hasEnded, jobLines } from "./job_text.ts";

/** A job may have hundreds of tools. */
const MOST_WARNINGS = 5;

/** Jobs that are there: to look at and to stop. */
export function jobTools(admin: OptimizationAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "get_optimization_job",
      title: "Job progress",
      description: "How far an optimization job is, and what came of it.",
      input: z.object({ jobId: z.string() }),
      annotations: { readOnlyHint: true },
      async run({ jobId }) {
        return jobAnswer(await admin.jobs.get(jobId));
      },
    }),
    builtin({
      name: "cancel_optimization_job",
      title: "Cancel a job",
      description: "Stop an optimization job for good; what it found out is kept.",
      input: z.object({ jobId: z.string() }),
      async run({ jobId }) {
        return jobAnswer(await admin.jobs.cancel(jobId));
      },
    }),
  ];
}

/** A job, with what was said before and what can be done next. */
export function jobAnswer(
  job: OptimizationJob,
  { before = [], data = {} }: { before?: readonly string[]; data?: Record<string, unknown> } = {},
) {
  const warnings = [...new Set(job.tools.flatMap(({ plan }) => plan?.warnings ?? []))];
  const hasPromoted = job.tools.some((tool) => tool.promotedCandidateId !== undefined);
  return answer(
    [...before, ...jobLines(job), ...(hasPromoted ? [RESTART_NOTE] : [])],
    { job, ...data, ...(hasPromoted ? { note: RESTART_NOTE } : {}) },
    {
      warnings: warnings.slice(0, MOST_WARNINGS),
      next: hasEnded(job)
        ? [
          "get_eval_results: see the numbers",
          "promote_candidate: put a candidate in force that the verdict allows",
        ]
        : [
          `get_optimization_job: ask again with jobId "${job.id}"`,
          "cancel_optimization_job: stop it",
        ],
    },
  );
}
