/** A stream that sends too much without the expected message. */
export class StreamFlooded extends Error {
  override readonly name = "StreamFlooded";
}

/** Messages a second that a server may send at length without being asked for them. */
const PER_SECOND = 500;
/** Messages above that rate before other work gets precedence, and how much longer it gets. */
const STRAINED = { from: 100, pausesPerWork: 4 };
/** The same for a stream that goes on. */
const FLOODING = { from: 1_000, pausesPerWork: 19 };
/** Messages above that rate before the stream is closed. */
const MOST = 20_000;
/** So many characters count as another message. */
const CHARS_PER_MESSAGE = 8 * 1024;
/** Progress is sent by the thousand for one call, and newer progress replaces older on its way. */
const PROGRESS = '"notifications/progress"';
const LONGEST_PROGRESS = 2_000;
const PROGRESS_WEIGHT = 1 / 5;
/** Bytes or characters of a stream that are processed in one go, and of a strained one. */
export const SLICE = 4 * 1024;
const STRAINED_SLICE = 1024;
/** How long a stream is processed before other work gets a turn. */
const TURN_MS = 0.5;
const LONGEST_PAUSE_MS = 250;
/** Maximum size of one message that is skipped because it is too large. */
export const MAX_SKIPPED = 1024 ** 3;

/**
 * What one stream of a server's may send besides the answers to requests. The count falls with time,
 * so a burst passes. A strained stream is read in slices with pauses in between: it takes a fifth of the
 * time at most, a flood a twentieth, and its sender is slowed down.
 */
export class StreamBudget {
  readonly #now: () => number;
  #level = 0;
  #drainedAt = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a message that nobody waits for; throws StreamFlooded once there are far too many. */
  count(text: string): void {
    const isProgress = text.length < LONGEST_PROGRESS && text.includes(PROGRESS);
    this.note(text.length, isProgress ? PROGRESS_WEIGHT : 1);
    if (this.#level > MOST) throw new StreamFlooded("endless messages without an answer");
  }

  /** Counts bytes of a message that is too long to keep: the stream is slowed down, but not closed. */
  skip(bytes: number): void {
    if (this.#levelAt(this.#now()) < 2 * FLOODING.from) this.note(bytes, 0);
  }

  /** Counts text that may continue forever at a low rate. */
  note(chars: number, weight = 1): void {
    const now = this.#now();
    this.#level = this.#levelAt(now) + weight + chars / CHARS_PER_MESSAGE;
    // While the gateway pauses, its end is in the future.
    this.#drainedAt = Math.max(this.#drainedAt, now);
  }

  get isStrained(): boolean {
    // Most streams never were, and need no look at the clock.
    return this.#level > STRAINED.from && this.#levelAt(this.#now()) > STRAINED.from;
  }

  /** How much of the stream to process before asking whether the turn is over. */
  get slice(): number {
    return this.isStrained ? STRAINED_SLICE : SLICE;
  }

  #levelAt(now: number): number {
    const drained = Math.max(0, now - this.#drainedAt) * PER_SECOND / 1000;
    return Math.max(0, this.#level - drained);
  }

  /** How long to pause after work on a strained stream, in ms. */
  pauseAfter(workMs: number): number {
    if (!this.isStrained) return 0;
    const { pausesPerWork } = this.#level > FLOODING.from ? FLOODING : STRAINED;
    const pause = Math.min(LONGEST_PAUSE_MS, workMs * pausesPerWork);
    // While the gateway does not read, the server's silence says nothing.
    this.#drainedAt += pause;
    return pause;
  }

  /** Whether other work should get a turn before more of the stream is processed. */
  isTurnOver(started: number): boolean {
    return this.isStrained || performance.now() - started > TURN_MS;
  }

  /** Hands a text on, piece by piece; other work gets turns, and precedence if the stream is strained. */
  async pass(text: string, push: (piece: string) => void): Promise<void> {
    let started = performance.now();
    for (let at = 0; at < text.length;) {
      const end = at + this.slice;
      push(text.slice(at, end));
      at = end;
      if (!this.isTurnOver(started)) continue;
      const pause = this.pauseAfter(performance.now() - started);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      else await new Promise((resolve) => setImmediate(resolve));
      started = performance.now();
    }
  }
}
