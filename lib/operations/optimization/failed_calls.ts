import * as z from "zod";
import { scoreText } from "../../optimizer/evaluation/metrics.ts";
import { failuresAround } from "../../optimizer/traffic.ts";
import type { ActivityRecord } from "../../storage/activity_repository.ts";
import type { ActivityReader } from "../../telemetry/activity_reader.ts";

/** So many calls of a tool tell how it does. */
const MOST_CALLS = 20_000;
const Counts = z.object({ calls: z.int(), errors: z.int() });

/** What happens to a tool's real calls. */
export const FailedCalls = z.object({
  /** Newest first. */
  days: z.array(Counts.extend({ day: z.string() })),
  /** The promotion for all clients, if there is one. */
  before: Counts.optional(),
  after: Counts.optional(),
});
export type FailedCalls = z.infer<typeof FailedCalls>;

/** Failed calls of a tool by day, and before and after its promotion. */
export async function failedCalls(
  calls: Pick<ActivityReader, "calls">,
  named: { server: string; tool: string },
  promotedAt: string | undefined,
): Promise<FailedCalls> {
  const found: ActivityRecord[] = [];
  for await (const call of calls.calls(named)) {
    if (found.push(call) >= MOST_CALLS) break;
  }
  return failuresAround(found, promotedAt === undefined ? undefined : Date.parse(promotedAt));
}

/** "Before the promotion: 3/10 (...) failed. Since then: 0/8 (...) failed."; empty without one. */
export function failedCallsText({ before, after }: FailedCalls): string {
  if (!before || !after) return "";
  const share = ({ calls, errors }: z.infer<typeof Counts>) =>
    calls === 0 ? "no calls" : `${scoreText({ correct: errors, total: calls })} failed`;
  return `Before the promotion: ${share(before)}. Since then: ${share(after)}.`;
}
