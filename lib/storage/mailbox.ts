import { z } from "zod";
import { Cancellation, type CancelSignal, inTurn } from "../core/async.ts";
import { parseError } from "../core/error_body.ts";
import { GatewayError } from "../core/errors.ts";
import { parseJson } from "../core/rpc.ts";
import { deleteFound } from "./collection.ts";
import { ringBell } from "./follow.ts";
import { keys, type RecordKey } from "./keys.ts";
import type { KeptLease } from "./leases_repository.ts";
import { encodeRecord, RECORD_BYTES } from "./records.ts";
import type { Store } from "./store.ts";

/** Conversations that a process has with others at a time. */
const MAX_OPEN = 1_000;
/** Of one message, or of several that are written as one record. */
const LETTER_BYTES = RECORD_BYTES - 64 * 1024;
/** Of all messages to one process that wait until the store takes them. */
const WAITING_BYTES = 4 * RECORD_BYTES;
/** Messages that end a conversation and could not be written, to be written later. */
const MAX_UNSENT = 10_000;
const READ_AT_ONCE = 100;
/** How long it takes at most to notice that the other process of a conversation has ended. */
const CHECK_MS = 2_000;
const KEEP_READING_MS = 250;
/** How long to wait for the next message of a conversation: the longest time limit that a call can have. */
const LIMIT_MS = 24 * 3_600_000;

const Mail = z.strictObject({
  conversation: z.string(),
  kind: z.enum(["ask", "part", "answer", "failure", "gone", "cancel"]),
  topic: z.string().optional(),
  /** Of parts with the same value here, the last one is enough. */
  newest: z.string().optional(),
  body: z.string(),
});
type Mail = z.infer<typeof Mail>;

/** What is to be written next to one process, in its order. */
interface Queue {
  /** By what a newer one replaces it by; most are never replaced. */
  mails: Map<Mail | string, { mail: Mail; bytes: number }>;
  bytes: number;
}

export interface MailExchange {
  /** Sends something before the answer; of those with the same `newest`, the last one is enough. */
  send(part: string, newest?: string): void;
  /** Aborts if the process that asks is no longer interested, or is gone. */
  signal: CancelSignal;
}

/** Answers what another process asks; a GatewayError reaches it as such. */
export type MailHandler = (body: string, exchange: MailExchange) => Promise<string>;

/** The process that was asked has ended, or is about to. */
export class PeerGone extends GatewayError {
  constructor() {
    super("CONFLICT", { message: "The gateway that holds this has stopped" });
  }
}

interface AskOptions {
  signal?: CancelSignal;
  onPart?(part: string): void;
  /** How long to wait for the answer, or for the next part. */
  limitMs?: number;
}

interface Conversation {
  peer: string;
  /** Without one, it is the other process that waits. */
  limitMs?: number;
  heardAt: number;
  onPart?: ((part: string) => void) | undefined;
  /** With what went wrong, or without and with the answer. */
  onEnd(error: unknown, answer: string): void;
}

/**
 * Messages between the gateways on one store. A process asks another one about a topic, and gets any
 * number of parts and one answer. Only gateways can write here; the one that answers has to check
 * which caller a message is for.
 */
export class Mailbox implements AsyncDisposable {
  readonly #store: Store;
  readonly #lease: Pick<KeptLease, "id" | "isAlive">;
  readonly #handlers = new Map<string, MailHandler>();
  readonly #open = new Map<string, Conversation>();
  readonly #waiting = new Map<string, Queue>();
  #unsent: { peer: string; mail: Mail }[] = [];
  readonly #writeInTurn = inTurn();
  readonly #readInTurn = inTurn();
  readonly #checking: ReturnType<typeof setInterval>;
  #reading: ReturnType<typeof setInterval> | undefined;
  #reads = 0;
  #letters = 0;
  /** Whether others may have sent something here. */
  #isKnown = false;
  #isEnding = false;

  constructor(
    store: Store,
    lease: Pick<KeptLease, "id" | "isAlive">,
    { checkMs = CHECK_MS } = {},
  ) {
    this.#store = store;
    this.#lease = lease;
    this.#checking = setInterval(() => void this.#checkPeers(), checkMs);
    Deno.unrefTimer(Number(this.#checking));
  }

  /** Names this process to others. */
  get id(): string {
    return this.#lease.id;
  }

  /** Changes when there are messages to read. */
  get bell(): RecordKey {
    return keys.mailBells(this.id);
  }

  handle(topic: string, handler: MailHandler): void {
    this.#handlers.set(topic, handler);
  }

  /**
   * The answer of another process; throws PeerGone if it ends first, TIMEOUT if nothing comes for too
   * long, and the error it answers.
   */
  async ask(
    peer: string,
    topic: string,
    body: string,
    { signal, onPart, limitMs = LIMIT_MS }: AskOptions = {},
  ): Promise<string> {
    // Nobody has to ask itself: it would wait for its own answer.
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

  /** Reads what has come. */
  read(): void {
    // One that waits for its turn reads all that comes until then.
    if (this.#isEnding || this.#reads > 1) return;
    this.#isKnown = true;
    this.#reads++;
    void this.#readInTurn(() => this.#readAll())
      .catch((error) => this.#store.warn("Cannot read messages of other gateways", { error }))
      .finally(() => this.#reads--);
  }

  /** Reads from now on without being told: while a gateway ends, it follows the store no more. */
  keepReading(everyMs = KEEP_READING_MS): void {
    if (this.#isEnding) return;
    clearInterval(this.#reading);
    this.#reading = setInterval(() => this.read(), everyMs);
    Deno.unrefTimer(Number(this.#reading));
  }

  /** Removes what was sent to processes that have ended. */
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

  /** Tells both sides of all conversations that this process ends, and leaves no mail behind. */
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
      this.#store.warn("Cannot remove messages of other gateways", { error })
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

  #post(peer: string, mail: Mail): void {
    const { conversation, newest } = mail;
    const found = this.#waiting.get(peer);
    const { mails, bytes }: Queue = found ?? { mails: new Map(), bytes: 0 };
    const key = newest === undefined ? mail : `${conversation} ${newest}`;
    const own = encodeRecord(mail).length + 1;
    const total = bytes - (mails.get(key)?.bytes ?? 0) + own;
    if (!isControl(mail) && (own > LETTER_BYTES || total > WAITING_BYTES)) {
      const what = own > LETTER_BYTES
        ? "A message to another gateway is too long"
        : "Too much to send";
      return this.#undeliverable(peer, mail, exceeded(what));
    }
    mails.delete(key);
    mails.set(key, { mail, bytes: own });
    if (found) found.bytes = total;
    else {
      this.#waiting.set(peer, { mails, bytes: total });
      void this.#writeInTurn(() => this.#write(peer));
    }
  }

  async #write(peer: string): Promise<void> {
    const { mails } = this.#waiting.get(peer) ?? {};
    this.#waiting.delete(peer);
    let [letter, total]: [Mail[], number] = [[], 0];
    for (const { mail, bytes } of mails?.values() ?? []) {
      if (total + bytes > LETTER_BYTES && letter.length > 0) {
        await this.#writeLetter(peer, letter);
        [letter, total] = [[], 0];
      }
      letter.push(mail);
      total += bytes;
    }
    if (letter.length > 0) await this.#writeLetter(peer, letter);
  }

  async #writeLetter(peer: string, mails: Mail[]): Promise<void> {
    const nth = this.#letters++;
    const sets = [
      { key: keys.mail(peer, this.id, nth), value: mails },
      { key: keys.mailBells(peer), value: [this.id, nth] },
    ];
    try {
      await this.#store.commit({ sets, announce: false });
      await ringBell(this.#store.location);
    } catch (error) {
      for (const mail of mails) {
        if (!isControl(mail)) this.#undeliverable(peer, mail, error);
        else if (this.#unsent.length < MAX_UNSENT) this.#unsent.push({ peer, mail });
      }
    }
  }

  /** Tells both sides of a conversation that a message of it cannot be sent. */
  #undeliverable(peer: string, { conversation, kind }: Mail, error: unknown): void {
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
      const letters = await Array.fromAsync(this.#store.list(selector, { limit: READ_AT_ONCE }));
      count = letters.length;
      if (count === 0) return;
      // Before they are acted on: what a failure makes it read again must not be done again.
      await this.#store.commit({ deletes: letters.map(({ key }) => key), announce: false });
      for (const { key, value } of letters) {
        const mails = z.array(Mail).safeParse(value).data ?? [];
        for (const mail of mails) {
          try {
            this.#take(String(key[2]), mail);
          } catch (error) {
            this.#store.warn("Cannot act on a message of another gateway", { error });
          }
        }
      }
    }
  }

  #take(peer: string, mail: Mail): void {
    const { conversation, kind, body } = mail;
    if (kind === "ask") return void this.#serve(peer, mail);
    const open = this.#open.get(conversation);
    if (open?.peer !== peer) return;
    open.heardAt = Date.now();
    if (kind === "part") open.onPart?.(body);
    else if (kind === "answer") open.onEnd(undefined, body);
    else open.onEnd(kind === "failure" ? failureIn(body) : new PeerGone(), "");
  }

  async #serve(peer: string, { conversation, topic = "", body }: Mail): Promise<void> {
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
    for (const { peer, mail } of this.#unsent.splice(0)) this.#post(peer, mail);
    for (const [conversation, { peer, heardAt, limitMs = Infinity, onEnd }] of this.#open) {
      if (Date.now() - heardAt < limitMs) continue;
      this.#post(peer, { conversation, kind: "cancel", body: "" });
      const message = "The gateway that holds this did not answer in time";
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
        // The next check may work; until then the other process counts as alive.
        this.#store.warn("Cannot check whether another gateway is running", { error });
      }
    }
  }
}

function exceeded(message: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", { message });
}

/** Short, and what the other side waits for: sent whatever else waits, and until it can be. */
function isControl({ kind }: Mail): boolean {
  return kind === "cancel" || kind === "failure" || kind === "gone";
}

function failureIn(body: string): GatewayError {
  // What a gateway of another version writes may not be readable here.
  return parseError(parseJson(body)) ?? new GatewayError("INTERNAL");
}
