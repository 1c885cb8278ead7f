import type { JobOptions } from "../core/optimization.ts";
import type { JobsOptions } from "./job_context.ts";
import type { SelectedTool } from "./job_selection.ts";
import { firstWritten } from "./prompt_selection.ts";
import { mostSiblingPrompts } from "./sibling_prompts.ts";
import type { ToolStock } from "./test_forecast.ts";

/** What there is of each tool to begin with. */
export async function stockOf(
  { subjects, prompts, candidates, evaluations, promotions }: JobsOptions,
  tools: readonly SelectedTool[],
  { generate }: Pick<JobOptions, "generate">,
): Promise<ToolStock[]> {
  const servers = new Map(
    await Promise.all([...new Set(tools.map(({ server }) => server))].map(async (server) => {
      const [allPrompts, versions, allCandidates, allEvaluations] = await Promise.all([
        prompts.list(server),
        prompts.all(server),
        candidates.list(server),
        evaluations.list(server),
      ]);
      const writtenAt = firstWritten(versions);
      return [server, { allPrompts, writtenAt, allCandidates, allEvaluations }] as const;
    })),
  );
  return tools.flatMap(({ server, tool }) => {
    const subject = subjects.find(server, tool);
    const stock = servers.get(server);
    if (!subject || !stock) return [];
    const isOwn = ({ toolName }: { toolName: string }) => toolName === tool;
    // Prompts of all tools are written before any is tested.
    const asked = subject.siblings.filter(({ name }) =>
      stock.allPrompts.some(({ toolName, category }) =>
        toolName === name && category === "direct"
      ) || (generate && tools.some((one) => one.server === server && one.tool === name))
    );
    return [{
      server,
      tool,
      canonical: subject.canonicalDescription ?? "",
      prompts: stock.allPrompts.filter(isOwn),
      writtenAt: stock.writtenAt,
      siblingPrompts: mostSiblingPrompts(asked.length),
      candidates: stock.allCandidates.filter(isOwn),
      evaluations: stock.allEvaluations.filter(isOwn),
      inForce: promotions.of(server, tool)?.candidateId,
    }];
  });
}
