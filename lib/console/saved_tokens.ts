import type { Gateway } from "../compose.ts";

/** What lazy loading spared models in one day. */
export interface SavedDay {
  /** As 2026-01-31. */
  day: string;
  searches: number;
  saved: number;
  /** What all tools would have cost. */
  baseline: number;
}

const DAYS = 7;

/** The last days with searches, newest first; empty where the store does not give them. */
export async function savedTokens(gateway: Pick<Gateway, "activityDays">): Promise<SavedDay[]> {
  // A store that fails says so itself, on every page.
  const days = await gateway.activityDays().catch(() => []);
  return days.filter(({ searches }) => searches > 0).slice(0, DAYS).map((day) => ({
    day: day.day,
    searches: day.searches,
    saved: Math.max(0, day.baselineTokens - day.returnedTokens),
    baseline: day.baselineTokens,
  }));
}
