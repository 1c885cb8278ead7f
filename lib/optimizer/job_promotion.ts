import { CANONICAL, type Evaluation } from "../core/optimization.ts";
import type { JobContext } from "./job_context.ts";
import type { ToolOutcome } from "./job_tool.ts";
import { bestOf, gainWords, refusalWords } from "./job_words.ts";

/** Puts the best description that its verdict allows in force, where the job may. */
export async function promoteBest(
  { options, record }: JobContext,
  evaluation: Evaluation,
): Promise<ToolOutcome> {
  const { server, toolName, id, depth } = evaluation;
  // Another process may have promoted since it was read.
  await options.promotions.load();
  const inForce = options.promotions.of(server, toolName);
  const isInForce = (candidateId: string) => candidateId === inForce?.candidateId;
  const allowed = evaluation.results.filter(({ verdict }) => verdict?.promote)
    // Of equals, what is in force stays.
    .toSorted((one, other) =>
      Number(isInForce(other.candidateId)) - Number(isInForce(one.candidateId))
    );
  const best = bestOf(allowed);
  if (!best) {
    const kept = inForce
      ? "Kept the promoted description, although this evaluation does not support it"
      : "Kept the server's own description";
    return { failed: false, outcome: `${kept}: ${refusalWords(evaluation)}` };
  }
  const { candidateId, description, metrics, verdict } = best;
  const gain = gainWords(evaluation, best);
  const promoted = {
    failed: false,
    outcome: `Promoted: ${gain}`,
    promotedCandidateId: candidateId,
  };
  // A process that ended right after it had promoted; somebody may have reverted it since.
  const history = await options.promotions.history(server, toolName);
  if (history.some(({ by, promotion }) => by === "job" && promotion?.evaluationId === id)) {
    return promoted;
  }
  if (isInForce(candidateId)) {
    return { failed: false, outcome: `Kept the promoted description, the best there is: ${gain}` };
  }
  if (!record.job.options.autoPromote) {
    const outcome = `Not promoted, as the job was told: candidate "${candidateId}", ${gain}`;
    return { failed: false, outcome };
  }
  const baseline = evaluation.results.find((result) => result.candidateId === CANONICAL)?.metrics;
  await options.promotions.promote({
    server,
    toolName,
    candidateId,
    description,
    metrics,
    ...(baseline === undefined ? {} : { baseline }),
    evaluationId: id,
    depth,
    ...(verdict === undefined ? {} : { verdict }),
    by: "job",
  });
  return promoted;
}
