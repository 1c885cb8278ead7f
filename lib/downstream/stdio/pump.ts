import type { Readable } from "node:stream";
import { LineSplitter, type LineSplitterOptions } from "./line_splitter.ts";

export interface Pump {
  /** Never rejects; resolves with what went wrong, or undefined where the stream came to its end. */
  ended: Promise<unknown>;
  /** Stops reading, also where the other side stays open. */
  cancel(): void;
}

/** Reads a stream to its end, line by line, without ever making its writer wait for long. */
export function pumpLines(stream: Readable, options: LineSplitterOptions): Pump {
  const splitter = new LineSplitter(options);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  /** What is thrown in an event would end the process: here it ends this stream alone. */
  function safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      resolve(error);
      stream.destroy();
    }
  }
  stream.on("data", ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) => {
    // Plain bytes: what Node adds to them makes every look at a part of them slow.
    safely(() => splitter.push(new Uint8Array(buffer, byteOffset, length)));
  });
  stream.on("end", () => safely(() => splitter.end()));
  stream.on("error", resolve);
  stream.on("close", () => resolve(undefined));
  return { ended: promise, cancel: () => void stream.destroy() };
}
