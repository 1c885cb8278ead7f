/**
 * Texts of others as data for a model: one JSON value a line between two tags. Nothing inside can
 * end the block, whatever a server writes, because no `<` is left in it. What does not fit into
 * `room` characters, tags included, is left out from the end.
 */
export function dataBlock(tag: string, values: readonly unknown[], room: number): string {
  const [open, close] = [`<${tag}>\n`, `</${tag}>`];
  const cut = "(cut: there is more)\n";
  let left = room - open.length - close.length - cut.length;
  let lines = "";
  for (const value of values) {
    const line = `${asDataText(value)}\n`;
    if (line.length > left) {
      lines += cut;
      break;
    }
    lines += line;
    left -= line.length;
  }
  return `${open}${lines}${close}`;
}

/** JSON without `<`, `>` and line breaks of any kind. */
export function asDataText(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u0085\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
