import { LineSplitter, type LineSplitterOptions } from "./line_splitter.ts";

// What a pipe holds on Linux, so that one read can empty it.
const BLOCK_BYTES = 64 * 1024;

export interface Pump {
  /** Never rejects; resolves with what went wrong, or undefined where the stream came to its end. */
  ended: Promise<unknown>;
  /** Stops reading, also where the other side stays open. */
  cancel(): Promise<void>;
}

/** Reads a stream to its end, line by line, without ever making its writer wait for long. */
export function pumpLines(stream: ReadableStream<Uint8Array>, options: LineSplitterOptions): Pump {
  const reader = stream.getReader({ mode: "byob" });
  return {
    ended: readLines(reader, new LineSplitter(options)).catch((error) => error),
    cancel: () => reader.cancel().catch(() => {}),
  };
}

async function readLines(
  reader: ReadableStreamBYOBReader,
  splitter: LineSplitter,
): Promise<void> {
  // One block for all reads: a new one each time is most of what reading costs.
  let block = new ArrayBuffer(BLOCK_BYTES);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(block));
    if (done || value === undefined) break;
    splitter.push(value);
    block = value.buffer;
  }
  splitter.end();
}
