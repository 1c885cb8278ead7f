import { PromptCategory } from "../../../../lib/core/optimization.ts";
import { scoreText } from "../../../../lib/optimizer/evaluation/metrics.ts";
import { type CallsOfDay, failuresAround } from "../../../../lib/optimizer/traffic.ts";
import type { ActivityRecord } from "../../../../lib/storage/activity_repository.ts";
import type { ActivityReader } from "../../../../lib/telemetry/activity_reader.ts";
import type { AcceptedProposal } from "../../../../lib/operations/traffic_admin.ts";

/** The selected proposals of a form, as they were edited. */
export function editedProposals(form: URLSearchParams): AcceptedProposal[] {
  return form.getAll("key").map((key) => {
    const field = (name: string) => form.get(`${name}-${key}`)?.trim() || undefined;
    const [, server, tool] = /^([^.]+)\.(.+)$/s.exec(field("tool") ?? "") ?? [];
    return {
      key,
      ...Object.fromEntries(
        Object.entries({
          prompt: field("prompt"),
          category: PromptCategory.safeParse(field("category")).data,
          server,
          tool,
          expectedTool: field("expected"),
        }).filter(([, value]) => value !== undefined),
      ),
    };
  });
}

/** So many calls of a tool tell how it does. */
const MOST_CALLS = 20_000;

export interface ToolFailures {
  days: CallsOfDay[];
  /** In words, with the interval; missing if nothing is promoted. */
  before?: string;
  after?: string;
}

/** Failed calls of a tool by day, and before and after its promotion. */
export async function toolFailures(
  calls: Pick<ActivityReader, "calls">,
  named: { server: string; tool: string },
  promotedAt: string | undefined,
): Promise<ToolFailures> {
  const found: ActivityRecord[] = [];
  for await (const call of calls.calls(named)) {
    if (found.push(call) >= MOST_CALLS) break;
  }
  const moment = promotedAt === undefined ? undefined : Date.parse(promotedAt);
  const { days, before, after } = failuresAround(found, moment);
  return {
    days,
    ...(before && after ? { before: shareText(before), after: shareText(after) } : {}),
  };
}

function shareText({ calls, errors }: { calls: number; errors: number }): string {
  return calls === 0 ? "no calls" : `${scoreText({ correct: errors, total: calls })} failed`;
}
