import { elementTexts, memberSpans, replaceSpan } from "../../core/json_spans.ts";
import { isObject } from "../../core/rpc.ts";
import { cutPlace, inParts } from "./cut_text.ts";

/** A shorter beginning says less than none. */
const SHORTEST_HEAD = 100;

/** A part of a result that is read on its own. */
export type ResultPage =
  | { kind: "text"; text: string; mimeType: string }
  | { kind: "blob"; data: string; mimeType: string };

/** A result that was too long, in two. */
export interface CutResult {
  /** What goes back at once: blocks and structured content as the texts that came. */
  content: string[];
  structured: string | undefined;
  pages: ResultPage[];
  /** Characters of what went back. */
  shown: number;
}

export interface CutOptions {
  /** How many characters go back at once, and how many are on a page. */
  most: number;
  /** What stands in the place of something whole: what it is, its size and its page. */
  replacement(what: string, size: number, page: number): string;
}

/**
 * Cuts a result: texts at a good place, all else is kept whole or put on a page. Undefined where
 * everything fits.
 */
export function cutResult(
  { content, structured }: { content: string[]; structured: string | undefined },
  options: CutOptions,
): CutResult | undefined {
  const cutter = new Cutter(options, structured);
  for (const block of content) cutter.add(block);
  return cutter.done();
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

class Cutter {
  readonly #options: CutOptions;
  readonly #content: string[] = [];
  readonly #pages: ResultPage[] = [];
  readonly #structured: string | undefined;
  #room: number;
  #shown = 0;
  /** Once a text was cut all that follows it is on pages, in its order. */
  #isFull = false;
  /** What waits to be put on pages: text that may be cut, and blocks that may not. */
  #tail = "";
  #blocks: string[] = [];

  constructor(options: CutOptions, structured: string | undefined) {
    this.#options = options;
    this.#room = options.most;
    if (structured === undefined) return;
    if (structured.length <= this.#room) {
      this.#structured = structured;
      this.#room -= structured.length;
      this.#shown += structured.length;
      return;
    }
    this.#pages.push({ kind: "text", text: structured, mimeType: "application/json" });
    this.#replace("Structured content", structured.length);
  }

  add(block: string): void {
    const value: unknown = JSON.parse(block);
    const text = isObject(value) && value.type === "text" && typeof value.text === "string"
      ? value.text
      : undefined;
    const size = text?.length ?? block.length;
    if (!this.#isFull && size <= this.#room) return this.#keep(block, size);
    if (text === undefined) return this.#putAway(block, isObject(value) ? value : {});
    this.#putTextAway(block, text);
  }

  done(): CutResult | undefined {
    this.#flush();
    if (this.#pages.length === 0) return undefined;
    return {
      content: this.#content,
      structured: this.#structured,
      pages: this.#pages,
      shown: this.#shown,
    };
  }

  #keep(block: string, size: number): void {
    this.#content.push(block);
    this.#room -= size;
    this.#shown += size;
  }

  #putTextAway(block: string, text: string): void {
    const isBegun = !this.#isFull && this.#room >= SHORTEST_HEAD;
    const place = isBegun ? cutPlace(text, this.#room) : 0;
    if (place > 0) {
      const head = JSON.stringify(text.slice(0, place));
      this.#keep(replaceSpan(block, memberSpans(block).get("text")!, head), place);
    }
    this.#isFull = true;
    this.#flushBlocks();
    this.#tail += (this.#tail === "" ? "" : "\n") + text.slice(place);
  }

  #putAway(block: string, value: Record<string, unknown>): void {
    const blob = blobOf(value);
    if (blob) {
      this.#flush();
      this.#pages.push(blob);
    } else {
      this.#flushTail();
      const size = this.#blocks.reduce((sum, { length }) => sum + length, 0);
      if (size + block.length > this.#options.most) this.#flushBlocks();
      this.#blocks.push(block);
    }
    // Where a text was cut its end says that there is more.
    if (this.#isFull) return;
    if (!blob) this.#flushBlocks();
    const what = typeof value.type === "string" ? value.type : "Something";
    this.#replace(blob ? `${what} (${blob.mimeType})` : what, block.length);
  }

  /** Says in the place of what was just put on a page where it is. */
  #replace(what: string, size: number): void {
    const text = this.#options.replacement(what, size, this.#pages.length + 1);
    this.#content.push(JSON.stringify({ type: "text", text }));
  }

  #flush(): void {
    this.#flushTail();
    this.#flushBlocks();
  }

  #flushTail(): void {
    for (const text of inParts(this.#tail, this.#options.most)) {
      this.#pages.push({ kind: "text", text, mimeType: "text/plain" });
    }
    this.#tail = "";
  }

  #flushBlocks(): void {
    if (this.#blocks.length === 0) return;
    const text = `[${this.#blocks.join(",")}]`;
    this.#pages.push({ kind: "text", text, mimeType: "application/json" });
    this.#blocks = [];
  }
}

/** Images, sounds and embedded files, which a client can show as what they are. */
function blobOf(block: Record<string, unknown>): ResultPage | undefined {
  const inner = isObject(block.resource) ? block.resource : block;
  const data = inner.blob ?? inner.data;
  if (typeof data !== "string") return undefined;
  const { mimeType } = inner;
  const type = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  return { kind: "blob", data, mimeType: type };
}
