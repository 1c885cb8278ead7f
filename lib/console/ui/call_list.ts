import type { ListedCall } from "./listed_call.ts";

/** As many calls as a page holds at most. */
export const MOST_ROWS = 100_000;
/** Rows are nearly in the order of time: so many are looked at before that is relied on. */
const LOOKED_AT = 1_000;

type Rows = readonly ListedCall[];

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
  // What is not among them has come since they were asked for.
  const missing = rows.slice(first, last).filter(({ id }) => !ids.has(id));
  const joined = [...rows.slice(0, first), ...newest, ...rows.slice(last + 1)];
  return { rows: missing.length > 0 ? withHeard(joined, missing) : cut(joined), isAnew: false };
}

/** The list with calls that were heard of: those of other gateways come late, and go to their place. */
export function withHeard(rows: Rows, heard: Rows): Rows {
  const oldest = heard.reduce((least, { at }) => Math.min(least, at), Infinity);
  const older = rows.findIndex(({ at }, index) => index >= LOOKED_AT && at < oldest);
  const head = older < 0 ? rows : rows.slice(0, older);
  const known = new Set(head.map(({ id }) => id));
  const added = [...heard.filter(({ id }) => !known.has(id)), ...head];
  const isLate = oldest < (rows[0]?.at ?? 0);
  return cut([
    ...(isLate ? added.sort((a, b) => b.at - a.at) : added),
    ...rows.slice(head.length),
  ]);
}

export function withOlder(rows: Rows, older: Rows): Rows {
  const known = new Set(rows.slice(-older.length - 1_000).map(({ id }) => id));
  return cut([...rows, ...older.filter(({ id }) => !known.has(id))]);
}

/** Whether a call passes the filter as the address says it, its text aside. */
export function passes(call: ListedCall, query: Record<string, string>): boolean {
  const { server, tool, client, door, status } = query;
  return (server === undefined || call.server === server) &&
    (tool === undefined || call.tool === tool) &&
    (client === undefined || call.client === client) &&
    (door === undefined || call.door === door) &&
    (status === undefined || call.ok === (status === "ok"));
}

function cut(rows: ListedCall[]): Rows {
  return rows.length > MOST_ROWS ? rows.slice(0, MOST_ROWS) : rows;
}
