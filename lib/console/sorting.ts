/** The order of a table, as its address says it: `?sort=tools&dir=desc`. */
export interface Sorting<Column extends string> {
  column: Column;
  descending: boolean;
}

/** Reads the order from the address; what is not a column falls back to the first. */
export function readSorting<Column extends string>(
  query: URLSearchParams,
  columns: readonly [Column, ...Column[]],
): Sorting<Column> {
  const wanted = query.get("sort");
  const column = columns.find((column) => column === wanted) ?? columns[0];
  return { column, descending: query.get("dir") === "desc" };
}

/** The query that a click on a column's heading leads to. */
export function nextSorting<Column extends string>(
  current: Sorting<Column>,
  column: Column,
): { sort: string; dir: string | undefined } {
  const turn = current.column === column && !current.descending;
  return { sort: column, dir: turn ? "desc" : undefined };
}

/** Text by its letters, then by its code units, so that the order never depends on the machine. */
export function compareText(a: string, b: string): number {
  const left = a.toLowerCase();
  const right = b.toLowerCase();
  if (left !== right) return left < right ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
