import * as z from "zod";
import { TrialArm } from "../core/live_trial.ts";
import { collection, deleteAll, deleteFound, Repository } from "./collection.ts";
import { keys } from "./keys.ts";

/** What became of one session in a live A/B. Times in ms since the epoch. */
export const TrialSession = z.strictObject({
  trialId: z.string(),
  /** A hash of what names the session. */
  unit: z.string(),
  arm: TrialArm,
  shownAt: z.number(),
  firstCallAt: z.number().optional(),
  endedAt: z.number().optional(),
  calls: z.int().default(0),
  failed: z.int().default(0),
  refused: z.int().default(0),
  retries: z.int().default(0),
  marked: z.int().default(0),
});
export type TrialSession = z.infer<typeof TrialSession>;

const Sessions = collection({
  noun: "session in a live A/B",
  key: keys.trialSessions,
  schema: TrialSession,
  idOf: ({ trialId, unit }) => [trialId, unit],
  announce: false,
});

/** Another gateway may change the same session this often in a row. */
const MAX_RACES = 20;

/** Never announced: whoever decides reads them. */
export class TrialSessionsRepository extends Repository {
  readonly #sessions = new Sessions(this.store);

  list(trialId: string): Promise<TrialSession[]> {
    return this.#sessions.values({ under: [trialId] });
  }

  /** One compare-and-set: several gateways may serve one session. */
  async change(
    { trialId, unit }: Pick<TrialSession, "trialId" | "unit">,
    change: (before: TrialSession | undefined) => TrialSession | undefined,
  ): Promise<void> {
    const key = keys.trialSessions(trialId, unit);
    for (let race = 0; race < MAX_RACES; race++) {
      const found = await this.#sessions.find([trialId, unit]);
      const value = change(found?.value);
      if (value === undefined || value === found?.value) return;
      const checks = [{ key, versionstamp: found?.versionstamp ?? null }];
      const saved = await this.store.tryCommit({ checks, sets: [{ key, value }], announce: false });
      if (saved !== undefined) return;
    }
  }

  async deleteTrial(trialId: string): Promise<void> {
    await deleteFound(this.store, { prefix: keys.trialSessions(trialId) });
  }

  /** Deletes what is left of trials that have ended. */
  async prune({ running, before }: { running: ReadonlySet<string>; before: number }) {
    const left = [];
    for await (const { value } of this.#sessions.list()) {
      const { trialId, unit, shownAt } = value;
      if (!running.has(trialId) && shownAt < before) left.push(keys.trialSessions(trialId, unit));
    }
    await deleteAll(this.store, left);
  }
}
