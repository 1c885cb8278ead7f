import type { OptimizationJob } from "../../../../lib/core/optimization.ts";
import { jointText } from "../../../../lib/optimizer/jobs/joint.ts";
import type { Promotions } from "../../../../lib/optimizer/promotions.ts";

/** What a job's promotions came to together, by server. */
export function jointViews(job: OptimizationJob, promotions: Pick<Promotions, "of">) {
  return (job.joint ?? []).map((joint) => ({
    server: joint.server,
    isHarmful: joint.isHarmful,
    text: jointText(joint),
    /** Those of the tools whose promotion by this job is still active. */
    inForce: joint.tools.filter((tool) =>
      job.tools.some(({ server, toolName, promotedCandidateId }) =>
        server === joint.server && toolName === tool && promotedCandidateId !== undefined &&
        promotions.of(server, tool)?.candidateId === promotedCandidateId
      )
    ),
  }));
}
export type JointView = ReturnType<typeof jointViews>[number];
