import { GatewayError } from "../../core/errors.ts";
import { type JobOptions, modelRef, type PromotedTool } from "../../core/optimization.ts";
import { familyOfModel, type ModelFamily } from "../../core/model_family.ts";
import type { Promotions } from "../promotions.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import type { JobsOptions } from "./run.ts";

/** Those that a job asks: one for each of its models, or the one that is set. */
export async function evaluatorsOf(
  { evaluator }: Pick<JobsOptions, "evaluator">,
  models: JobOptions["models"],
): Promise<Evaluator[]> {
  if (models === undefined) return [await evaluator()];
  return await Promise.all([...new Set(models)].map((ref) => evaluator(ref)));
}

/** No further run of a job could succeed. */
export class NothingCanWork extends Error {
  constructor(reason: string) {
    super(`No run can succeed: ${reason}`);
  }
}

/** Which models answer. Two time-outs in a row may be one hard prompt; from a silent model they end a job. */
export class AnsweringModels {
  readonly #answering = new Set<string>();

  answered(model: string): void {
    this.#answering.add(model);
  }

  /** Neither of two tries ended in time. Throws NothingCanWork if the model had not answered before. */
  hung(model: string, reason: string): void {
    if (!this.#answering.delete(model)) throw new NothingCanWork(reason);
  }
}

/** The promoted candidates that clients with some models get. */
export interface CandidatesInForce {
  inForce?: string | undefined;
  /** Where a family has one of its own. */
  ofFamily: Partial<Record<ModelFamily, string>>;
}

/** If all models are of one family, what counts is what its clients get. */
export function promotedFor(
  promotions: Pick<Promotions, "of">,
  { server, name }: { server: string; name: string },
  models: readonly { model: string }[],
): PromotedTool | undefined {
  const [only, ...others] = familiesOf(models);
  const own = only && others.length === 0 ? promotions.of(server, name, only) : undefined;
  return own ?? promotions.of(server, name);
}

export function candidatesInForce(
  promotions: Pick<Promotions, "of">,
  target: { server: string; name: string },
  models: readonly { model: string }[],
): CandidatesInForce {
  const ofFamily = Object.fromEntries(
    familiesOf(models).flatMap((family) => {
      const own = family && promotions.of(target.server, target.name, family)?.candidateId;
      return own === undefined ? [] : [[family, own]];
    }),
  );
  return { inForce: promotedFor(promotions, target, models)?.candidateId, ofFamily };
}

function familiesOf(models: readonly { model: string }[]): (ModelFamily | undefined)[] {
  return [...new Set(models.map(({ model }) => familyOfModel(model)))];
}

/** Throws CANNOT_EVALUATE if one of them cannot work, and says which. */
export async function checkAll(evaluators: readonly Evaluator[]): Promise<void> {
  for (const evaluator of evaluators) {
    try {
      await evaluator.check();
    } catch (error) {
      throw evaluators.length > 1 ? named(error, evaluator) : error;
    }
  }
}

function named(error: unknown, evaluator: Evaluator): unknown {
  if (!(error instanceof GatewayError)) return error;
  return new GatewayError(error.code, {
    ...error.details,
    message: error.message.replace(
      /^Cannot evaluate/,
      `Cannot evaluate with ${modelRef(evaluator)}`,
    ),
    cause: error,
  });
}

/** Throws INVALID_ARGUMENTS if one of them cannot do what a job is to do. */
export function refuseUnfit(
  evaluators: readonly Evaluator[],
  { maxCostUsd, view, surface }: Pick<JobOptions, "maxCostUsd" | "view" | "surface">,
): void {
  const unpriced = evaluators.filter(({ isPriced }) => isPriced === false);
  if (maxCostUsd !== undefined && unpriced.length > 0) {
    const names = unpriced.map(({ model }) => `"${model}"`).join(" and ");
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot enforce a budget of ${maxCostUsd} USD: the price of the ` +
        `${unpriced.length === 1 ? "model" : "models"} ${names} is not known`,
      recoveryAction: "Set its price with --model-prices, or limit the number of runs instead",
    });
  }
  const isSearching = view === "deferred" || surface === "discovery";
  const other = isSearching ? evaluators.find(({ kind }) => kind !== "claude-cli") : undefined;
  if (other) {
    const what = view === "deferred" ? "deferred tools" : "discovery";
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Cannot evaluate ${what} with ${other.kind}: only a client searches for tools`,
      recoveryAction: "Use --evaluator claude-cli, or the view inline and the surface server",
    });
  }
}
