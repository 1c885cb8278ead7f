import { nearestNames } from "../core/text.ts";

/** One page of a list that may be long. */
export interface Paged<T> {
  rows: T[];
  total: number;
  page: number;
  pages: number;
  /** The place of the first row, counted from 1; 0 where there is none. */
  first: number;
  last: number;
}

export const PAGE_SIZE = 100;

/** Cuts out the page asked for; a number beyond the ends gives the nearest page there is. */
export function paged<T>(items: readonly T[], wanted: string | null, size = PAGE_SIZE): Paged<T> {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const number = /^\d{1,6}$/.test(wanted ?? "") ? Number(wanted) : 1;
  const page = Math.min(Math.max(1, number), pages);
  const start = (page - 1) * size;
  const rows = items.slice(start, start + size);
  return {
    rows,
    total: items.length,
    page,
    pages,
    first: rows.length === 0 ? 0 : start + 1,
    last: start + rows.length,
  };
}

/** The same address with some of its query changed; an undefined value takes the key out. */
export function withQuery(url: URL, changes: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const [key, value] of url.searchParams) {
    // Keys of the framework are none of ours to hand on.
    if (!(key in changes) && !key.startsWith("fresh-")) query.append(key, value);
  }
  for (const [key, value] of Object.entries(changes)) {
    if (value !== undefined && value !== "") query.set(key, value);
  }
  const search = query.toString();
  return search === "" ? url.pathname : `${url.pathname}?${search}`;
}

/** The stretch of a long list that a place is in; the same for its neighbors, so it stands still. */
export function stretchAround<T>(items: readonly T[], at: number, size: number): T[] {
  const start = Math.floor(at / size) * size;
  return items.slice(start, start + size);
}

/** A name that nothing has, and those that may have been meant. */
export interface MissingName {
  missing: string;
  nearest: string[];
}

export function missingName(missing: string, names: readonly string[]): MissingName {
  return { missing, nearest: nearestNames(missing, names) };
}

/** The order of a table, as its address says it: `?sort=tools&dir=desc`. */
export interface Sorting<Column extends string> {
  column: Column;
  descending: boolean;
}

export function readSorting<Column extends string>(
  query: URLSearchParams,
  columns: readonly [Column, ...Column[]],
): Sorting<Column> {
  const wanted = query.get("sort");
  const column = columns.find((column) => column === wanted) ?? columns[0];
  return { column, descending: query.get("dir") === "desc" };
}

export function nextSorting<Column extends string>(
  current: Sorting<Column>,
  column: Column,
  isLargestFirst = false,
): { sort: string; dir: string | undefined } {
  const isDescending = current.column === column ? !current.descending : isLargestFirst;
  return { sort: column, dir: isDescending ? "desc" : undefined };
}

/** Text by its letters, then by its code units, so that the order never depends on the machine. */
export function compareText(a: string, b: string): number {
  const left = a.toLowerCase();
  const right = b.toLowerCase();
  if (left !== right) return left < right ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
