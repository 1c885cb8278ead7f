import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../core/async.ts";
import { forwardNow } from "../core/clock.ts";
import { getOrMake } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import type { LimitUsesRepository } from "../storage/access_repositories.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import { type Bound, concurrentExceeded, contended } from "./call_limits.ts";
import { type LimitPlan, LimitShare, type LimitWaiter } from "./limit_share.ts";

const TICK_MS = 1_000;
/** How long a call waits for the store. */
const STORE_MS = 2_000;
/** How many times it waits that long while other gateways change the record first. */
const MOST_WAITS = 5;
/** How long only the gateway's own count decides after the store did not answer. */
const AWAY_MS = 5_000;
/** How long another gateway may take to give back what it does not use. */
const ASK_MS = 1_000;
const ASK_GAP_MS = 50;
const RACE_MS = 10;
/** The topic of messages about unused places between gateways on one store. */
const TOPIC = "limit places";

interface LimitSharesOptions {
  uses: LimitUsesRepository;
  mailbox: Pick<Mailbox, "id" | "ask" | "handle">;
  isAlive(gateway: string): Promise<boolean>;
  onWarning(message: string, details?: object): void;
  storeMs?: number;
  /** In ms since the epoch. */
  now?(): number;
}

/**
 * Limits of calls for all gateways on a store together. A gateway takes calls of a minute, and places for
 * concurrent calls, from a record in the store; a call for which it still has some does not touch the
 * store. It gives back what it does not use within about two seconds, and places as soon as another
 * gateway needs one. Those of a gateway whose lease has expired are free.
 */
export class LimitShares implements AsyncDisposable {
  readonly #options: LimitSharesOptions;
  readonly #shares = new Map<string, LimitShare>();
  readonly #held = new WeakMap<object, LimitShare[]>();
  readonly #timer: ReturnType<typeof setInterval>;
  #awayUntil = -Infinity;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(options: LimitSharesOptions) {
    this.#options = options;
    options.mailbox.handle(TOPIC, async (limit) => {
      const share = this.#shares.get(limit);
      share?.wanted();
      if (share) await this.#finish(share);
      return "";
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** Undefined if the call is counted; else rejects with LIMIT_EXCEEDED if it is over a limit. */
  begin(call: object, bounds: readonly Bound[]): Promise<void> | undefined {
    if (performance.now() < this.#awayUntil) return undefined;
    const first = bounds.findIndex((bound) => !this.#takeNow(call, bound));
    return first === -1 ? undefined : this.#beginFrom(call, bounds, first);
  }

  /** Also for a call that was never counted, and more than once. */
  end(call: object): void {
    const held = this.#held.get(call) ?? [];
    this.#held.delete(call);
    for (const share of held) {
      share.ended();
      if (share.isWanted) void this.#finish(share);
    }
  }

  /** Deletes what gateways that were killed have left. */
  sweep(): Promise<void> {
    return this.#sweeping = this.#sweepAll().catch((error) =>
      this.#options.onWarning("Cannot delete old counts of limits", { error })
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await Promise.all(Array.from(this.#shares.values(), (share) => {
      share.close();
      return this.#finish(share);
    }));
  }

  #takeNow(call: object, bound: Bound): boolean {
    if (bound.perMinute === undefined && bound.concurrent === undefined) return true;
    const share = getOrMake(this.#shares, bound.key, () => new LimitShare(bound.key));
    if (!share.takeNow(bound, this.#second())) return false;
    this.#hold(call, bound, share);
    return true;
  }

  #hold(call: object, { concurrent }: Bound, share: LimitShare): void {
    if (concurrent !== undefined) getOrMake(this.#held, call, () => []).push(share);
  }

  async #beginFrom(call: object, bounds: readonly Bound[], first: number): Promise<void> {
    const undos: (() => void)[] = [];
    const counted = (bound: Bound, second = this.#shares.get(bound.key)?.second ?? 0) =>
      undos.push(() => this.#shares.get(bound.key)?.putBack(bound, second));
    for (const bound of bounds.slice(0, first)) counted(bound);
    for (const [nth, bound] of bounds.entries()) {
      if (nth < first) continue;
      if (nth > first && this.#takeNow(call, bound)) {
        counted(bound);
        continue;
      }
      try {
        const second = await this.#wait(call, bound);
        if (second !== undefined) counted(bound, second);
      } catch (error) {
        this.end(call);
        for (const undo of undos) undo();
        throw error;
      }
    }
  }

  /** The second in which the call is counted; undefined if the store does not answer. */
  async #wait(call: object, bound: Bound): Promise<number | undefined> {
    const share = this.#shares.get(bound.key)!;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const settle = (refusal?: GatewayError) => refusal ? reject(refusal) : resolve(true);
    const waiter: LimitWaiter = {
      ...{ bound, settle },
      ...{ hasAsked: false, isLacking: false, isCounted: false, isTimedOut: false, second: 0 },
    };
    share.waiting.push(waiter);
    void this.#finish(share);
    const { storeMs = STORE_MS } = this.#options;
    let isSettled: boolean | undefined;
    let conflicts = -1;
    // A store that answers with conflicts is not away.
    for (let nth = 0; nth < MOST_WAITS && !isSettled && share.conflicts > conflicts; nth++) {
      conflicts = share.conflicts;
      isSettled = await within(promise, storeMs);
    }
    waiter.isTimedOut = true;
    leave(share, waiter);
    if (waiter.isCounted) {
      this.#hold(call, bound, share);
      return waiter.second;
    }
    if (waiter.isLacking) throw concurrentExceeded(bound.whose, bound.concurrent ?? 0);
    if (isSettled) return undefined;
    if (share.conflicts > conflicts) throw contended(bound.whose);
    this.#isAway(new Error(`No answer within ${storeMs} ms`));
    return undefined;
  }

  #isAway(error: unknown): void {
    const message = "Shared call limits are unavailable: each gateway enforces its own";
    if (performance.now() >= this.#awayUntil) this.#options.onWarning(message, { error });
    this.#awayUntil = performance.now() + AWAY_MS;
  }

  /** Resolves when there is nothing left to do in the store. */
  async #finish(share: LimitShare): Promise<void> {
    while (share.hasWork(this.#second())) {
      share.working ??= this.#work(share).then(() => true, (error) => {
        this.#isAway(error);
        share.stored = undefined;
        for (const waiter of share.waiting.splice(0)) waiter.settle();
        return false;
      }).finally(() => share.working = undefined);
      if (!await share.working) return;
    }
  }

  async #work(share: LimitShare): Promise<void> {
    const { uses, mailbox } = this.#options;
    while (share.hasWork(this.#second())) {
      const isFresh = share.stored === undefined;
      share.stored ??= await uses.find(share.limit);
      const plan = share.plan(mailbox.id, this.#second());
      // Others may have given something back since it was read.
      if (plan.refused.size + plan.lacking.length > 0 && !isFresh) {
        share.stored = undefined;
        continue;
      }
      if (plan.isChanged && !await this.#write(share, plan)) continue;
      share.done(plan);
      this.#settle(share, plan);
      if (plan.lacking.length > 0) void this.#askOthers(share, plan.lacking);
    }
  }

  /** False if another gateway was faster. */
  async #write(share: LimitShare, plan: LimitPlan): Promise<boolean> {
    const versionstamp = share.stored?.versionstamp ?? null;
    share.stored = undefined;
    share.reserve(plan);
    try {
      const saved = await this.#options.uses.save(plan.use, versionstamp);
      share.stored = { value: plan.use, versionstamp: saved };
      return true;
    } catch (error) {
      share.restore(plan);
      if (!(error instanceof GatewayError) || error.code !== "CONFLICT") throw error;
      share.conflicts++;
      await sleep(Math.random() * RACE_MS);
      return false;
    }
  }

  #settle(share: LimitShare, { refused, lacking }: LimitPlan): void {
    for (const waiter of [...share.waiting]) {
      const refusal = refused.get(waiter);
      const isLacking = lacking.includes(waiter);
      waiter.isCounted = !refusal && !isLacking && share.takeNow(waiter.bound, this.#second());
      waiter.second = share.second;
      if (refusal || isLacking || waiter.isCounted) leave(share, waiter);
      if (refusal || waiter.isCounted) waiter.settle(refusal);
    }
  }

  /**
   * Has other gateways give back the places that they do not use. Not a part of the work on the share:
   * two gateways may ask each other.
   */
  async #askOthers(share: LimitShare, lacking: readonly LimitWaiter[]): Promise<void> {
    const { mailbox, isAlive, onWarning } = this.#options;
    for (const waiter of lacking) waiter.isLacking = true;
    const holders = Object.keys(share.stored?.value.places ?? {}).filter((id) => id !== mailbox.id);
    await sleep(Math.max(0, share.askedAt + ASK_GAP_MS - performance.now()));
    share.askedAt = performance.now();
    try {
      await Promise.all(holders.map(async (id) => {
        if (!await isAlive(id)) share.expiredHolders.add(id);
        // The mailbox itself looks only every few seconds whether an answer is late.
        else await within(mailbox.ask(id, TOPIC, share.limit, { limitMs: ASK_MS }), ASK_MS);
      }));
    } catch (error) {
      onWarning("Cannot ask another gateway for places for calls", { error });
    }
    share.stored = undefined;
    for (const waiter of lacking) [waiter.hasAsked, waiter.isLacking] = [true, false];
    share.waiting.push(...lacking.filter(({ isTimedOut }) => !isTimedOut));
    await this.#finish(share);
  }

  #tick(): void {
    for (const share of this.#shares.values()) {
      if (!share.isOver()) void this.#finish(share);
      else void this.#forget(share);
    }
  }

  async #sweepAll(): Promise<void> {
    for (const { limit, places } of await this.#options.uses.values()) {
      if (this.#shares.has(limit)) continue;
      const share = new LimitShare(limit);
      for (const id of Object.keys(places)) {
        if (!await this.#options.isAlive(id)) share.expiredHolders.add(id);
      }
      await this.#forget(share);
    }
  }

  /** Deletes an empty record. */
  async #forget(share: LimitShare): Promise<void> {
    if (this.#shares.get(share.limit) === share) this.#shares.delete(share.limit);
    const { uses, mailbox, onWarning } = this.#options;
    try {
      const found = share.stored = await uses.find(share.limit);
      const { begun, places } = share.plan(mailbox.id, this.#second()).use;
      if (!found || begun.length + Object.keys(places).length > 0) return;
      await uses.delete(share.limit, found.versionstamp);
    } catch (error) {
      if (error instanceof GatewayError && error.code === "CONFLICT") return;
      onWarning("Cannot delete the count of a limit", { error });
    }
  }

  #second(): number {
    return Math.floor((this.#options.now ?? forwardNow)() / 1_000);
  }
}

function leave(share: LimitShare, waiter: LimitWaiter): void {
  const at = share.waiting.indexOf(waiter);
  if (at !== -1) share.waiting.splice(at, 1);
}
