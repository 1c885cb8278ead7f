import { memberSpans, replaceSpan } from "../../core/json_spans.ts";
import { errorText, resultText } from "../../core/rpc.ts";
import type { GatedCall } from "../call_gate.ts";
import type { ClientPort, RequestScope } from "../surface.ts";
import { type CutResult, cutResult, partsOf, type ResultPage } from "./cut_result.ts";
import { parseResultUri, resultUri } from "./result_uri.ts";

/** Most texts have about so many characters a token. */
const USUAL_RATIO = 4;
const SAMPLE = 2_000;
const KEPT_MS = 10 * 60_000;
/** 20 MB where every character takes two bytes. */
const MOST_KEPT = 10_000_000;
const RESOURCE_NOT_FOUND = -32002;

export interface ResultPagesOptions {
  /** How many tokens a text has; 0 where that cannot be counted now. */
  count(text: string): Promise<number>;
  keptMs?: number;
  /** Characters of all that is kept. */
  mostKept?: number;
  now?(): number;
}

interface Kept {
  /** Of the session that made the call, as the caller it was then. */
  owner: string;
  pages: readonly ResultPage[];
  size: number;
  expiresAt: number;
}

/** Cuts results that are too long, and keeps the rest for the session that asked, for a while. */
export class ResultPages implements Disposable {
  readonly #options: ResultPagesOptions;
  readonly #now: () => number;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** A name for each session, so that nothing here keeps one alive. */
  readonly #owners = new WeakMap<ClientPort, string>();
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ResultPagesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** An answer whose result has at most about so many tokens. */
  async shorten({ tool, port }: GatedCall, answer: string, maxTokens: number): Promise<string> {
    const span = memberSpans(answer).get("result");
    if (!span) return answer;
    const result = answer.slice(span.start, span.end);
    const parts = result.startsWith("{") ? partsOf(result) : undefined;
    const ratio = parts && await this.#ratioWhereTooLong(result, maxTokens);
    if (!parts || ratio === undefined) return answer;
    const id = crypto.randomUUID();
    const tokens = (size: number) => Math.ceil(size / ratio).toLocaleString("en");
    const most = Math.floor(maxTokens * ratio);
    const cutSaying = (where: (page: number) => string) =>
      cutResult(parts, {
        most,
        replacement: (what, size, page) =>
          `[${what}, about ${tokens(size)} tokens, is over the limit of this gateway: ` +
          `${where(page)}]`,
      });
    const kept = cutSaying((page) => `read it with resources/read of ${resultUri(id, page)}`);
    if (!kept) return answer;
    const left = kept.pages.reduce((sum, page) => sum + sizeOf(page), 0);
    const isKept = this.#keep(id, this.#ownerOf(port), kept.pages, left);
    // How much is left is known by the cut alone, and nobody is sent to a page that is not there.
    const cut = isKept ? kept : cutSaying(() => "it is too large to be kept") ?? kept;
    const note = isKept
      ? `[Cut by the gateway: about ${tokens(cut.shown)} tokens are shown, about ${
        tokens(left)
      } are left. Read on with resources/read of ${resultUri(id, 2)}${
        cut.pages.length > 1 ? `, to ?page=${cut.pages.length + 1}` : ""
      }, at the same door and in the same session, within ${KEPT_MS / 60_000} minutes.]`
      : `[Cut by the gateway: about ${tokens(cut.shown)} tokens are shown. The other ${
        tokens(left)
      } are too many to be kept: ask for less at once.]`;
    // A client that knows the output's schema refuses a success without structured content.
    const mustFail = parts.structured !== undefined && cut.structured === undefined &&
      tool.definition.outputSchema !== undefined;
    return replaceSpan(answer, span, cutText(result, cut, note, mustFail));
  }

  /** The whole answer to a request for a page. */
  read(scope: RequestScope, port: ClientPort): string {
    const uri = String(scope.params.uri);
    const { id, page: number } = parseResultUri(uri);
    const kept = this.#kept.get(id);
    const page = kept?.pages[number - 2];
    const isOwn = kept !== undefined && kept.owner === this.#owners.get(port) &&
      kept.expiresAt > this.#now();
    if (!kept || !page || !isOwn) {
      return errorText(
        scope.id,
        RESOURCE_NOT_FOUND,
        "There is no such page: results are kept for ten minutes, for the session that asked, " +
          "while there is room. Call the tool again",
      );
    }
    const last = kept.pages.length + 1;
    const next = number < last ? `; next: ${resultUri(id, number + 1)}` : "";
    const note = `[Page ${number} of ${last}${next}]`;
    const { mimeType } = page;
    const contents = page.kind === "blob"
      ? [{ uri, mimeType, blob: page.data }, { uri, mimeType: "text/plain", text: note }]
      : mimeType === "text/plain"
      ? [{ uri, mimeType, text: `${page.text}\n\n${note}` }]
      : [{ uri, mimeType, text: page.text }, { uri, mimeType: "text/plain", text: note }];
    return resultText(scope.id, JSON.stringify({ contents }));
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

  #keep(id: string, owner: string, pages: readonly ResultPage[], size: number): boolean {
    const { keptMs = KEPT_MS, mostKept = MOST_KEPT } = this.#options;
    if (size > mostKept) return false;
    this.#prune(mostKept - size);
    this.#kept.set(id, { owner, pages, size, expiresAt: this.#now() + keptMs });
    this.#size += size;
    this.#pruneLater(keptMs);
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

  #ownerOf(port: ClientPort): string {
    let owner = this.#owners.get(port);
    if (owner === undefined) this.#owners.set(port, owner = crypto.randomUUID());
    return owner;
  }
}

function sizeOf(page: ResultPage): number {
  return page.kind === "blob" ? page.data.length : page.text.length;
}

function sampleOf(text: string): string {
  if (text.length <= 3 * SAMPLE) return text;
  const middle = Math.floor((text.length - SAMPLE) / 2);
  return text.slice(0, SAMPLE) + text.slice(middle, middle + SAMPLE) + text.slice(-SAMPLE);
}

/** The result with what is left of it, and every other member as it came. */
function cutText(result: string, cut: CutResult, note: string, mustFail: boolean): string {
  const members = new Map(
    Array.from(memberSpans(result), ([name, { start, end }]) => [name, result.slice(start, end)]),
  );
  const isDone = mustFail && members.get("isError") !== "true";
  const words = isDone ? `The call was made and succeeded: do not repeat it. ${note}` : note;
  members.set(
    "content",
    `[${[...cut.content, JSON.stringify({ type: "text", text: words })].join(",")}]`,
  );
  if (cut.structured === undefined) members.delete("structuredContent");
  if (mustFail) members.set("isError", "true");
  const texts = Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(",")}}`;
}
