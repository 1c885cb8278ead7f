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
  stream.on("data", ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) => {
    // Plain bytes: what Node adds to them makes every look at a part of them slow.
    splitter.push(new Uint8Array(buffer, byteOffset, length));
  });
  stream.on("end", () => splitter.end());
  stream.on("error", resolve);
  stream.on("close", () => resolve(undefined));
  return { ended: promise, cancel: () => void stream.destroy() };
}
