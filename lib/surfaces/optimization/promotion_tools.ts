import { z } from "zod";
import { specMetrics } from "../../optimizer/metrics.ts";
import { RESTART_NOTE } from "../../optimizer/report.ts";
import { builtin, type BuiltinTool } from "../builtin_tool.ts";
import type { OptimizationAdmin } from "../optimization_admin.ts";
import { answer, metricsText } from "./answers.ts";

/** Which description is in force. */
export function promotionTools(admin: OptimizationAdmin): BuiltinTool[] {
  return [
    builtin({
      name: "promote_candidate",
      title: "Promote",
      description: "Put a candidate in force for all clients, if its evaluation supports that.",
      input: z.object({ server: z.string(), tool: z.string(), candidateId: z.string() }),
      async run(input) {
        const promotion = await admin.promote(input, "caller");
        const { server, toolName, candidateId, metrics, baseline, verdict, depth } = promotion;
        return answer(
          [
            `Promoted ${candidateId} for ${server}.${toolName}: ${promotion.description}`,
            ...(metrics ? [`With it: ${metricsText(metrics)}`] : []),
            ...(baseline ? [`Before: ${metricsText(baseline)}`] : []),
            ...(verdict ? [verdict.words] : []),
            RESTART_NOTE,
          ],
          {
            promoted: true,
            metrics: metrics ? specMetrics(metrics) : null,
            baseline: baseline ? specMetrics(baseline) : null,
            counts: metrics ?? null,
            depth: depth ?? null,
            verdict: verdict?.words ?? null,
            note: RESTART_NOTE,
          },
          {
            next: [
              "get_optimization_report: see how all tools stand",
              "revert_optimization: go back to the server's own description",
            ],
          },
        );
      },
    }),
    builtin({
      name: "revert_optimization",
      title: "Revert",
      description: "Put a server's own description of a tool in force again.",
      input: z.object({ server: z.string(), tool: z.string() }),
      async run({ server, tool }) {
        await admin.revert({ server, tool }, "caller");
        return answer(
          [`${tool} has the server's own description again.`, RESTART_NOTE],
          { reverted: true, server, tool, note: RESTART_NOTE },
          {
            next: [
              "get_eval_results: see what was found out about its candidates",
              "propose_candidate: try another description",
            ],
          },
        );
      },
    }),
  ];
}
