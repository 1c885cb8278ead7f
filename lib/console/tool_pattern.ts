/** Whether somebody wrote a pattern in place of words. */
export function isPattern(text: string): boolean {
  return text.includes("*");
}

/**
 * Tools by a pattern in which `*` stands for any letters, none too. With a dot it is about whole
 * names (`git.*`), without one about the server's own names (`*read*`).
 */
export function toolPattern(written: string): (tool: { server: string; name: string }) => boolean {
  const parts = written.toLowerCase().split("*");
  const isWhole = written.includes(".");
  return ({ server, name }) => fits((isWhole ? `${server}.${name}` : name).toLowerCase(), parts);
}

/** Part by part from the left, so that no pattern takes long, whatever somebody writes. */
function fits(text: string, parts: readonly string[]): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
