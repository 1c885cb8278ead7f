/** A value as one field of a CSV file, quoted where it has to be. */
export function csvField(value: string | number | null | undefined): string {
  if (typeof value !== "string") return value === null || value === undefined ? "" : `${value}`;
  // What a spreadsheet would run as a formula stays text, in whatever way it is spelled.
  const safe = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
