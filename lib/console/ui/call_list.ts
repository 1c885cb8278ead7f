import type { ActivityRecord } from "../../storage/activity_repository.ts";

/** As many calls as a page holds at most. */
export const MOST_ROWS = 100_000;

type Rows = readonly ActivityRecord[];

/**
 * The list with the newest calls as they are now. Where these do not reach back to what is there,
 * calls in between are unknown: then the list begins anew, and the older ones are asked for again.
 */
export function withNewest(rows: Rows, newest: Rows): { rows: Rows; isAnew: boolean } {
  if (rows.length === 0 || newest.length === 0) {
    return { rows: newest.length === 0 ? rows : newest, isAnew: true };
  }
  const ids = new Set(newest.map(({ id }) => id));
  const first = rows.findIndex(({ id }) => ids.has(id));
  if (first < 0) return { rows: newest, isAnew: true };
  const last = rows.findLastIndex(({ id }) => ids.has(id));
  // Those before the first one have come since they were asked for.
  return {
    rows: cut([...rows.slice(0, first), ...newest, ...rows.slice(last + 1)]),
    isAnew: false,
  };
}

/** The list with calls that have just been answered, the newest of them first. */
export function withHeard(rows: Rows, heard: Rows): Rows {
  const known = new Set(rows.slice(0, heard.length + 1_000).map(({ id }) => id));
  return cut([...heard.filter(({ id }) => !known.has(id)), ...rows]);
}

export function withOlder(rows: Rows, older: Rows): Rows {
  const known = new Set(rows.slice(-older.length - 1_000).map(({ id }) => id));
  return cut([...rows, ...older.filter(({ id }) => !known.has(id))]);
}

/** Whether a call passes the filter as the address says it, its text aside. */
export function passes(call: ActivityRecord, query: Record<string, string>): boolean {
  const { server, tool, client, door, status } = query;
  return (server === undefined || call.server === server) &&
    (tool === undefined || call.tool === tool) &&
    (client === undefined || call.client === client) &&
    (door === undefined || call.door === door) &&
    (status === undefined || call.ok === (status === "ok"));
}

/** Calls as the live channel tells them, the newest first; undefined where it tells no calls. */
export function readHeard(
  data: unknown,
): { calls: ActivityRecord[]; skipped: number } | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { calls, skipped } = data as { calls?: ActivityRecord[]; skipped?: number };
  if (!Array.isArray(calls)) return undefined;
  return { calls: calls.toReversed(), skipped: Number(skipped ?? 0) };
}

function cut(rows: ActivityRecord[]): Rows {
  return rows.length > MOST_ROWS ? rows.slice(0, MOST_ROWS) : rows;
}
