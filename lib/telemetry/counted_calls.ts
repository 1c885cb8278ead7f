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
  /** Calls around that time: the record may have them, or another process tell them later. */
  const seen = new Set<string>();
  const addOnce = (entry: ActivityRecord) => {
    if (seen.has(entry.id)) return;
    seen.add(entry.id);
    stats.add(entry);
  };
  let isLoading = true;
  activity.onEntry((entry) => {
    if (entry.at < since - LATE_MS || seen.has(entry.id)) return;
    if (isLoading || entry.at < since) addOnce(entry);
    else stats.add(entry);
  });
  // Called before we listened, perhaps in this millisecond, and not in the record yet.
  for (const entry of activity.unwritten()) addOnce(entry);
  const load = async () => {
    for await (const entry of repository.recent(MOST_CALLS)) {
      if (entry.at < since - DAY_MS) break;
      if (entry.at >= since - LATE_MS) addOnce(entry);
      else if (!seen.has(entry.id)) stats.add(entry);
    }
  };
  const loaded = load()
    .catch((error) => onWarning("Cannot read the calls of the last day", { error }))
    .finally(() => isLoading = false);
  return { stats, loaded };
}
