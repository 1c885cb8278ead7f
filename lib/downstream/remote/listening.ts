import { setTimeout as sleep } from "node:timers/promises";
import { discard } from "./body_reader.ts";
import { EventStream, isEventStream, isPassing } from "./event_stream.ts";
import type { RemoteAnswer } from "./remote_answer.ts";
import { EventTooLarge } from "./sse_parser.ts";

/** Tries with nothing coming before a stream that never worked is given up. */
const MAX_TRIES = 5;
/** However eagerly a server ends the stream, it is not opened more often. */
const SHORTEST_WAIT_MS = 1000;

export interface ListenOptions {
  open(lastEventId: string | undefined): Promise<RemoteAnswer>;
  onMessage(text: string): void;
  onWarning(line: string): void;
  /** The stream was there, and now the server says that there is none. */
  onGone(): void;
  signal: AbortSignal;
}

/** Hears what a server says on its own, for as long as it keeps a stream for that. Never throws. */
export async function listen({ signal, ...options }: ListenOptions): Promise<void> {
  const stream = new EventStream(options.onMessage);
  let hasWorked = false;
  while (hasWorked || stream.failures < MAX_TRIES) {
    try {
      const response = await options.open(stream.lastEventId);
      if (isEventStream(response)) {
        hasWorked = true;
        await stream.read(response, () => false);
      } else {
        await discard(response);
        if (hasWorked && response.status === 404) return options.onGone();
        if (!isPassing(response.status)) return;
      }
    } catch (error) {
      if (error instanceof EventTooLarge) {
        options.onWarning("A message of over 16 MiB was not read");
        // To resume would bring it again.
        stream.lastEventId = undefined;
      }
    }
    stream.failures++;
    const wait = Math.max(SHORTEST_WAIT_MS, stream.waitMs());
    await sleep(wait, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
}
