import type { ActivityRecord } from "../storage/activity_repository.ts";

/** The texts of one call, as far as they are kept. */
export interface CallTexts {
  request: string;
  response: string;
}

export interface CallDetail extends CallTexts {
  call: ActivityRecord;
  /** Whether more was said than is kept. */
  isRequestCut: boolean;
  isResponseCut: boolean;
}

export interface CallDetailsOptions {
  /** How many calls; 1,000 unless told. */
  most?: number;
  /** Characters of one text; 16,384 unless told. */
  textLength?: number;
  /** Characters of all texts; 8,000,000 unless told. */
  totalLength?: number;
}

/**
 * What was said in the last calls, in memory only: texts of calls can be anything, so that they are
 * never written anywhere. They are kept as they came, and whoever shows them takes secrets out.
 */
export class CallDetails {
  readonly #most: number;
  readonly #textLength: number;
  readonly #totalLength: number;
  /** A ring, in which the oldest is found at once. */
  readonly #ring: (CallDetail | undefined)[] = [];
  /** The same ones: a search asks for each call of the log. */
  readonly #byId = new Map<string, CallDetail>();
  #next = 0;
  #size = 0;
  #length = 0;

  constructor({ most = 1_000, textLength = 16_384, totalLength = 8_000_000 }: CallDetailsOptions) {
    this.#most = most;
    this.#textLength = textLength;
    this.#totalLength = totalLength;
  }

  get size(): number {
    return this.#size;
  }

  /** How many calls are kept at most. */
  get most(): number {
    return this.#most;
  }

  add(call: ActivityRecord, { request, response }: CallTexts): void {
    const limit = this.#textLength;
    const detail = {
      call,
      request: ownCopy(request, limit),
      response: ownCopy(response, limit),
      isRequestCut: request.length > limit,
      isResponseCut: response.length > limit,
    };
    if (this.#size === this.#most) this.#dropOldest();
    this.#ring[this.#next] = detail;
    this.#byId.set(call.id, detail);
    this.#next = (this.#next + 1) % this.#most;
    this.#size++;
    this.#length += lengthOf(detail);
    while (this.#length > this.#totalLength) this.#dropOldest();
  }

  find(id: string): CallDetail | undefined {
    return this.#byId.get(id);
  }

  clear(): void {
    while (this.#size > 0) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = (this.#next - this.#size + this.#most) % this.#most;
    const detail = this.#ring[oldest]!;
    this.#length -= lengthOf(detail);
    this.#byId.delete(detail.call.id);
    this.#ring[oldest] = undefined;
    this.#size--;
  }
}

function lengthOf({ request, response }: CallTexts): number {
  return request.length + response.length;
}

/** The engine lets a part of a text hold on to the whole, which may be a pipe's full buffer. */
export function ownCopy(text: string, limit: number): string {
  return ` ${text.slice(0, limit)}`.slice(1);
}
