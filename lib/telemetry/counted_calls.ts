import type { ActivityRecord, ActivityRepository } from "../storage/activity_repository.ts";
import type { ActivityLog } from "./activity_log.ts";
import { CallStats } from "./call_stats.ts";

/** How far back the record is read at first; a busy gateway's day may hold more. */
const MOST_CALLS = 50_000;
const DAY_MS = 24 * 60 * 60_000;
/** Another process may write a call so long after it was made. */
const LATE_MS = 5 * 60_000;

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
  /** Calls from shortly before: the record may have them, or another process tell them later. */
  const late = new Set<string>();
  const addOnce = (entry: ActivityRecord) => {
    if (late.has(entry.id)) return;
    late.add(entry.id);
    stats.add(entry);
  };
  activity.onEntry((entry) => {
    if (entry.at >= since) stats.add(entry);
    else if (entry.at >= since - LATE_MS) addOnce(entry);
  });
  const load = async () => {
    // What still waits for the store was called before we listened.
    await activity.flush();
    for await (const entry of repository.recent(MOST_CALLS)) {
      if (entry.at < since - DAY_MS) break;
      if (entry.at >= since) continue;
      if (entry.at >= since - LATE_MS) addOnce(entry);
      else stats.add(entry);
    }
  };
  const loaded = load().catch((error) =>
    onWarning("Cannot read the calls of the last day", { error })
  );
  return { stats, loaded };
}
