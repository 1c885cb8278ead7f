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
