import type { ActivityRepository } from "../storage/activity_repository.ts";
import type { ActivityLog } from "./activity_log.ts";
import { CallStats } from "./call_stats.ts";

/** How far back the record is read at first; a busy gateway's day may hold more. */
const MOST_CALLS = 50_000;
const DAY_MS = 24 * 60 * 60_000;

export interface CountedCallsOptions {
  activity: ActivityLog;
  repository: ActivityRepository;
  onWarning(message: string, details?: object): void;
}

export interface CountedCalls {
  stats: CallStats;
  /** When the calls from before it was first asked for are in it; never rejects. */
  loaded: Promise<void>;
}

/** Counts calls as they are recorded, and those of the last day that the record has. */
export function countCalls({ activity, repository, onWarning }: CountedCallsOptions): CountedCalls {
  const stats = new CallStats();
  const since = Date.now();
  activity.onEntry((entry) => stats.add(entry));
  const load = async () => {
    // What still waits for the store was called before we listened.
    await activity.flush();
    for await (const entry of repository.recent(MOST_CALLS)) {
      if (entry.at < since - DAY_MS) break;
      if (entry.at < since) stats.add(entry);
    }
  };
  const loaded = load().catch((error) =>
    onWarning("Cannot read the calls of the last day", { error })
  );
  return { stats, loaded };
}
