import type { OptimizationJob } from "../../../../lib/core/optimization.ts";
import { jointText } from "../../../../lib/optimizer/jobs/joint.ts";
import type { Promotions } from "../../../../lib/optimizer/promotions.ts";

/** What a job's promotions came to together, by server. */
export function jointViews(job: OptimizationJob, promotions: Pick<Promotions, "allOf">) {
  return (job.joint ?? []).map((joint) => ({
    server: joint.server,
    isHarmful: joint.isHarmful,
    text: jointText(joint),
    /** Promotions of the tools by this job that are still active. */
    inForce: joint.tools.flatMap((tool) => {
      const own = job.tools.find(({ server, toolName }) =>
        server === joint.server && toolName === tool
      );
      return promotions.allOf(joint.server, tool).filter(({ candidateId }) =>
        candidateId === own?.promotedCandidateId
      ).map(({ family }) => ({ tool, family }));
    }),
  }));
}
export type JointView = ReturnType<typeof jointViews>[number];
