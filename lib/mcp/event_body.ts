/** Above this many waiting events, newer progress of a call replaces older. */
const CROWDED = 500;
/** A client that stops reading is disconnected before more than this waits for it. */
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024;

const encoder = new TextEncoder();

interface WaitingEvent {
  frame: string;
  /** The token of its call, if it is progress; found when it matters. */
  token: string | undefined;
}

/**
 * Server-sent events as a response's body. A server may report progress faster than a client reads:
 * then only the newest of each call waits, and everything else keeps its order.
 */
export class EventBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #onLeave: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: WaitingEvent[] = [];
  #characters = 0;
  #isClosing = false;

  /** `onLeave` is called once if the client goes, or does not read. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#flush(),
      cancel: () => this.#leave(),
    });
  }

  get isOpen(): boolean {
    return this.#controller !== undefined && !this.#isClosing;
  }

  /** A message, with lines before it such as its id. */
  send(message: string, lines = ""): void {
    this.#write(`${lines}event: message\ndata: ${message}\n\n`, message);
  }

  comment(text: string): void {
    this.#write(`: ${text}\n\n`);
  }

  /** Lines that are no message, such as an event without data. */
  prime(lines: string): void {
    this.#write(`${lines}data: \n\n`);
  }

  /** Ends it behind what waits. */
  close(): void {
    this.#isClosing = true;
    if (this.#waiting.length > 0) return;
    try {
      this.#controller?.close();
    } catch { /* the client was faster */ }
    this.#controller = undefined;
  }

  #write(frame: string, message?: string): void {
    const controller = this.#controller;
    if (!controller || this.#isClosing) return;
    if (this.#waiting.length === 0 && (controller.desiredSize ?? 0) > 0) {
      controller.enqueue(encoder.encode(frame));
      return;
    }
    const isCrowded = this.#waiting.length >= CROWDED;
    const token = isCrowded && message !== undefined ? progressToken(message) : undefined;
    if (token !== undefined) this.#drop(token);
    this.#waiting.push({ frame, token });
    this.#characters += frame.length;
    if (this.#characters <= MAX_WAITING_CHARACTERS || this.#waiting.length === 1) return;
    controller.error(new Error("The client is not reading its stream"));
    this.#leave();
  }

  /** What is dropped is all behind the events that were let through before it was crowded. */
  #drop(token: string): void {
    const at = this.#waiting.findLastIndex((event) => event.token === token);
    if (at === -1) return;
    this.#characters -= this.#waiting[at]!.frame.length;
    this.#waiting.splice(at, 1);
  }

  /** All that waits in one piece: the client takes it faster than one by one. */
  #flush(): void {
    if (this.#waiting.length === 0) return;
    const frames = this.#waiting.map(({ frame }) => frame).join("");
    this.#waiting = [];
    this.#characters = 0;
    this.#controller?.enqueue(encoder.encode(frames));
    if (this.#isClosing) this.close();
  }

  #leave(): void {
    this.#controller = undefined;
    this.#waiting = [];
    this.#onLeave();
  }
}

const PROGRESS = '{"jsonrpc":"2.0","method":"notifications/progress"';

export function isProgress(message: string): boolean {
  return message.startsWith(PROGRESS);
}

function progressToken(message: string): string | undefined {
  if (!isProgress(message)) return undefined;
  return JSON.stringify(JSON.parse(message).params?.progressToken);
}
