import { elementTexts, isObject, memberSpans, replaceSpan } from "../../core/rpc.ts";
import { type Mailbox, PeerGone } from "../../storage/mailbox.ts";
import {
  PAGES_TOPIC,
  type PageWish,
  parseResultUri,
  type PendingCall,
  resultUri,
} from "./control.ts";
import { forwardNow } from "../../core/clock.ts";
import { sessionKeyOf } from "../../core/client.ts";

/** Most texts have about so many characters a token. */
const USUAL_RATIO = 4;
const SAMPLE = 2_000;
const KEPT_MS = 10 * 60_000;
/** 20 MB where every character takes two bytes. */
const MOST_KEPT = 10_000_000;

/** How long another gateway may take to find a page. */
const ASK_MS = 2_000;

export interface ResultPagesOptions {
  /** Reaches the other gateways on the store. */
  mailbox: Pick<Mailbox, "id" | "ask">;
  /** How many tokens a text has; 0 where that cannot be counted now. */
  count(text: string): Promise<number>;
  mostKept?: number;
  now?(): number;
}

interface Kept {
  /** The session that made the call, as the caller it was then. */
  owner: string;
  pages: readonly ResultPage[];
  size: number;
  expiresAt: number;
}

/** Cuts results that are too long, and keeps the rest for the session that asked, for a while. */
export class ResultPages implements Disposable {
  readonly #options: ResultPagesOptions;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ResultPagesOptions) {
    this.#options = options;
    this.#now = options.now ?? forwardNow;
  }

  /** An answer whose result has at most about so many tokens. */
  async shorten({ tool, client }: PendingCall, answer: string, maxTokens: number): Promise<string> {
    const span = memberSpans(answer).get("result");
    if (!span) return answer;
    const result = answer.slice(span.start, span.end);
    const parts = result.startsWith("{") ? partsOf(result) : undefined;
    const ratio = parts && await this.#ratioWhereTooLong(result, maxTokens);
    if (!parts || ratio === undefined) return answer;
    const id = crypto.randomUUID();
    const uriOf = (page: number) => resultUri(this.#options.mailbox.id, id, page);
    const tokens = (size: number) => Math.ceil(size / ratio).toLocaleString("en");
    const most = Math.floor(maxTokens * ratio);
    const cutSaying = (where: (page: number) => string) =>
      cutResult(parts, {
        most,
        replacement: (what, size, page) =>
          `[${what}, about ${tokens(size)} tokens, exceeds this gateway's limit: ` +
          `${where(page)}]`,
      });
    const kept = cutSaying((page) => `read it with resources/read of ${uriOf(page)}`);
    if (!kept) return answer;
    const left = kept.pages.reduce((sum, page) => sum + sizeOf(page), 0);
    const owner = sessionKeyOf(client);
    const isKept = owner !== undefined && this.#keep(id, owner, kept.pages, left);
    // How much is left is known by the cut alone, and nobody is sent to a page that is not there.
    const cut = isKept ? kept : cutSaying(() => "it is too large to store") ?? kept;
    const note = isKept
      ? `[Cut by the gateway: about ${tokens(cut.shown)} tokens are shown, about ${
        tokens(left)
      } remain. Continue with resources/read of ${uriOf(2)}${
        cut.pages.length > 1 ? `, to ?page=${cut.pages.length + 1}` : ""
      }, at the same endpoint and in the same session, within ${KEPT_MS / 60_000} minutes.]`
      : `[Cut by the gateway: about ${tokens(cut.shown)} tokens are shown. The other ${
        tokens(left)
      } are too many to store: request less at a time.]`;
    // A client that knows the output's schema refuses a success without structured content.
    const mustFail = parts.structured !== undefined && cut.structured === undefined &&
      tool.definition.outputSchema !== undefined;
    return replaceSpan(answer, span, cutText(result, cut, note, mustFail));
  }

  /** As read(), at the gateway that keeps the page. */
  async find(uri: string, session: string): Promise<string | undefined> {
    const { mailbox } = this.#options;
    const { gateway } = parseResultUri(uri) ?? {};
    if (gateway === undefined || gateway === mailbox.id) return this.read(uri, session);
    const body = JSON.stringify({ uri, session } satisfies PageWish);
    try {
      return await mailbox.ask(gateway, PAGES_TOPIC, body, { limitMs: ASK_MS }) || undefined;
    } catch (error) {
      // Its pages went with it.
      if (error instanceof PeerGone) return undefined;
      throw error;
    }
  }

  /** The result of reading a page; undefined if it is not here, or not the session's. */
  read(uri: string, session: string): string | undefined {
    const { gateway = "", id = "", page: number = 0 } = parseResultUri(uri) ?? {};
    const kept = this.#kept.get(id);
    const page = kept?.pages[number - 2];
    if (!kept || !page || kept.owner !== session || kept.expiresAt <= this.#now()) return undefined;
    const last = kept.pages.length + 1;
    const next = number < last ? `; next: ${resultUri(gateway, id, number + 1)}` : "";
    const note = `[Page ${number} of ${last}${next}]`;
    const contents = "text" in page && page.mimeType === "text/plain"
      ? [{ uri, ...page, text: `${page.text}\n\n${note}` }]
      : [{ uri, ...page }, { uri, mimeType: "text/plain", text: note }];
    return JSON.stringify({ contents });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#kept.clear();
    this.#size = 0;
  }

  /** Characters a token; undefined where the result is short enough. Only a close call is counted. */
  async #ratioWhereTooLong(result: string, maxTokens: number): Promise<number | undefined> {
    const usual = result.length / USUAL_RATIO;
    if (usual * 2 <= maxTokens) return undefined;
    if (usual > maxTokens * 2) return USUAL_RATIO;
    const sample = sampleOf(result);
    const counted = await this.#options.count(sample);
    const ratio = counted > 0 ? sample.length / counted : USUAL_RATIO;
    return result.length / ratio > maxTokens ? ratio : undefined;
  }

  #keep(id: string, owner: Kept["owner"], pages: readonly ResultPage[], size: number): boolean {
    const { mostKept = MOST_KEPT } = this.#options;
    if (size > mostKept) return false;
    this.#prune(mostKept - size);
    this.#kept.set(id, { owner, pages, size, expiresAt: this.#now() + KEPT_MS });
    this.#size += size;
    this.#pruneLater(KEPT_MS);
    return true;
  }

  #pruneLater(ms: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#prune(Infinity);
      const [oldest] = this.#kept.values();
      if (oldest) this.#pruneLater(Math.max(1_000, oldest.expiresAt - this.#now()));
    }, ms);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** Forgets what is over, and the oldest until no more than `most` is kept. */
  #prune(most: number): void {
    const now = this.#now();
    for (const [id, { size, expiresAt }] of this.#kept) {
      if (expiresAt > now && this.#size <= most) break;
      this.#kept.delete(id);
      this.#size -= size;
    }
  }
}

function sizeOf(page: ResultPage): number {
  return ("blob" in page ? page.blob : page.text).length;
}

function sampleOf(text: string): string {
  if (text.length <= 3 * SAMPLE) return text;
  const middle = Math.floor((text.length - SAMPLE) / 2);
  return text.slice(0, SAMPLE) + text.slice(middle, middle + SAMPLE) + text.slice(-SAMPLE);
}

function cutText(result: string, cut: CutResult, note: string, mustFail: boolean): string {
  const members = new Map(
    Array.from(memberSpans(result), ([name, { start, end }]) => [name, result.slice(start, end)]),
  );
  const isDone = mustFail && members.get("isError") !== "true";
  const text = isDone ? `The call was made and succeeded: do not repeat it. ${note}` : note;
  members.set("content", `[${[...cut.content, JSON.stringify({ type: "text", text })].join(",")}]`);
  if (cut.structured === undefined) members.delete("structuredContent");
  if (mustFail) members.set("isError", "true");
  const texts = Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(",")}}`;
}

/** How far from its end a part may be cut for the sake of a better place. */
const SEARCHED = 0.25;

/** Where a text is best cut so that its first part has at most `most` characters. */
export function cutPlace(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const earliest = Math.floor(most * (1 - SEARCHED));
  for (const mark of ["\n\n", "\n", ". ", " "]) {
    const at = text.lastIndexOf(mark, most - mark.length);
    if (at > 0 && at + mark.length >= earliest) return at + mark.length;
  }
  // Half of a character is none.
  const isHalf = most > 1 && /[\uD800-\uDBFF]/.test(text[most - 1]!);
  return Math.max(1, isHalf ? most - 1 : most);
}

/** A text in parts of at most so many characters, which together are the text. */
export function inParts(text: string, most: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const part = text.slice(at, at + most + 1);
    const length = cutPlace(part, most);
    parts.push(part.slice(0, length));
    at += length;
  }
  return parts;
}

/** A shorter beginning says less than none. */
const SHORTEST_HEAD = 100;

type ResultPage = { mimeType: string; text: string } | { mimeType: string; blob: string };

interface CutResult {
  /** What goes back at once: blocks and structured content as the texts that came. */
  content: string[];
  structured: string | undefined;
  pages: ResultPage[];
  shown: number;
}

/**
 * Cuts a result: texts at a good place, all else is kept whole or put on a page. Undefined if
 * everything fits.
 */
export function cutResult(
  { content: blocks, structured }: { content: string[]; structured: string | undefined },
  { most, replacement }: {
    /** How many characters go back at once, and how many are on a page. */
    most: number;
    /** What stands in the place of something whole: what it is, its size and its page. */
    replacement(what: string, size: number, page: number): string;
  },
): CutResult | undefined {
  const content: string[] = [];
  const pages: ResultPage[] = [];
  let [room, shown] = [most, 0];
  /** Once a text was cut all that follows it is on pages, in its order. */
  let isFull = false;
  /** What waits to be put on pages: text that may be cut, and blocks that may not. */
  let tail = "";
  let waiting: string[] = [];

  function take(size: number): void {
    room -= size;
    shown += size;
  }

  function flushTail(): void {
    for (const text of inParts(tail, most)) pages.push({ mimeType: "text/plain", text });
    tail = "";
  }

  function flushBlocks(): void {
    if (waiting.length === 0) return;
    pages.push({ mimeType: "application/json", text: `[${waiting.join(",")}]` });
    waiting = [];
  }

  /** Says in the place of what was just put on a page where it is. */
  function replace(what: string, size: number): void {
    const text = replacement(what, size, pages.length + 1);
    content.push(JSON.stringify({ type: "text", text }));
  }

  function putTextAway(block: string, text: string): void {
    const place = !isFull && room >= SHORTEST_HEAD ? cutPlace(text, room) : 0;
    if (place > 0) {
      const head = JSON.stringify(text.slice(0, place));
      content.push(replaceSpan(block, memberSpans(block).get("text")!, head));
      take(place);
    }
    isFull = true;
    flushBlocks();
    tail += (tail === "" ? "" : "\n") + text.slice(place);
  }

  function putAway(block: string, value: Record<string, unknown>): void {
    const blob = blobOf(value);
    flushTail();
    if (blob) {
      flushBlocks();
      pages.push(blob);
    } else {
      const size = waiting.reduce((sum, { length }) => sum + length, 0);
      if (size + block.length > most) flushBlocks();
      waiting.push(block);
    }
    // A text that was cut says at its end that there is more.
    if (isFull) return;
    if (!blob) flushBlocks();
    const what = typeof value.type === "string" ? value.type : "Content";
    replace(blob ? `${what} (${blob.mimeType})` : what, block.length);
  }

  const isStructuredKept = structured !== undefined && structured.length <= room;
  if (isStructuredKept) take(structured.length);
  else if (structured !== undefined) {
    pages.push({ mimeType: "application/json", text: structured });
    replace("Structured content", structured.length);
  }
  for (const block of blocks) {
    const parsed: unknown = JSON.parse(block);
    const value = isObject(parsed) ? parsed : {};
    const text = value.type === "text" && typeof value.text === "string" ? value.text : undefined;
    const size = text?.length ?? block.length;
    if (!isFull && size <= room) {
      content.push(block);
      take(size);
    } else if (text === undefined) putAway(block, value);
    else putTextAway(block, text);
  }
  flushTail();
  flushBlocks();
  if (pages.length === 0) return undefined;
  return { content, structured: isStructuredKept ? structured : undefined, pages, shown };
}

/** The blocks of a result's content and its structured content, as the texts that came. */
export function partsOf(
  result: string,
): { content: string[]; structured: string | undefined } | undefined {
  const members = memberSpans(result);
  const [content, structured] = ["content", "structuredContent"].map((name) => {
    const span = members.get(name);
    return span && result.slice(span.start, span.end);
  });
  if (content !== undefined && !content.startsWith("[")) return undefined;
  return { content: content === undefined ? [] : elementTexts(content), structured };
}

/** Images, sounds and embedded files, which a client can show as what they are. */
function blobOf(block: Record<string, unknown>): ResultPage | undefined {
  const inner = isObject(block.resource) ? block.resource : block;
  const data = inner.blob ?? inner.data;
  if (typeof data !== "string") return undefined;
  const mimeType = typeof inner.mimeType === "string" ? inner.mimeType : "application/octet-stream";
  return { mimeType, blob: data };
}
