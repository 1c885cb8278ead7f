import type { RemoteAnswer } from "./remote_answer.ts";

/** A body that is not wanted is read to its end where it is no larger than this. */
const DISCARDED_BYTES = 16 * 1024;

/** A body is larger than what was asked of it. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** Reads a body as text, in the pieces it comes in. */
export class BodyReader {
  readonly #answer: RemoteAnswer;
  readonly #decoder = new TextDecoder();
  /** How many bytes have come. */
  bytes = 0;

  constructor(answer: RemoteAnswer) {
    this.#answer = answer;
  }

  /** The next piece of text, or undefined at the end. */
  async read(): Promise<string | undefined> {
    const chunk = await this.#answer.read();
    if (chunk === undefined) return undefined;
    this.bytes += chunk.byteLength;
    return this.#decoder.decode(chunk, { stream: true });
  }

  /** What is left of a character that was cut off. */
  end(): string {
    return this.#decoder.decode();
  }

  cancel(): Promise<void> {
    return this.#answer.cancel();
  }
}

/** A body's text, if it has at most `limit` bytes; the rest of a larger one is not read. */
export async function readText(answer: RemoteAnswer, limit: number): Promise<string> {
  // One call into the platform, at half the cost of reading.
  if (isSurelyWithin(limit, answer.headers)) return await answer.text();
  const { text, isWhole } = await readStart(answer, limit);
  if (!isWhole) throw new BodyTooLarge(`The body has more than ${limit} bytes`);
  return text;
}

/** A body's text up to about `limit` bytes. */
export async function readStart(
  answer: RemoteAnswer,
  limit: number,
): Promise<{ text: string; isWhole: boolean }> {
  const reader = new BodyReader(answer);
  const parts: string[] = [];
  for (;;) {
    const part = await reader.read();
    if (part === undefined) return { text: parts.join("") + reader.end(), isWhole: true };
    parts.push(part);
    if (reader.bytes > limit) {
      await reader.cancel();
      return { text: parts.join(""), isWhole: false };
    }
  }
}

/** Lets a body go; a small one is read to its end, because the connection can then be used again. */
export async function discard(answer: RemoteAnswer): Promise<void> {
  try {
    if (isSurelyWithin(DISCARDED_BYTES, answer.headers)) await answer.text();
    else await answer.cancel();
  } catch {
    // It is not wanted anyway.
  }
}

/** The platform unpacks and unchunks a body, and leaves its headers as they came. */
function isSurelyWithin(limit: number, headers: RemoteAnswer["headers"]): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= limit && !headers.has("content-encoding") &&
    !headers.has("transfer-encoding");
}
