/** What a server answers: its body is read piece by piece, or let go. */
export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, "get" | "has">;
  /** The next bytes of the body, good until more are asked for; undefined at its end. */
  read(): Promise<Uint8Array | undefined>;
  /** The whole body, where it is known to be small. */
  text(): Promise<string>;
  /** Lets go of what has not been read. Never throws. */
  cancel(): Promise<void>;
}

const BUFFER_BYTES = 16 * 1024;

/**
 * What the platform's fetch got. It is read through one buffer of ours: the chunks a plain reader
 * gives are allocated one by one and cost twice as much.
 */
export class FetchedAnswer implements RemoteAnswer {
  /** Kept because the platform forgets a fetch's signal once its response is garbage. */
  readonly #response: Response;
  #byob: ReadableStreamBYOBReader | undefined;
  #plain: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #buffer: ArrayBuffer | undefined;

  constructor(response: Response) {
    this.#response = response;
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): Headers {
    return this.#response.headers;
  }

  async read(): Promise<Uint8Array | undefined> {
    const { body } = this.#response;
    if (body === null) return undefined;
    if (!this.#byob && !this.#plain) this.#open(body);
    if (!this.#byob) return (await this.#plain?.read())?.value;
    const { done, value } = await this.#byob.read(
      new Uint8Array(this.#buffer ?? new ArrayBuffer(BUFFER_BYTES)),
    );
    if (done || value === undefined) return undefined;
    this.#buffer = value.buffer;
    return value;
  }

  text(): Promise<string> {
    return this.#response.text();
  }

  async cancel(): Promise<void> {
    try {
      await (this.#byob ?? this.#plain ?? this.#response.body)?.cancel();
    } catch {
      // The stream failed before; there is nothing to cancel.
    }
  }

  #open(body: ReadableStream<Uint8Array>): void {
    try {
      this.#byob = body.getReader({ mode: "byob" });
    } catch {
      // A fetch that was handed in may answer with a stream that is not made of bytes.
      this.#plain = body.getReader();
    }
  }
}
