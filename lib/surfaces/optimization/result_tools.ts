import { z } from "zod";
import { CANONICAL } from "../../core/optimization.ts";
import { reportData, reportMarkdown } from "../../optimizer/report.ts";
import { builtin, type BuiltinTool } from "../builtin_tool.ts";
import type { OptimizationAdmin } from "../optimization_admin.ts";
import { answer, resultLines } from "./answers.ts";
import type { CandidateResults } from "./tool_results.ts";

/** What was found out about descriptions. */
export function resultTools(admin: OptimizationAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "record_eval_run",
      title: "Report a run",
      description: "Report what came of a prompt that you tried with a description yourself.",
      input: z.strictObject({
        server: z.string(),
        candidateId: z.string().describe(`Or "${CANONICAL}"`),
        promptId: z.string(),
        tool: z.string().optional(),
        result: z.object({
          toolCalled: z.boolean(),
          correct: z.boolean().optional(),
          error: z.string().optional(),
          reasoning: z.string().optional(),
          durationMs: z.number().min(0),
        }),
      }),
      async run(input) {
        const { runId, correct, isError } = await admin.recordRun(input);
        const said = input.result.correct;
        const differs = !isError && said !== undefined && said !== correct;
        return answer(
          [`Recorded run ${runId}: ${isError ? "error, not counted" : verdictWord(correct)}.`],
          { runId, correct },
          {
            warnings: differs
              ? [`You said ${verdictWord(said)}; what the prompt expects decides`]
              : [],
            next: [
              `record_eval_run: the other prompts, each for the candidate and for "${CANONICAL}"`,
              "get_eval_results: compare them when all are there",
            ],
          },
        );
      },
    }),
    builtin({
      name: "get_eval_results",
      title: "Results",
      description: "Success rates of a tool's descriptions with counts, intervals and verdicts.",
      input: z.strictObject({
        server: z.string(),
        candidateId: z.string().optional(),
        tool: z.string().optional(),
      }),
      annotations: { readOnlyHint: true },
      async run(input) {
        const candidates = await admin.results(input);
        const isEmpty = candidates.every(({ evidence }) => evidence === null);
        const lines = [...Map.groupBy(candidates, ({ tool }) => tool)].flatMap((
          [tool, results],
        ) => [
          `${input.server}.${tool}:`,
          ...results.flatMap(resultLines).map((line) => `  ${line}`),
        ]);
        return answer(
          isEmpty ? ["No evaluation runs found - run evaluations first", ...lines] : lines,
          { candidates },
          { next: nextSteps(candidates) },
        );
      },
    }),
    builtin({
      name: "get_optimization_report",
      title: "Report",
      description: "How a server's descriptions, or all, stand: status, gain, cost.",
      input: z.strictObject({ server: z.string().optional() }),
      annotations: { readOnlyHint: true },
      async run({ server }) {
        const reports = await admin.report(server);
        return answer([reportMarkdown(reports).trimEnd()], reportData(reports), {
          next: [
            "get_eval_results: the numbers behind a tool",
            admin.enabled
              ? "optimize_tools: optimize those that are not yet"
              : "propose_candidate: save a better description of one that is not optimized",
          ],
        });
      },
    }),
  ];
}

function verdictWord(correct: boolean): string {
  return correct ? "correct" : "incorrect";
}

function nextSteps(candidates: readonly CandidateResults[]): string[] {
  const ready = candidates.find(({ evidence }) =>
    evidence?.problem === undefined && evidence?.verdict?.promote
  );
  return [
    ...(ready ? [`promote_candidate: put ${ready.candidateId} in force for ${ready.tool}`] : []),
    "evaluate_candidate: evaluate what has no data; or report it with record_eval_run",
    ...(ready ? [] : ["propose_candidate: try a better description"]),
  ];
}
