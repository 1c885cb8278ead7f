const MASK = "[redacted]";
const MAX_DEPTH = 8;
const MAX_TEXT = 4_096;
const MAX_ITEMS = 64;
/** Shorter values ("1", "true", "prod") would blank out innocent text everywhere. */
const MIN_SECRET = 6;

const SECRET_KEY =
  /^(authorization|proxy-authorization|(set-)?cookie|env|headers)$|token|secret|passw(or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key/i;
/** Values worth reading in a map of headers; everything else there is masked. */
const PLAIN_HEADER =
  /^(accept|accept-.*|content-(type|length|encoding)|host|user-agent|mcp-protocol-version|cache-control)$/i;

/** Texts are anybody's: each pattern takes time in proportion to the text, whatever that says. */
const SECRET_TEXT: [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  // Without the scheme: to look for its beginning takes the square of a long word's length.
  [/:\/\/[^\s/@"\\]+@/g, `://${MASK}@`],
  [
    /([?&;](?:[a-z_-]*(?:token|secret|password|api_?key|signature)|key|code|sig)=)[^&\s"'\\#]+/gi,
    `$1${MASK}`,
  ],
  [/\b(?:sk|pk|ghp|gho|ghs|ghr|xox[abpr])[-_][A-Za-z0-9_-]{16,}/g, MASK],
];

/** A member of JSON whose value is a text that may break off, in JSON and inside a text of it. */
const TEXT_MEMBERS = [
  /("([^"\\]{1,100})"\s*:\s*")(?:[^"\\]|\\.)*/gs,
  /(\\"([^"\\]{1,100})\\"\s*:\s*\\")(?:[^"\\]|\\\\\\"|\\[^"])*/gs,
];
/** Of a copy that is to be whole; deeper things are built to break what walks through them. */
const WHOLE_DEPTH = 64;

/** Keeps secrets, cycles and floods out of the log. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #known: RegExp | undefined;

  /** Remembers values that must never be written, wherever they turn up. */
  learn(values: Iterable<string>): void {
    for (const value of values) {
      if (value.length < MIN_SECRET) continue;
      this.#secrets.add(value);
      // As it looks inside a JSON string and inside a URL.
      this.#secrets.add(JSON.stringify(value).slice(1, -1));
      this.#secrets.add(encodeURIComponent(value));
    }
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length);
    this.#known = longestFirst.length === 0
      ? undefined
      : new RegExp(longestFirst.map(escapeRegExp).join("|"), "g");
  }

  /** A text with every known or evident secret masked. */
  text(text: string): string {
    let clean = this.#known ? text.replace(this.#known, MASK) : text;
    for (const [pattern, replacement] of SECRET_TEXT) clean = clean.replace(pattern, replacement);
    return clean;
  }

  /** Like text(), of a text that is JSON or the beginning of it: members are judged by their names. */
  json(text: string): string {
    let clean = text;
    for (const pattern of TEXT_MEMBERS) {
      clean = clean.replace(
        pattern,
        (member, start: string, key: string) => isSecret(key, "") ? `${start}${MASK}` : member,
      );
    }
    return this.text(clean);
  }

  /** A copy that is safe to serialize: secrets masked, cycles broken, long things cut. */
  value(value: unknown, options: { stacks?: boolean; isWhole?: boolean } = {}): unknown {
    const limits = options.isWhole ? WHOLE : SHORT;
    return copy(value, 0, new Set(), { stacks: options.stacks ?? false, ...limits });
  }
}

interface Limits {
  depth: number;
  text: number;
  items: number;
}

const SHORT: Limits = { depth: MAX_DEPTH, text: MAX_TEXT, items: MAX_ITEMS };
const WHOLE: Limits = { depth: WHOLE_DEPTH, text: Infinity, items: Infinity };

function copy(
  value: unknown,
  depth: number,
  path: Set<object>,
  limits: Limits & { stacks: boolean },
): unknown {
  if (typeof value === "string") return cut(value, limits.text);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (path.has(value)) return "[circular]";
  if (depth >= limits.depth) return "[too deep]";
  if (value instanceof Date) return Number.isNaN(+value) ? "[invalid date]" : value.toISOString();
  if (value instanceof URL) return cut(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  path.add(value);
  try {
    const inner = (item: unknown) => copy(item, depth + 1, path, limits);
    if (value instanceof Error) return copyError(value, inner, limits.stacks);
    if (value instanceof Headers) return copyHeaders(Object.fromEntries(value));
    if (value instanceof Map) return { map: inner([...value]) };
    if (value instanceof Set) return { set: inner([...value]) };
    if (Array.isArray(value)) {
      const most = limits.items;
      const items = value.slice(0, most).map(inner);
      return value.length > most ? [...items, `[+${value.length - most} more]`] : items;
    }
    return copyObject(value, inner, limits.items);
  } finally {
    path.delete(value);
  }
}

function copyObject(
  value: object,
  inner: (item: unknown) => unknown,
  most: number,
): Record<string, unknown> {
  const entries = Object.entries(value);
  const result: Record<string, unknown> = {};
  for (const [key, item] of entries.slice(0, most)) {
    result[key] = isSecret(key, item) ? mask(key, item) : inner(item);
  }
  if (entries.length > most) result["..."] = `[+${entries.length - most} more]`;
  return result;
}

function isSecret(key: string, item: unknown): boolean {
  if (!SECRET_KEY.test(key) || key === "progressToken") return false;
  // maxTokens, tokens_saved and the like count.
  return !(typeof item === "number" && /token/i.test(key));
}

/** Maps of headers and of environment variables keep their names: those help, values do not. */
function mask(key: string, item: unknown): unknown {
  if (item === undefined || item === null) return item;
  if (typeof item !== "object") return MASK;
  const entries = item instanceof Headers ? [...item] : Object.entries(item);
  if (/^headers$/i.test(key)) return copyHeaders(Object.fromEntries(entries));
  return /^env$/i.test(key) ? Object.fromEntries(entries.map(([name]) => [name, MASK])) : MASK;
}

function copyHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).slice(0, MAX_ITEMS).map(([name, value]) => [
      name,
      PLAIN_HEADER.test(name) ? cut(String(value)) : MASK,
    ]),
  );
}

function copyError(error: Error, inner: (item: unknown) => unknown, stacks: boolean) {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: cut(error.message),
    ...(typeof code === "string" ? { code } : {}),
    ...(stacks && error.stack ? { stack: cut(error.stack) } : {}),
    ...(error.cause === undefined ? {} : { cause: inner(error.cause) }),
  };
}

function cut(text: string, most = MAX_TEXT): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most)}... [+${text.length - most} characters]`;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
