import { EVERYONE } from "../core/principal.ts";
import { type RpcId, withId } from "../core/rpc.ts";
import type { ClientIdentity, ClientPort, Surface, SurfaceSession } from "../surfaces/surface.ts";
import { EventStream } from "./event_stream.ts";

/** Streams of ended requests that a client can still come back for. */
const KEPT_STREAMS = 16;
const KEPT_MS = 60_000;
/** Requests of servers that a client has not answered. */
const MAX_ASKED = 1_000;
/** From this version on clients know events without data. */
const PRIMING_SINCE = "2025-11-25";

/** One client at one door: what it can do, what it has in flight, and the streams towards it. */
export class Session implements ClientPort, AsyncDisposable {
  readonly id: string;
  readonly door: string;
  readonly client: ClientIdentity;
  readonly principal = EVERYONE;
  readonly surface: SurfaceSession;
  /** When its record was written. */
  saved: Promise<void> = Promise.resolve();
  savedAt = 0;
  /** Requests in flight, by their id as JSON, so that 1 and "1" differ. */
  readonly inFlight = new Map<string, AbortController>();
  readonly #streams = new Map<number, EventStream>();
  readonly #asked = new Map<RpcId, { id: RpcId; onAnswer: (text: string) => void }>();
  #nextStream = 1;
  #nextAsked = 1;
  #lastSeen = Date.now();

  constructor(id: string, door: string, client: ClientIdentity, surface: Surface) {
    this.id = id;
    this.door = door;
    this.client = client;
    this.#streams.set(0, this.#newStream(0));
    this.surface = surface.open(this);
  }

  touch(): void {
    this.#lastSeen = Date.now();
  }

  /** How long nothing was asked, in flight or listened to. */
  idleMs(now: number): number {
    const isBusy = this.inFlight.size > 0 ||
      [...this.#streams.values()].some((stream) => stream.isAttached);
    return isBusy ? 0 : now - this.#lastSeen;
  }

  /** The stream for what belongs to no request. */
  get common(): EventStream {
    return this.#streams.get(0)!;
  }

  findStream(id: number): EventStream | undefined {
    return this.#streams.get(id);
  }

  /** A stream for one request's messages. */
  openStream(): EventStream {
    const stream = this.#newStream(this.#nextStream++);
    this.#streams.set(stream.id, stream);
    const ended = [...this.#streams.values()].filter(({ isFinished }) => isFinished);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_STREAMS))) {
      this.#streams.delete(id);
    }
    return stream;
  }

  push(text: string): void {
    this.common.send(text);
  }

  ask(text: string, id: RpcId, onAnswer: (text: string) => void): string {
    const own = this.#nextAsked++;
    this.#asked.set(own, { id, onAnswer });
    if (this.#asked.size > MAX_ASKED) this.#asked.delete(this.#asked.keys().next().value!);
    return withId(text, id, own);
  }

  askedAs(id: RpcId): RpcId | undefined {
    return [...this.#asked].findLast(([, asked]) => asked.id === id)?.[0];
  }

  /** Hands the client's answer to the server that asked. */
  answer(id: RpcId, text: string): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    this.#asked.delete(id);
    asked.onAnswer(withId(text, id, asked.id));
  }

  cancel(id: RpcId, reason: string): void {
    this.inFlight.get(JSON.stringify(id))?.abort(new DOMException(reason, "AbortError"));
  }

  /** Keeps streams open through proxies, and forgets those nobody came back for. */
  heartbeat(now = Date.now()): void {
    for (const stream of this.#streams.values()) {
      if (stream.finishedAt !== undefined && now - stream.finishedAt > KEPT_MS) {
        this.#streams.delete(stream.id);
      } else stream.heartbeat();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.inFlight.values()) {
      controller.abort(new DOMException("The session has ended", "AbortError"));
    }
    for (const stream of this.#streams.values()) stream.finish();
    await this.surface[Symbol.asyncDispose]();
  }

  #newStream(id: number): EventStream {
    return new EventStream(id, { primes: this.client.protocolVersion >= PRIMING_SINCE });
  }
}
