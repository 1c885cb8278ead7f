import type { ServedTexts, TrialUnit } from "../../catalog/served_texts.ts";
import { inTurn } from "../../core/async.ts";
import type { Client } from "../../core/client.ts";
import { getOrMake } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  type LiveTrial,
  type LiveTrialResult,
  type TrialOutcome,
  trialResultText,
  type TrialSummary,
} from "../../core/live_trial.ts";
import type { PromotedTool } from "../../core/optimization.ts";
import type { ActivityRecord } from "../../storage/activity_repository.ts";
import type { TrialSessionsRepository } from "../../storage/trial_sessions_repository.ts";
import { type Promotions, type PromotionScope, scopeName } from "../promotions.ts";
import { REFUSED } from "../traffic.ts";
import { decide, summarize, type TrialEvent, withEvent } from "./decision.ts";

/** What a gateway that is killed may lose. */
const SAVE_MS = 1_000;
/** Time passes also where nothing is called, and other gateways save sessions too. */
const CHECK_MS = 15_000;
const DAY_MS = 24 * 60 * 60_000;
/** Sessions of one trial that are recorded; later ones get their text, and are not counted. */
const MOST_SESSIONS = 20_000;
const MOST_CALLERS = 10_000;

interface LiveTrialsOptions {
  promotions: Promotions;
  served: ServedTexts;
  sessions: TrialSessionsRepository;
  /** Built for one command: another process decides. */
  isCommand?: boolean;
  onEnded(message: string, details: object): void;
  onWarning(message: string, details: object): void;
  now?(): number;
}

type Session = Pick<Client, "profile" | "unit">;

/** Live A/B: records what happens in sessions, and ends trials that are decided. */
export class LiveTrials implements AsyncDisposable {
  readonly #options: LiveTrialsOptions;
  readonly #now: () => number;
  readonly #stopListening: () => void;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  readonly #inTurn = inTurn();
  /** By trial, the sessions that are known to be recorded. */
  readonly #shown = new Map<string, Set<string>>();
  /** By session, the tool whose call was its last and failed. */
  readonly #failed = new Map<string, string>();
  #pending = new Map<string, { unit: TrialUnit; events: TrialEvent[] }>();
  #saving: ReturnType<typeof setTimeout> | undefined;
  #prunedAt = 0;

  constructor(options: LiveTrialsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#stopListening = options.served.onShown((units) => this.#noteShown(units));
    if (options.isCommand) return;
    this.#timer = setInterval(() => this.#checkLater(), CHECK_MS);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** The trial that a call of a session belongs to. */
  unitOf(
    tool: { server: string; tool: string },
    session: { profile: object; unit?: string },
  ): TrialUnit | undefined {
    const { served } = this.#options;
    if (!served.hasTrials || session.unit === undefined) return undefined;
    return served.trialOf(tool, served.readerOf(session as Session));
  }

  /** Notes any call of a session; those of a tool in a trial are its outcome. */
  noteCall({ session, server, tool, ok, error = "", at, trial, search }: ActivityRecord): void {
    if (search || !this.#options.served.hasTrials) return;
    const name = `${server}.${tool}`;
    const isRetry = this.#failed.get(session) === name;
    this.#failed.delete(session);
    if (!ok) this.#failed.set(session, name);
    if (this.#failed.size > MOST_CALLERS) this.#failed.delete(this.#failed.keys().next().value!);
    if (!trial) return;
    const isRefused = !ok && REFUSED.test(error);
    this.#note(trial, { kind: "call", at, isFailed: !ok, isRefused, isRetry });
  }

  /** Somebody says that a call was made with the wrong tool. */
  noteMark(unit: TrialUnit): void {
    this.#note(unit, { kind: "mark", at: this.#now() });
  }

  /** Nothing more comes of a session that its client has ended. */
  noteEnded(session: Session): void {
    const { served } = this.#options;
    if (!served.hasTrials) return;
    for (const unit of served.trialsOf(served.readerOf(session))) {
      this.#note(unit, { kind: "end", at: this.#now() });
    }
  }

  async summaryOf({ id }: Pick<LiveTrial, "id">): Promise<TrialSummary> {
    await this.save();
    return summarize(await this.#options.sessions.list(id), this.#now());
  }

  /** A person ends it; the promoted description is then served to all. */
  async stop(scope: PromotionScope, by: "caller" | "person"): Promise<PromotedTool> {
    const { promotions } = this.#options;
    const current = promotions.of(scope.server, scope.tool, scope.family);
    if (!current?.trial) {
      throw new GatewayError("NOT_FOUND", {
        message: `No live A/B is running for "${scopeName(scope)}"`,
        recoveryAction: "No action is needed",
      });
    }
    const summary = await this.summaryOf(current.trial);
    await this.#end(current, current.trial, summary, { outcome: "stopped", by });
    return promotions.of(scope.server, scope.tool, scope.family) ?? current;
  }

  /** Ends the trials that are decided. */
  check(): Promise<void> {
    return this.#inTurn(async () => {
      const { promotions, sessions } = this.#options;
      for (const promotion of promotions.list()) {
        const { trial } = promotion;
        if (!trial) continue;
        const now = this.#now();
        const summary = summarize(await sessions.list(trial.id), now);
        const outcome = decide(trial, summary, now);
        if (outcome) await this.#end(promotion, trial, summary, { outcome, by: "trial" });
      }
      await this.#prune();
    });
  }

  async #end(
    promotion: PromotedTool,
    trial: LiveTrial,
    summary: TrialSummary,
    { outcome, by }: { outcome: TrialOutcome; by: "caller" | "person" | "trial" },
  ): Promise<void> {
    const { promotions, sessions, onEnded } = this.#options;
    const { server, toolName: tool, family } = promotion;
    const endedAt = new Date(this.#now()).toISOString();
    const result: LiveTrialResult = { ...trial, endedAt, outcome, summary };
    const scope = { server, tool, family };
    await promotions.endTrial({ ...scope, by, result });
    this.#shown.delete(trial.id);
    await sessions.deleteTrial(trial.id);
    const done = outcome === "worse" ? "reverted the promotion" : "ended";
    onEnded(`Live A/B of ${scopeName(scope)} ${done}: ${trialResultText(result)}`, {
      server,
      tool,
    });
  }

  /** Writes what is not yet in the store. */
  async save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    await this.#inTurn(async () => {
      const pending = this.#pending;
      this.#pending = new Map();
      for (const { unit, events } of pending.values()) {
        await this.#options.sessions.change(unit, (before) => {
          // A session that only ends was never shown the tool.
          if (!before && events.every(({ kind }) => kind === "end")) return undefined;
          return events.reduce(withEvent, before ?? newSession(unit, events[0]!.at));
        });
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    if (this.#pending.size > 0) {
      await this.save().catch((error) => this.#warn("Cannot save sessions of a live A/B", error));
    }
    clearTimeout(this.#saving);
    await this.#inTurn(() => Promise.resolve());
  }

  #noteShown(units: readonly TrialUnit[]): void {
    for (const unit of units) {
      const known = getOrMake(this.#shown, unit.trialId, () => new Set<string>());
      if (known.has(unit.unit) || known.size >= MOST_SESSIONS) continue;
      known.add(unit.unit);
      this.#note(unit, { kind: "shown", at: this.#now() });
    }
  }

  #note({ trialId, unit, arm }: TrialUnit, event: TrialEvent): void {
    const made = { unit: { trialId, unit, arm }, events: [] as TrialEvent[] };
    getOrMake(this.#pending, `${trialId} ${unit}`, () => made).events.push(event);
    this.#saving ??= setTimeout(() => this.#checkLater(), SAVE_MS);
  }

  #checkLater(): void {
    const work = async () => {
      await this.save();
      if (!this.#options.isCommand) await this.check();
    };
    work().catch((error) => this.#warn("Cannot check live A/B", error));
  }

  /** What is left of trials that ended with their promotion, or at another gateway. */
  async #prune(): Promise<void> {
    const now = this.#now();
    if (now - this.#prunedAt < DAY_MS) return;
    this.#prunedAt = now;
    const { promotions, sessions } = this.#options;
    const running = new Set(promotions.list().flatMap(({ trial }) => trial?.id ?? []));
    await sessions.prune({ running, before: now - DAY_MS });
  }

  #warn(message: string, error: unknown): void {
    this.#options.onWarning(message, { error });
  }
}

function newSession({ trialId, unit, arm }: TrialUnit, shownAt: number) {
  const counts = { calls: 0, failed: 0, refused: 0, retries: 0, marked: 0 };
  return { trialId, unit, arm, shownAt, ...counts };
}
