const RESULTS = "quartermaster://results/";

/** The first page is what went back at once. */
export function resultUri(id: string, page: number): string {
  return `${RESULTS}${id}?page=${page}`;
}

export function isResultUri(uri: unknown): uri is string {
  return typeof uri === "string" && uri.startsWith(RESULTS);
}

/** Empty and 0 where the URI is none that was given out. */
export function parseResultUri(uri: string): { id: string; page: number } {
  const [, id = "", page = "0"] = /^([0-9a-f-]{36})\?page=(\d{1,6})$/
    .exec(uri.slice(RESULTS.length)) ?? [];
  return { id, page: Number(page) };
}
