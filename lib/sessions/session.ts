import { GatewayError } from "../core/errors.ts";
import { credentialOf } from "../core/principal.ts";
import { type RpcId, withId } from "../core/rpc.ts";
import type { ClientIdentity, ClientPort, Surface, SurfaceSession } from "../surfaces/surface.ts";
import { type EventId, EventStream } from "./event_stream.ts";

/** Streams of ended requests that a client can still come back for. */
const KEPT_STREAMS = 16;
const KEPT_MS = 60_000;
/** Requests of servers that a client has not answered. */
const MAX_ASKED = 1_000;
/** Projects and tokens with other rights that a client can work with beside its own. */
const MAX_OTHERS = 8;
/** From this version on clients know events without data. */
const PRIMING_SINCE = "2025-11-25";

/** What of a session outlives its process. */
export interface SessionRecord {
  id: string;
  door: string;
  /** Who the client acts for; nobody else may go on with the session. */
  principal: string;
  client: ClientIdentity;
  /** The address it was made from, or `stdio`. */
  from?: string | undefined;
}

/** One client at one door: what it can do, what it has in flight, and the streams towards it. */
export class Session implements ClientPort, AsyncDisposable {
  readonly id: string;
  readonly door: string;
  readonly principal: string;
  readonly client: ClientIdentity;
  readonly from: string | undefined;
  readonly surface: SurfaceSession;
  /** Whether it has a record, with which it can be revived. */
  readonly isKept: boolean = true;
  /** When its record was written. */
  saved: Promise<void> = Promise.resolve();
  savedAt = 0;
  /** Requests in flight. */
  readonly inFlight = new Map<RpcId, Pick<AbortController, "abort">>();
  readonly #open: Surface;
  readonly #others = new Map<string, SurfaceSession>();
  readonly #streams = new Map<number, EventStream>();
  readonly #asked = new Map<RpcId, { id: RpcId; onAnswer: (text: string) => void }>();
  /** Tells what clients saw of this process apart from what they saw of an earlier one. */
  readonly #life = crypto.randomUUID().slice(0, 8);
  #nextStream = 1;
  #nextAsked = 1;
  #lastSeen = Date.now();

  constructor({ id, door, principal, client, from }: SessionRecord, surface: Surface) {
    this.id = id;
    this.door = door;
    this.principal = principal;
    this.client = client;
    this.from = from;
    this.#streams.set(0, this.#newStream(0, principal));
    this.#open = surface;
    this.surface = surface.open(this);
  }

  /** What the client has open as another: in another project, or with a token of other rights. */
  surfaceAs(principal: string): SurfaceSession {
    if (principal === this.principal) return this.surface;
    let other = this.#others.get(principal);
    if (other) return other;
    if (this.#others.size >= MAX_OTHERS) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `A session works with at most ${MAX_OTHERS} projects and tokens of other rights ` +
          "beside its own",
        recoverySteps: ["Open another session for the others"],
      });
    }
    const port: ClientPort = {
      client: this.client,
      principal,
      door: this.door,
      from: this.from,
      // Whoever listens does so with the session's own token, which may see less than this one.
      push: (text) => {
        if (credentialOf(principal) === credentialOf(this.principal)) this.push(text);
      },
      ask: (text, id, onAnswer) => this.ask(text, id, onAnswer),
    };
    other = this.#open.open(port);
    this.#others.set(principal, other);
    return other;
  }

  /** Lets go of what was opened with tokens that have ended; the rest goes on. */
  async release(hasEnded: (principal: string) => boolean): Promise<void> {
    for (const stream of this.#streams.values()) {
      if (hasEnded(stream.principal)) stream.release();
    }
    const ended = [...this.#others].filter(([principal]) => hasEnded(principal));
    for (const [principal] of ended) this.#others.delete(principal);
    await Promise.all(ended.map(([, surface]) => surface[Symbol.asyncDispose]()));
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

  /** All that came after an event; undefined where that is no longer known, or not the caller's. */
  resume(
    { life, stream: id, event }: EventId,
    principal = this.principal,
  ): ReadableStream<Uint8Array> | undefined {
    const stream = this.findStream(id);
    if (stream?.principal !== principal) return undefined;
    if (life === this.#life) return stream.attach(event);
    // Requests ended with the life they were made in; what belongs to none of them goes on.
    return stream === this.common ? stream.attach() : undefined;
  }

  /** A stream for the messages of one request, which came with a token of the session's person. */
  openStream(principal = this.principal): EventStream {
    const stream = this.#newStream(this.#nextStream++, principal);
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

  /** Hands the client's answer to the server that asked. */
  answer(id: RpcId, text: string): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    this.#asked.delete(id);
    asked.onAnswer(withId(text, id, asked.id));
  }

  cancel(id: RpcId, reason: string): void {
    this.inFlight.get(id)?.abort(new DOMException(reason, "AbortError"));
  }

  /** Keeps streams open through proxies, and forgets those nobody came back for. */
  heartbeat(now = Date.now()): void {
    for (const stream of this.#streams.values()) {
      if (stream.finishedAt !== undefined && now - stream.finishedAt > KEPT_MS) {
        this.#streams.delete(stream.id);
        continue;
      }
      // Or a client that has listened for long would count as idle once its stream breaks off.
      if (stream.isAttached) this.touch();
      stream.heartbeat();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.inFlight.values()) {
      controller.abort(new DOMException("The session has ended", "AbortError"));
    }
    for (const stream of this.#streams.values()) stream.finish();
    const surfaces = [this.surface, ...this.#others.values()];
    await Promise.all(surfaces.map((surface) => surface[Symbol.asyncDispose]()));
  }

  #newStream(id: number, principal: string): EventStream {
    const primes = this.client.protocolVersion >= PRIMING_SINCE;
    return new EventStream(id, { principal, life: this.#life, primes });
  }
}
