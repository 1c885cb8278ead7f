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
            promotionId: promotion.id,
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
              `revert_optimization: with to "${promotion.id}", come back to this one later`,
            ],
          },
        );
      },
    }),
    builtin({
      name: "revert_optimization",
      title: "Revert",
      description: "Put a server's own description of a tool in force again, or an earlier one.",
      input: z.strictObject({
        server: z.string(),
        tool: z.string(),
        to: z.string().optional().describe("Id of an earlier promotion"),
      }),
      async run({ server, tool, to }) {
        const promotion = await admin.revert({ server, tool, to }, "caller");
        return answer(
          [
            promotion === null
              ? `${tool} has the server's own description again.`
              : `${tool} has ${promotion.candidateId} again: ${promotion.description}`,
            RESTART_NOTE,
          ],
          {
            reverted: true,
            server,
            tool,
            promotionId: promotion?.id ?? null,
            candidateId: promotion?.candidateId ?? null,
            note: RESTART_NOTE,
          },
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
