import { Buffer } from "node:buffer";
import * as z from "zod";
import { Cancellation, type CancelSignal, inTurn } from "../core/async.ts";
import { parseError } from "../core/error_body.ts";
import { GatewayError } from "../core/errors.ts";
import { parseJson } from "../core/rpc.ts";
import { deleteFound } from "./collection.ts";
import { ringBell } from "./follow.ts";
import { keys, type RecordKey } from "./keys.ts";
import type { KeptLease } from "./leases_repository.ts";
import { encodeRecord, RECORD_BYTES } from "./records.ts";
import type { BoxSource } from "./sealing.ts";
import type { Store } from "./store.ts";

/** Maximum number of open conversations per process. */
const MAX_OPEN = 1_000;
/** Maximum size of a message, and of a batch: the messages that are written as one record. */
const BATCH_BYTES = RECORD_BYTES - 64 * 1024;
/** Maximum total size of the messages to one process that are not written yet. */
const WAITING_BYTES = 4 * RECORD_BYTES;
/** Maximum number of control messages that could not be written and are retried later. */
const MAX_UNSENT = 10_000;
const READ_AT_ONCE = 100;
/** The other parts of an encrypted message, and what encryption adds to a body. */
const SEAL_BYTES = 500;
/** How often to check whether the processes on the other side of conversations still run. */
const CHECK_MS = 2_000;
const KEEP_READING_MS = 250;
/** Default wait for the next message of a conversation: the maximum time limit of a call. */
const LIMIT_MS = 24 * 3_600_000;

const Message = z.strictObject({
  conversation: z.string(),
  kind: z.enum(["ask", "part", "answer", "failure", "gone", "cancel"]),
  topic: z.string().optional(),
  /** A part replaces an unsent one of its conversation that has the same value here. */
  newest: z.string().optional(),
  body: z.string(),
  /** Whether the body is encrypted. */
  sealed: z.literal(true).optional(),
});
type Message = z.infer<typeof Message>;

/** Messages to one process that are not written yet, in order. */
interface Queue {
  /** Keyed by conversation and `newest`, so that a newer part replaces an older one; else by itself. */
  messages: Map<Message | string, { message: Message; bytes: number }>;
  bytes: number;
}

export interface MessageExchange {
  /** Sends a part before the answer; it replaces an unsent part with the same `newest`. */
  send(part: string, newest?: string): void;
  /** Aborts when the asking process cancels or ends. */
  signal: CancelSignal;
}

/** Answers another process; a GatewayError that it throws is thrown there too. */
export type MessageHandler = (body: string, exchange: MessageExchange) => Promise<string>;

/** The process that was asked has ended or is stopping. */
export class PeerGone extends GatewayError {
  constructor() {
    super("CONFLICT", { message: "The gateway that handles this request has stopped" });
  }
}

interface AskOptions {
  signal?: CancelSignal;
  onPart?(part: string): void;
  /** Maximum wait for the answer or the next part. */
  limitMs?: number;
}

interface Conversation {
  peer: string;
  /** Missing if the other process is the one that waits. */
  limitMs?: number;
  heardAt: number;
  onPart?: ((part: string) => void) | undefined;
  /** Gets either an error or, if that is undefined, the answer. */
  onEnd(error: unknown, answer: string): void;
}

/**
 * Messages between the gateways on one store. A process asks another about a topic, and gets any number
 * of parts and one answer. Only gateways can write messages, so they are not signed; the gateway that
 * answers must check which caller a message is for. Bodies are encrypted with the key for secrets.
 */
export class Mailbox implements AsyncDisposable {
  readonly #store: Store;
  readonly #lease: Pick<KeptLease, "id" | "isAlive" | "others">;
  readonly #box: BoxSource | undefined;
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #open = new Map<string, Conversation>();
  readonly #waiting = new Map<string, Queue>();
  #unsent: { peer: string; message: Message }[] = [];
  readonly #writeInTurn = inTurn();
  readonly #readInTurn = inTurn();
  readonly #checking: ReturnType<typeof setInterval>;
  #reading: ReturnType<typeof setInterval> | undefined;
  #reads = 0;
  #batches = 0;
  /** Whether the store may hold messages for this process, which disposing must then remove. */
  #isKnown = false;
  #isEnding = false;

  constructor(
    store: Store,
    lease: Pick<KeptLease, "id" | "isAlive" | "others">,
    { checkMs = CHECK_MS, box }: { checkMs?: number; box?: BoxSource } = {},
  ) {
    this.#box = box;
    this.#store = store;
    this.#lease = lease;
    this.#checking = setInterval(() => void this.#checkPeers(), checkMs);
    Deno.unrefTimer(Number(this.#checking));
  }

  /** Identifies this process to others. */
  get id(): string {
    return this.#lease.id;
  }

  /** Messages to other processes that are not written yet. */
  get waiting(): number {
    return this.#waiting.values().reduce((count, { messages }) => count + messages.size, 0);
  }

  /** Changes when there are messages to read. */
  get bell(): RecordKey {
    return keys.mailBells(this.id);
  }

  handle(topic: string, handler: MessageHandler): void {
    this.#handlers.set(topic, handler);
  }

  /**
   * Asks another process and returns its answer. Throws the error it answers with, PeerGone if it ends
   * first, or TIMEOUT if nothing arrives within `limitMs`.
   */
  async ask(
    peer: string,
    topic: string,
    body: string,
    { signal, onPart, limitMs = LIMIT_MS }: AskOptions = {},
  ): Promise<string> {
    // A process that asked itself would wait for its own answer.
    if (this.#isEnding || peer === this.id || !await this.#lease.isAlive(peer)) {
      throw new PeerGone();
    }
    signal?.throwIfAborted();
    const conversation = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const leave = () => {
      this.#post(peer, { conversation, kind: "cancel", body: "" });
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave);
    try {
      const onEnd = (error: unknown, answer: string) => error ? reject(error) : resolve(answer);
      this.#begin(conversation, { peer, onPart, onEnd, limitMs, heardAt: Date.now() });
      this.#post(peer, { conversation, kind: "ask", topic, body });
      return await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
      this.#open.delete(conversation);
    }
  }

  /** The other gateways on the store. */
  async peers(): Promise<string[]> {
    return this.#isEnding ? [] : await this.#lease.others();
  }

  /** Asks all other gateways; returns the answers of those that could answer in time. */
  async askAll(topic: string, body: string, limitMs: number): Promise<string[]> {
    const asked = (await this.peers()).map((peer) => this.ask(peer, topic, body, { limitMs }));
    return (await Promise.allSettled(asked)).flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value] : []
    );
  }

  /** Reads new messages. */
  read(): void {
    // A read that is already queued also reads everything that arrives before its turn.
    if (this.#isEnding || this.#reads > 1) return;
    this.#isKnown = true;
    this.#reads++;
    void this.#readInTurn(() => this.#readAll())
      .catch((error) => this.#store.warn("Cannot read messages from other gateways", { error }))
      .finally(() => this.#reads--);
  }

  /** Polls from now on: a gateway that is stopping no longer follows the store. */
  keepReading(everyMs = KEEP_READING_MS): void {
    if (this.#isEnding) return;
    clearInterval(this.#reading);
    this.#reading = setInterval(() => this.read(), everyMs);
    Deno.unrefTimer(Number(this.#reading));
  }

  /** Removes messages to processes that have ended. */
  async forgetEnded(): Promise<void> {
    const peers = new Set<string>();
    for (const prefix of [keys.mailBells(), keys.mail()]) {
      for await (const { key } of this.#store.list({ prefix })) peers.add(String(key[1]));
    }
    for (const peer of peers) if (!await this.#lease.isAlive(peer)) await this.#forget(peer);
  }

  async #forget(peer: string): Promise<void> {
    await deleteFound(this.#store, { prefix: keys.mail(peer) });
    await this.#store.commit({ deletes: [keys.mailBells(peer)], announce: false });
  }

  /** Ends all conversations on both sides, and removes messages to this process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#checking);
    clearInterval(this.#reading);
    for (const [conversation, { peer, onEnd }] of this.#open) {
      this.#fail(peer, conversation, new PeerGone());
      onEnd(new PeerGone(), "");
    }
    await this.#readInTurn(() => Promise.resolve());
    await this.#writeInTurn(() => Promise.resolve());
    if (!this.#isKnown) return;
    await this.#forget(this.id).catch((error) =>
      this.#store.warn("Cannot remove messages from other gateways", { error })
    );
  }

  #begin(id: string, conversation: Conversation): void {
    if (this.#open.size >= MAX_OPEN) throw exceeded("Too many conversations with other gateways");
    if (this.#open.has(id)) {
      throw new GatewayError("CONFLICT", { message: "Already being answered" });
    }
    this.#isKnown = true;
    this.#open.set(id, conversation);
  }

  #post(peer: string, message: Message): void {
    const { conversation, newest } = message;
    const found = this.#waiting.get(peer);
    const { messages, bytes }: Queue = found ?? { messages: new Map(), bytes: 0 };
    const key = newest === undefined ? message : `${conversation} ${newest}`;
    // Encrypted it is longer, unless much of it has to be escaped in JSON.
    const sealed = Buffer.byteLength(message.body) * 4 / 3 + SEAL_BYTES;
    const own = Math.ceil(Math.max(encodeRecord(message).length + 1, sealed));
    const total = bytes - (messages.get(key)?.bytes ?? 0) + own;
    if (!isControl(message) && (own > BATCH_BYTES || total > WAITING_BYTES)) {
      const what = own > BATCH_BYTES
        ? "A message to another gateway is too large"
        : "Too many messages to another gateway are waiting";
      return this.#undeliverable(peer, message, exceeded(what));
    }
    messages.delete(key);
    messages.set(key, { message, bytes: own });
    if (found) found.bytes = total;
    else {
      this.#waiting.set(peer, { messages, bytes: total });
      void this.#writeInTurn(() => this.#write(peer));
    }
  }

  async #write(peer: string): Promise<void> {
    const { messages } = this.#waiting.get(peer) ?? {};
    this.#waiting.delete(peer);
    let [batch, total]: [Message[], number] = [[], 0];
    for (const { message, bytes } of messages?.values() ?? []) {
      if (total + bytes > BATCH_BYTES && batch.length > 0) {
        await this.#writeBatch(peer, batch);
        [batch, total] = [[], 0];
      }
      batch.push(message);
      total += bytes;
    }
    if (batch.length > 0) await this.#writeBatch(peer, batch);
  }

  async #writeBatch(peer: string, messages: Message[]): Promise<void> {
    const nth = this.#batches++;
    try {
      const value = await Promise.all(messages.map((message) => this.#seal(peer, message)));
      const sets = [
        { key: keys.mail(peer, this.id, nth), value },
        { key: keys.mailBells(peer), value: [this.id, nth] },
      ];
      await this.#store.commit({ sets, announce: false });
      await ringBell(this.#store.location);
    } catch (error) {
      for (const message of messages) {
        if (!isControl(message)) this.#undeliverable(peer, message, error);
        else if (this.#unsent.length < MAX_UNSENT) this.#unsent.push({ peer, message });
      }
    }
  }

  async #seal(peer: string, message: Message): Promise<Message> {
    if (!this.#box || message.body === "") return message;
    const box = await this.#box().catch((error) => {
      // Without a key nothing in the store is encrypted.
      if (GatewayError.from(error).code !== "NOT_AVAILABLE_HERE") throw error;
    });
    if (!box) return message;
    const body = await box.seal(message.body, purposeOf(this.id, peer, message));
    return { ...message, body, sealed: true };
  }

  /** The message with its body readable; undefined if the other gateway has another key. */
  async #unseal(peer: string, message: Message): Promise<Message | undefined> {
    if (!message.sealed) return message;
    const { conversation } = message;
    try {
      const box = await this.#box?.();
      if (!box) throw new GatewayError("SECRET_UNREADABLE");
      return { ...message, body: await box.open(message.body, purposeOf(peer, this.id, message)) };
    } catch (error) {
      const open = this.#open.get(conversation);
      if (message.kind === "ask") this.#postError(peer, conversation, error);
      else if (open?.peer === peer) open.onEnd(error, "");
      this.#store.warn("Cannot read a message from another gateway", { error });
    }
  }

  /** Ends a conversation on both sides because one of its messages cannot be sent. */
  #undeliverable(peer: string, { conversation, kind }: Message, error: unknown): void {
    this.#open.get(conversation)?.onEnd(error, "");
    if (kind === "part" || kind === "answer") this.#fail(peer, conversation, error);
  }

  #fail(peer: string, conversation: string, error: unknown): void {
    this.#open.delete(conversation);
    this.#postError(peer, conversation, error);
  }

  #postError(peer: string, conversation: string, error: unknown): void {
    const kind = error instanceof PeerGone ? "gone" : "failure";
    const body = JSON.stringify(GatewayError.from(error).toBody());
    this.#post(peer, { conversation, kind, body });
  }

  async #readAll(): Promise<void> {
    for (let count = READ_AT_ONCE; count === READ_AT_ONCE;) {
      const selector = { prefix: keys.mail(this.id) };
      const batches = await Array.fromAsync(this.#store.list(selector, { limit: READ_AT_ONCE }));
      count = batches.length;
      if (count === 0) return;
      // Deleted before they are acted on: a message read again after a failure must not run twice.
      await this.#store.commit({ deletes: batches.map(({ key }) => key), announce: false });
      for (const { key, value } of batches) {
        const messages = z.array(Message).safeParse(value).data ?? [];
        for (const message of messages) {
          try {
            const opened = await this.#unseal(String(key[2]), message);
            if (opened) this.#take(String(key[2]), opened);
          } catch (error) {
            this.#store.warn("Cannot process a message from another gateway", { error });
          }
        }
      }
    }
  }

  #take(peer: string, message: Message): void {
    const { conversation, kind, body } = message;
    if (kind === "ask") return void this.#serve(peer, message);
    const open = this.#open.get(conversation);
    if (open?.peer !== peer) return;
    open.heardAt = Date.now();
    if (kind === "part") open.onPart?.(body);
    else if (kind === "answer") open.onEnd(undefined, body);
    else open.onEnd(kind === "failure" ? failureIn(body) : new PeerGone(), "");
  }

  async #serve(peer: string, { conversation, topic = "", body }: Message): Promise<void> {
    const handler = this.#handlers.get(topic);
    const signal = new Cancellation();
    try {
      if (!handler || this.#isEnding) throw new PeerGone();
      const onEnd = (error: unknown) => signal.abort(error);
      this.#begin(conversation, { peer, onEnd, heardAt: Date.now() });
    } catch (error) {
      return this.#postError(peer, conversation, error);
    }
    try {
      const send = (part: string, newest?: string) => {
        if (!this.#open.has(conversation)) return;
        this.#post(peer, { conversation, kind: "part", newest, body: part });
      };
      const answer = await handler(body, { send, signal });
      if (!this.#open.delete(conversation)) return;
      this.#post(peer, { conversation, kind: "answer", body: answer });
    } catch (error) {
      this.#fail(peer, conversation, error);
    }
  }

  async #checkPeers(): Promise<void> {
    for (const { peer, message } of this.#unsent.splice(0)) this.#post(peer, message);
    for (const [conversation, { peer, heardAt, limitMs = Infinity, onEnd }] of this.#open) {
      if (Date.now() - heardAt < limitMs) continue;
      this.#post(peer, { conversation, kind: "cancel", body: "" });
      const message = "The gateway that handles this request did not answer in time";
      onEnd(new GatewayError("TIMEOUT", { message }), "");
    }
    for (const peer of new Set(Array.from(this.#open.values(), ({ peer }) => peer))) {
      try {
        if (await this.#lease.isAlive(peer)) continue;
        for (const open of this.#open.values()) {
          if (open.peer === peer) open.onEnd(new PeerGone(), "");
        }
        await this.#forget(peer);
      } catch (error) {
        // The other process counts as alive until a check succeeds.
        this.#store.warn("Cannot check whether another gateway is running", { error });
      }
    }
  }
}

/** Binds a body to its place: copied to another conversation, it cannot be read. */
function purposeOf(from: string, to: string, { conversation, kind }: Message): string {
  return `mail/${from}/${to}/${conversation}/${kind}`;
}

function exceeded(message: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", { message });
}

/** Control messages are short and end a wait on the other side: no limit applies, and they are retried. */
function isControl({ kind }: Message): boolean {
  return kind === "cancel" || kind === "failure" || kind === "gone";
}

function failureIn(body: string): GatewayError {
  // What a gateway of another version writes may not be readable here.
  return parseError(parseJson(body)) ?? new GatewayError("INTERNAL");
}
