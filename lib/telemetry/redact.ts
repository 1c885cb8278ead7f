const MASK = "[redacted]";
const MAX_DEPTH = 8;
const MAX_TEXT = 4_096;
const MAX_ITEMS = 64;
/** Shorter values ("1", "true", "prod") would blank out innocent text everywhere. */
const MIN_SECRET = 6;
/** Of secrets that replace each other: what was sent with the one before may be answered to yet. */
const KEPT_FORMER = 2;

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
  /** Those that come and go, by their owner; the newest first. */
  readonly #passing = new Map<string, string[][]>();
  /** Made when it is needed: many are learned at once. */
  #known: Known | undefined;

  /** Values that must never be written; an owner's only until it has had others for a while. */
  learn(values: Iterable<string>, owner?: string): void {
    const spelled = [...values].filter(({ length }) => length >= MIN_SECRET).flatMap(spellings);
    const former = owner === undefined ? [] : this.#passing.get(owner) ?? [];
    const known = owner === undefined ? this.#secrets : new Set(former[0]);
    if (spelled.every((value) => known.has(value))) return;
    if (owner === undefined) { for (const value of spelled) this.#secrets.add(value); }
    else this.#passing.set(owner, [spelled, ...former].slice(0, KEPT_FORMER));
    this.#known = undefined;
  }

  /** A text with every known or evident secret masked. */
  text(text: string): string {
    const { pattern } = this.#pattern();
    let clean = pattern ? text.replace(pattern, MASK) : text;
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
    return copy(value, 0, new Set(), {
      stacks: options.stacks ?? false,
      cut: (text, most = MAX_TEXT) => this.#cut(text, most),
      ...(options.isWhole ? WHOLE : SHORT),
    });
  }

  /** In front of a known secret, never through it: its beginning would not be recognized. */
  #cut(text: string, most: number): string {
    if (text.length <= most) return text;
    const { pattern, longest } = this.#pattern();
    const found = pattern ? [...text.slice(0, most + longest).matchAll(pattern)] : [];
    const across = found.find(({ index, 0: { length } }) => index < most && index + length > most);
    const end = across?.index ?? most;
    return `${text.slice(0, end)}... [+${text.length - end} characters]`;
  }

  #pattern(): Known {
    if (this.#known) return this.#known;
    const all = new Set([...this.#secrets, ...[...this.#passing.values()].flat(2)]);
    const longestFirst = [...all].sort((a, b) => b.length - a.length);
    return this.#known = {
      pattern: longestFirst.length === 0
        ? undefined
        : new RegExp(longestFirst.map(escapeRegExp).join("|"), "g"),
      longest: longestFirst[0]?.length ?? 0,
    };
  }
}

interface Known {
  pattern: RegExp | undefined;
  longest: number;
}

type Cut = (text: string, most?: number) => string;

interface CopyOptions {
  depth: number;
  text: number;
  items: number;
  stacks: boolean;
  cut: Cut;
}

const SHORT = { depth: MAX_DEPTH, text: MAX_TEXT, items: MAX_ITEMS };
const WHOLE = { depth: WHOLE_DEPTH, text: Infinity, items: Infinity };

function copy(
  value: unknown,
  depth: number,
  path: Set<object>,
  options: CopyOptions,
): unknown {
  const { cut, items: most } = options;
  if (typeof value === "string") return cut(value, options.text);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (path.has(value)) return "[circular]";
  if (depth >= options.depth) return "[too deep]";
  if (value instanceof Date) return Number.isNaN(+value) ? "[invalid date]" : value.toISOString();
  if (value instanceof URL) return cut(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  path.add(value);
  try {
    const inner = (item: unknown) => copy(item, depth + 1, path, options);
    if (value instanceof Error) return copyError(value, inner, options);
    if (value instanceof Headers) return copyHeaders(Object.fromEntries(value), cut);
    if (value instanceof Map) return { map: inner([...value]) };
    if (value instanceof Set) return { set: inner([...value]) };
    if (Array.isArray(value)) {
      const items = value.slice(0, most).map(inner);
      return value.length > most ? [...items, `[+${value.length - most} more]`] : items;
    }
    return copyObject(value, inner, options);
  } finally {
    path.delete(value);
  }
}

function copyObject(
  value: object,
  inner: (item: unknown) => unknown,
  { cut, items: most }: CopyOptions,
): Record<string, unknown> {
  const entries = Object.entries(value);
  const result: Record<string, unknown> = {};
  for (const [key, item] of entries.slice(0, most)) {
    result[key] = isSecret(key, item) ? mask(key, item, cut) : inner(item);
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
function mask(key: string, item: unknown, cut: Cut): unknown {
  if (item === undefined || item === null) return item;
  if (typeof item !== "object") return MASK;
  const entries = item instanceof Headers ? [...item] : Object.entries(item);
  if (/^headers$/i.test(key)) return copyHeaders(Object.fromEntries(entries), cut);
  return /^env$/i.test(key) ? Object.fromEntries(entries.map(([name]) => [name, MASK])) : MASK;
}

function copyHeaders(headers: Record<string, unknown>, cut: Cut): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).slice(0, MAX_ITEMS).map(([name, value]) => [
      name,
      PLAIN_HEADER.test(name) ? cut(String(value)) : MASK,
    ]),
  );
}

function copyError(error: Error, inner: (item: unknown) => unknown, { stacks, cut }: CopyOptions) {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: cut(error.message),
    ...(typeof code === "string" ? { code } : {}),
    ...(stacks && error.stack ? { stack: cut(error.stack) } : {}),
    ...(error.cause === undefined ? {} : { cause: inner(error.cause) }),
  };
}

/** As it is, and as it looks inside a JSON string and inside a URL. */
function spellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
