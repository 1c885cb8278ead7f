import * as z from "zod";
import { LiveTrial, type LiveTrialPlan, TrialSummary, trialText } from "../../core/live_trial.ts";
import { familyOfModel, ModelFamily } from "../../core/model_family.ts";
import type { PromotedTool } from "../../core/optimization.ts";
import { ServerName } from "../../core/server.ts";
import type { PromotionScope } from "../../optimizer/promotions.ts";
import { fieldHints } from "../fields.ts";
import type { OptimizationAdminOptions } from "./subjects.ts";

/** For whose clients a promotion is; missing: for all. */
export const Family = ModelFamily.optional()
  .describe("Only for clients with such models; default: for all")
  .register(fieldHints, { placeholder: "FAMILY", isForPeople: true });

/** A live A/B that is under way, with what it has seen so far. */
export const RunningTrial = z.object({
  server: ServerName,
  tool: z.string(),
  family: ModelFamily.exactOptional(),
  trial: LiveTrial,
  summary: TrialSummary,
  /** In words. */
  text: z.string(),
});
export type RunningTrial = z.infer<typeof RunningTrial>;

type Options = Pick<OptimizationAdminOptions, "promotions" | "trials" | "onChange">;

/** Those of one tool, or all. */
export async function runningTrials(
  { promotions, trials }: Options,
  of?: { server: string; tool: string },
): Promise<RunningTrial[]> {
  const promoted = of ? promotions.allOf(of.server, of.tool) : promotions.list();
  return await Promise.all(
    promoted.flatMap(({ server, toolName: tool, family, trial }) =>
      trial
        ? (async () => {
          const summary = await trials.summaryOf(trial);
          const text = trialText(trial, summary);
          return { server, tool, ...(family ? { family } : {}), trial, summary, text };
        })()
        : []
    ),
  );
}

export class LiveAb {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async start(
    scope: PromotionScope,
    plan: LiveTrialPlan,
    by: "caller" | "person",
  ): Promise<PromotedTool> {
    const started = await this.#options.promotions.startTrial({ ...scope, by }, plan);
    this.#options.onChange?.();
    return started;
  }

  async stop(scope: PromotionScope, by: "caller" | "person"): Promise<PromotedTool> {
    const kept = await this.#options.trials.stop(scope, by);
    this.#options.onChange?.();
    return kept;
  }

  running(of?: { server: string; tool: string }): Promise<RunningTrial[]> {
    return runningTrials(this.#options, of);
  }
}

/** Why a test with other families' models says too little about one family's clients. */
export function familyRefusal(
  family: ModelFamily | undefined,
  models: readonly string[],
): string | undefined {
  const tested = models.flatMap((model) => familyOfModel(model) ?? []);
  if (family === undefined || tested.length === 0 || tested.includes(family)) return undefined;
  return `it was tested with ${models.join(" and ")}, not with a ${family} model`;
}
