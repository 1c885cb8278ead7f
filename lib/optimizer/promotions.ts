import { namespacedName } from "../catalog/names.ts";
import type { AuditedChange, OnAudit } from "../core/access.ts";
import { inTurn } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import {
  LiveTrial,
  type LiveTrialPlan,
  type LiveTrialResult,
  trialResultText,
} from "../core/live_trial.ts";
import type { ModelFamily } from "../core/model_family.ts";
import { newId, type PromotedTool, PromotionEvent, type ToolText } from "../core/optimization.ts";
import { type OwnParameterTexts, replacedBy, unknownParameters } from "../core/tool_text.ts";
import type { PromotionsRepository } from "../storage/promotions_repository.ts";
import { ownHash, type Staleness, stalenessOf, type StalenessSources } from "./staleness.ts";

/** Another gateway may win the race this often in a row before we give up. */
const MAX_RACES = 50;
const MOST_NAMED = 10;

interface PromotionsOptions extends StalenessSources {
  repository: PromotionsRepository;
  /** The server's own description; null: it has none, undefined: there is no such tool now. */
  canonical(server: string, tool: string): string | null | undefined;
  /** Gets all that are in force when they may have changed, before the change's promise resolves. */
  onChange(promotions: readonly PromotedTool[]): void;
  onAudit?: OnAudit | undefined;
  screen?(server: string, text: string): Promise<string | undefined>;
  now?(): number;
}

type Step = Pick<PromotionEvent, "action" | "by" | "promotion" | "reason" | "trialResult">;

/** A tool, and a family if what is promoted for its clients alone is meant. */
export interface PromotionScope {
  server: string;
  tool: string;
  family?: ModelFamily | undefined;
}

export class Promotions {
  readonly #options: PromotionsOptions;
  #byTool = new Map<string, PromotedTool>();
  #list: readonly PromotedTool[] = [];
  /** A read must not undo in memory what was changed while it was under way. */
  readonly #inTurn = inTurn();

  constructor(options: PromotionsOptions) {
    this.#options = options;
  }

  load(): Promise<void> {
    return this.#inTurn(async () => {
      const all = await this.#options.repository.all();
      const before = JSON.stringify(this.#list);
      this.#byTool = new Map(all.map((each) => [scopeOf(each), each]));
      this.#list = this.#sorted();
      if (JSON.stringify(this.#list) !== before) this.#options.onChange(this.#list);
    });
  }

  list(): readonly PromotedTool[] {
    return this.#list;
  }

  /** What is promoted for all, or for a family alone. */
  of(server: string, tool: string, family?: ModelFamily): PromotedTool | undefined {
    return this.#byTool.get(scopeOf({ server, toolName: tool, family }));
  }

  /** All that is promoted for a tool: for all, and for families. */
  allOf(server: string, tool: string): PromotedTool[] {
    return this.#list.filter((each) => each.server === server && each.toolName === tool);
  }

  /** Why models must not read a text; undefined if they may. */
  async problemOf(
    server: string,
    { description, parameters = {} }: ToolText,
  ): Promise<string | undefined> {
    const texts = Object.values(parameters);
    // Also all together: an attack could be spread over several of them.
    const whole = texts.length === 0 ? [] : [[description, ...texts].join("\n")];
    for (const text of [description, ...texts, ...whole]) {
      const problem = await this.#options.screen?.(server, text);
      if (problem !== undefined) return `it looks like an attack. ${problem}`;
    }
    return undefined;
  }

  async promote(
    input:
      & Omit<
        PromotedTool,
        | "id"
        | "promotedAt"
        | "canonicalDescription"
        | "canonicalParameters"
        | "keptOver"
        | "siblings"
        | "trial"
        | "trialResult"
      >
      & {
        /** Serves it to a share of sessions at first. */
        ab?: LiveTrialPlan | undefined;
        /** What it was compared with, where that was measured; else what the server says now. */
        canonicalDescription?: string | null;
        canonicalParameters?: OwnParameterTexts | undefined;
        /** The id of the promotion it was compared with; null: none. If missing, any may be replaced. */
        over?: string | null;
      },
  ): Promise<PromotedTool> {
    const { over, ab, canonicalParameters, ...promoted } = input;
    const { server, toolName, family, by, reason } = promoted;
    const problem = await this.problemOf(server, input);
    if (problem !== undefined) throw hostile(namespacedName(server, toolName), problem);
    const scope = { server, tool: toolName, family };
    const promotion = await this.#change(scope, (current, { id, time }) => {
      if (over !== undefined && over !== (current?.id ?? null)) {
        overtaken(namespacedName(server, toolName));
      }
      const now = this.#canonical(server, toolName, "promote a description for");
      const { canonicalDescription = now } = input;
      const parameters = this.#parameters(server, toolName);
      const [gone] = unknownParameters(input, parameters);
      if (gone !== undefined) throw withoutParameter(namespacedName(server, toolName), gone);
      const siblings = this.#options.siblings?.(server, toolName);
      const own: PromotedTool = {
        ...promoted,
        id,
        promotedAt: time,
        canonicalDescription,
        ...(input.parameters
          ? { canonicalParameters: canonicalParameters ?? replacedBy([input], parameters) }
          : {}),
        ...(ab ? { trial: trialOf(ab, time) } : {}),
      };
      const promotion = siblings ? { ...own, siblings } : own;
      return { action: "promote", by, reason, promotion };
    });
    return promotion ??
      missing(`Cannot promote a description for "${namespacedName(server, toolName)}"`);
  }

  /** Back to the server's own description, or to what was in force after an earlier event. */
  async revert(
    { to, by, reason, ...scope }: PromotionScope & {
      to?: string;
      by: PromotedTool["by"];
      reason?: string;
    },
  ): Promise<PromotedTool | null> {
    const { server, tool } = scope;
    const event = to === undefined ? undefined : await this.#earlier(server, tool, to);
    // A step of another family's history is about what that family gets.
    const meant = event ? { server, tool, family: event.family } : scope;
    return await this.#change(meant, (current) => {
      // It is restored for all of its clients.
      const { trial: _, ...whole } = event?.promotion ?? {};
      const promotion = event?.promotion ? whole as PromotedTool : null;
      if (promotion === null && current === undefined) {
        missing(`Cannot revert "${scopeName(meant)}": nothing is promoted for it`);
      }
      if (promotion !== null && promotion.id === current?.id && !current.trial) return undefined;
      return { action: "revert", by, reason, promotion };
    });
  }

  /** Serves a promoted description to a share of sessions, and what they would get without to the rest. */
  async startTrial(
    { by, ...scope }: PromotionScope & { by: "caller" | "person" },
    plan: LiveTrialPlan,
  ): Promise<PromotedTool> {
    const nothing = `Cannot start a live A/B for "${scopeName(scope)}": nothing is promoted for it`;
    const started = await this.#change(scope, (current, { time }) => {
      if (current === undefined) missing(nothing, "Promote a candidate first");
      if (current.trial) trialRuns(scopeName(scope));
      const { trialResult: _, ...rest } = current;
      const reason = `Served to ${plan.share} % of sessions`;
      const promotion = { ...rest, trial: trialOf(plan, time) };
      return { action: "trial-start", by, reason, promotion };
    });
    return started ?? missing(nothing);
  }

  /**
   * Ends a live A/B with its result, and reverts the promotion if it did worse. One that has ended
   * since, here or at another gateway, is left alone.
   */
  endTrial(
    { by, result, ...scope }: PromotionScope & {
      by: PromotionEvent["by"];
      result: LiveTrialResult;
    },
  ): Promise<PromotedTool | null> {
    return this.#change(scope, (current) => {
      if (current?.trial?.id !== result.id) return undefined;
      const { trial: _, ...rest } = current;
      const isReverted = result.outcome === "worse";
      return {
        action: isReverted ? "revert" : "trial-end",
        by,
        reason: `Live A/B: ${trialResultText(result)}`,
        promotion: isReverted ? null : { ...rest, trialResult: result },
        trialResult: result,
      };
    });
  }

  /** A person keeps a promotion although what it was promoted on has changed since. */
  async keep(
    { by, ...scope }: PromotionScope & { by: PromotedTool["by"] },
  ): Promise<PromotedTool> {
    const { server, tool } = scope;
    const nothing = `Cannot keep the description of "${scopeName(scope)}": none is promoted`;
    const kept = await this.#change(scope, (current) => {
      if (current === undefined) missing(nothing);
      const now = this.#canonical(server, tool, "keep the promoted description of");
      if (stalenessOf(current, now, this.#options) === undefined) return undefined;
      const { testedWith, siblings } = current;
      const { models } = this.#options;
      const model = testedWith && this.#options.model?.(testedWith.evaluator);
      return {
        action: "keep",
        by,
        promotion: {
          ...current,
          keptOver: ownHash(now),
          ...(current.parameters
            ? { canonicalParameters: replacedBy([current], this.#parameters(server, tool)) }
            : {}),
          ...(testedWith && models
            ? { testedModels: [...models] }
            : testedWith && model
            ? { testedWith: { ...testedWith, model } }
            : {}),
          ...(siblings ? { siblings: this.#options.siblings?.(server, tool) ?? siblings } : {}),
        },
      };
    });
    return kept ?? missing(nothing);
  }

  /** Why a promotion is stale, unless somebody kept it, with the server's own description then and now. */
  staleness(server: string, tool: string, family?: ModelFamily): Staleness | undefined {
    const promotion = this.of(server, tool, family);
    const now = this.#options.canonical(server, tool);
    if (promotion === undefined || now === undefined) return undefined;
    return stalenessOf(promotion, now, this.#options);
  }

  #parameters(server: string, tool: string): OwnParameterTexts {
    return this.#options.parameters?.(server, tool) ?? {};
  }

  history(server: string, tool: string): Promise<PromotionEvent[]> {
    return this.#options.repository.history(server, tool);
  }

  #change(
    scope: PromotionScope,
    decide: (
      current: PromotedTool | undefined,
      mark: Pick<PromotionEvent, "id" | "time">,
    ) => Step | undefined | Promise<Step | undefined>,
  ): Promise<PromotedTool | null> {
    const { repository, now = Date.now } = this.#options;
    const { server, tool, family } = scope;
    return this.#inTurn(async () => {
      for (let race = 0; race < MAX_RACES; race++) {
        const current = await repository.find(server, tool, family);
        // Read second: a step made since then fails the compare-and-set.
        const newest = await repository.newest(server, tool);
        // Steps sort by time, also those of one millisecond and of clocks that differ.
        const at = Math.max(now(), newest === undefined ? 0 : Date.parse(newest.time) + 1);
        const mark = { id: newId("promotion", at), time: new Date(at).toISOString() };
        const step = await decide(current?.value, mark);
        const event = step && checked({
          ...mark,
          ...step,
          server,
          toolName: tool,
          ...(family === undefined ? {} : { family }),
        });
        if (event && !await repository.change(event, current?.versionstamp ?? null)) continue;
        if (event) this.#options.onAudit?.(auditedStep(event, current?.value));
        const inForce = event ? event.promotion : current?.value ?? null;
        this.#put(scope, inForce);
        return inForce;
      }
      throw new GatewayError("CONFLICT", {
        message: `Cannot change which description "${scopeName(scope)}" has: ` +
          "other requests keep changing it",
        recoveryAction: "Try again in a moment",
      });
    });
  }

  async #earlier(server: string, tool: string, id: string): Promise<PromotionEvent> {
    const history = await this.history(server, tool);
    const event = history.find((each) => each.id === id);
    if (event !== undefined) return event;
    const name = namespacedName(server, tool);
    throw new GatewayError("NOT_FOUND", {
      message: `Cannot revert "${name}" to "${id}": its history has no such step`,
      recoveryAction: `Use the ID of a step in the history of "${name}"`,
      // Not every reader has another way to look them up.
      hint: history.length === 0
        ? "Its history is empty: nothing was ever promoted for it."
        : `Its newest steps: ${history.slice(0, MOST_NAMED).map(stepText).join("; ")}.`,
    });
  }

  #canonical(server: string, tool: string, attempt: string): string | null {
    const description = this.#options.canonical(server, tool);
    if (description !== undefined) return description;
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: `Cannot ${attempt} "${namespacedName(server, tool)}": the tool no longer exists`,
    });
  }

  #put({ server, tool, family }: PromotionScope, promotion: PromotedTool | null): void {
    const scope = scopeOf({ server, toolName: tool, family });
    if (promotion === null) this.#byTool.delete(scope);
    else this.#byTool.set(scope, promotion);
    this.#list = this.#sorted();
    this.#options.onChange(this.#list);
  }

  #sorted(): PromotedTool[] {
    return [...this.#byTool].sort(([one], [other]) => one < other ? -1 : 1)
      .map(([, promotion]) => promotion);
  }
}

/** Sorts with the tool's name; what is for all comes first. */
function scopeOf(
  { server, toolName, family }: Pick<PromotedTool, "server" | "toolName" | "family">,
) {
  const name = namespacedName(server, toolName);
  return family === undefined ? name : `${name}\0${family}`;
}

/** "library.find_books", or "library.find_books for gpt" */
export function scopeName({ server, tool, family }: PromotionScope): string {
  const name = namespacedName(server, tool);
  return family === undefined ? name : `${name} for ${family}`;
}

function trialOf(plan: LiveTrialPlan, time: string): LiveTrial {
  return { ...plan, id: newId("trial", Date.parse(time)), startedAt: time };
}

const OWN_STEPS: Partial<Record<PromotionEvent["by"], string>> = {
  job: "optimization job",
  trial: "live A/B",
};

/** Steps of a job or a live A/B have no user behind them, so they are the gateway's own. */
function auditedStep(event: PromotionEvent, before: PromotedTool | undefined): AuditedChange {
  const { action, by, reason, server, toolName, family } = event;
  const shown = (promotion: PromotedTool | null | undefined) => ({
    description: promotion?.description ?? "the server's own",
    ...(promotion?.parameters ? { parameters: promotion.parameters } : {}),
    ...(promotion ? { candidate: promotion.candidateId } : {}),
    ...(promotion?.trial ? { share: `${promotion.trial.share} %` } : {}),
  });
  const from = OWN_STEPS[by];
  return {
    action: `promotion.${action}`,
    subject: scopeName({ server, tool: toolName, family }),
    before: shown(before),
    after: { ...shown(event.promotion), ...(reason === undefined ? {} : { reason }), by },
    ...(from === undefined ? {} : { principal: "gateway", from }),
  };
}

function stepText({ id, time, action, promotion }: PromotionEvent): string {
  return `${id} (${time}, ${action}: ${promotion?.candidateId ?? "the server's own description"})`;
}

/** An event that could not be parsed again must not be saved. */
function checked(event: PromotionEvent): PromotionEvent {
  const { success, data, error } = PromotionEvent.safeParse(event);
  if (success) return data;
  const [issue] = error.issues;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message:
      `Cannot ${event.action} a description for "${
        namespacedName(event.server, event.toolName)
      }": ` +
      `${issue?.path.join(".")}: ${issue?.message}`,
  });
}

/** The right to write descriptions must not be a way to give models orders. */
function hostile(name: string, problem: string): GatewayError {
  return new GatewayError("PROMOTION_REFUSED", {
    message: `Cannot promote a description for "${name}": ${problem}`,
    recoveryAction: "Propose a description that only states what the tool does",
  });
}

function withoutParameter(name: string, path: string): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `Cannot promote a description for "${name}": the tool has no parameter "${path}" now`,
    recoveryAction: "Propose a candidate for the parameters that the tool has",
  });
}

function overtaken(name: string): never {
  throw new GatewayError("CONFLICT", {
    message: `Cannot promote a description for "${name}": another one was promoted in the meantime`,
    recoveryAction:
      `Check the current description of "${name}", and evaluate against it before you promote`,
  });
}

function trialRuns(name: string): never {
  throw new GatewayError("CONFLICT", {
    message: `Cannot start a live A/B for "${name}": one is already running`,
    recoveryAction: "Stop it first",
    next: [{ label: "Stop it", operation: "optimization.ab_stop" }],
  });
}

function missing(
  message: string,
  recoveryAction = "No action is needed: the server's own description is active",
): never {
  throw new GatewayError("NOT_FOUND", { message, recoveryAction });
}
