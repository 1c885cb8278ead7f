import * as z from "zod";
import { Cancellation, inTurn } from "../core/async.ts";
import { classify, type MessageId, parseJson } from "../core/rpc.ts";
import type { Mailbox, MessageExchange } from "../storage/mailbox.ts";
import type { EventId } from "./event_stream.ts";
import { notify } from "./protocol.ts";
import type { OwnedSession, Session, Sessions } from "./session.ts";

/** The topic of messages about sessions between gateways on one store. */
const TOPIC = "session";
const YES = "yes";
const NO = "no";
/** How long another gateway may take to say whether something is there. */
const ASK_MS = 5_000;

const Owned = z.strictObject({ id: z.string(), endpoint: z.string(), principal: z.string() });
const SessionMessage = z.discriminatedUnion("about", [
  z.strictObject({
    about: z.literal("answer"),
    session: Owned,
    question: z.string(),
    text: z.string(),
  }),
  z.strictObject({ about: z.literal("repeat"), session: Owned, text: z.string() }),
  z.strictObject({ about: z.literal("end"), session: Owned }),
  z.strictObject({ about: z.literal("listener"), session: Owned, at: z.string() }),
  z.strictObject({ about: z.literal("who listens"), session: Owned }),
  z.strictObject({ about: z.literal("push"), session: Owned, texts: z.array(z.string()) }),
  z.strictObject({
    about: z.literal("resume"),
    session: Owned,
    seen: z.strictObject({ life: z.string(), stream: z.number(), event: z.number() }),
  }),
]);
type SessionMessage = z.infer<typeof SessionMessage>;

interface SessionPeersOptions {
  mailbox: Mailbox;
  sessions: Pick<Sessions, "peek" | "end">;
  onWarning(message: string, details?: object): void;
}

/**
 * One session at several gateways on a store: behind a load balancer each request of a client may reach
 * another one. Requests run where they arrive; what belongs to an earlier one (an answer, a
 * cancellation, the rest of a stream) is passed to the gateway that has it, and what a server sends
 * outside a request to the gateway at which the client listens.
 */
export class SessionPeers {
  readonly #options: SessionPeersOptions;
  /** Gateways at which the clients of sessions listen, if that is not here. */
  readonly #listeners = new WeakMap<Session, { at: string; inTurn: ReturnType<typeof inTurn> }>();

  constructor(options: SessionPeersOptions) {
    this.#options = options;
    options.mailbox.handle(TOPIC, async (body, exchange) => {
      const message = SessionMessage.parse(parseJson(body));
      const session = options.sessions.peek(message.session);
      return session && await this.#take(session, message, exchange) ? YES : NO;
    });
  }

  static prefixOf({ id }: Pick<Mailbox, "id">): string {
    return `${id}.`;
  }

  /** Whether there are other gateways on the store. */
  async areThere(): Promise<boolean> {
    const peers = await this.#options.mailbox.peers().catch(() => []);
    return peers.length > 0;
  }

  /** Passes a client's answer to the gateway that asked; false if no such question is open there. */
  async answer(
    session: Session,
    principal: string,
    question: MessageId,
    text: string,
  ): Promise<boolean> {
    const [, at] = /^([0-9a-f-]{36})\./.exec(String(question)) ?? [];
    if (at === undefined || typeof question !== "string") return false;
    const owned = { ...ownedBy(session), principal };
    return await this.#ask(at, { about: "answer", session: owned, question, text });
  }

  /** Has other gateways that know the session take a message too. */
  repeat(session: Session, principal: string, text: string): void {
    const owned = { ...ownedBy(session), principal };
    void this.#askAll({ about: "repeat", session: owned, text });
  }

  async end(session: Session): Promise<void> {
    await this.#askAll({ about: "end", session: ownedBy(session) });
  }

  /** The client listens here from now on; what waits for it elsewhere is sent here. */
  listens(session: Session): void {
    this.#listeners.delete(session);
    session.onWaiting = undefined;
    const { mailbox } = this.#options;
    void this.#askAll({ about: "listener", session: ownedBy(session), at: mailbox.id });
  }

  /** Finds out where the client of a session listens that this process did not know. */
  async revived(session: Session): Promise<void> {
    const { mailbox, onWarning } = this.#options;
    try {
      for (const peer of await mailbox.peers()) {
        const message = { about: "who listens", session: ownedBy(session) } as const;
        if (await this.#ask(peer, message)) return this.#listensAt(session, peer);
      }
    } catch (error) {
      onWarning("Cannot find out at which gateway a client listens", { error });
    }
  }

  /** The events after this one from the gateway that sent it; undefined if none has them. */
  async resume(
    session: Session,
    principal: string,
    seen: EventId,
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const { mailbox, onWarning } = this.#options;
    const owned = { ...ownedBy(session), principal };
    const body = JSON.stringify({ about: "resume", session: owned, seen } satisfies SessionMessage);
    const left = new Cancellation();
    const found = Promise.withResolvers<ReadableStream<Uint8Array> | undefined>();
    try {
      const asked = (await mailbox.peers()).map(async (peer) => {
        const rest = new PassedStream(() => left.abort(new DOMException("Gone", "AbortError")));
        const onPart = (part: string) => {
          found.resolve(rest.stream);
          rest.send(part);
        };
        await mailbox.ask(peer, TOPIC, body, { signal: left, onPart }).finally(() => rest.end());
      });
      void Promise.allSettled(asked).then(() => found.resolve(undefined));
      return await found.promise;
    } catch (error) {
      onWarning("Cannot ask other gateways for the rest of a stream", { error });
    }
  }

  async #take(
    session: Session,
    message: SessionMessage,
    { send, signal }: MessageExchange,
  ): Promise<boolean> {
    switch (message.about) {
      case "answer":
        return session.answer(message.question, message.text);
      case "repeat":
        await this.#repeat(session, message);
        return true;
      case "end":
        await this.#options.sessions.end(session);
        return true;
      case "listener":
        this.#listensAt(session, message.at);
        return true;
      case "who listens":
        return session.common.isAttached;
      case "push":
        if (!session.common.isAttached) return false;
        for (const text of message.texts) session.push(text);
        return true;
      case "resume": {
        const rest = session.hasSent(message.seen)
          ? session.resume(message.seen, message.session.principal)
          : undefined;
        if (!rest) return false;
        // Before anything else: the other gateway then knows that the rest is here.
        send("");
        const reader = rest.getReader();
        signal.addEventListener("abort", () => void reader.cancel());
        const decoder = new TextDecoder();
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          send(decoder.decode(read.value, { stream: true }));
        }
        return true;
      }
    }
  }

  async #repeat(
    session: Session,
    { session: { principal }, text }: Extract<SessionMessage, { about: "repeat" }>,
  ): Promise<void> {
    const message = classify(parseJson(text), text);
    if (message?.kind === "notification") notify(session, message.method, message.params, text);
    if (message?.kind !== "request") return;
    const { id, method, params } = message;
    const signal = new Cancellation();
    await session.viewAs(principal).request({ id, method, params, text, signal, send() {} });
  }

  #listensAt(session: Session, at: string): void {
    this.#listeners.set(session, { at, inTurn: inTurn() });
    session.onWaiting = () => this.#flush(session);
    this.#flush(session);
  }

  /** Sends what waits here to the gateway at which the client listens. */
  #flush(session: Session): void {
    const listener = this.#listeners.get(session);
    void listener?.inTurn(async () => {
      const { waiting } = session.common;
      const last = waiting.at(-1);
      if (!last || this.#listeners.get(session) !== listener) return;
      const texts = waiting.map(({ text }) => text);
      const message = { about: "push", session: ownedBy(session), texts } as const;
      if (await this.#ask(listener.at, message)) session.common.skip(last.number);
      else this.#listeners.delete(session);
    });
  }

  /** Whether another gateway has what a message is about; not if it cannot be asked. */
  async #ask(peer: string, message: SessionMessage): Promise<boolean> {
    const { mailbox } = this.#options;
    const asked = mailbox.ask(peer, TOPIC, JSON.stringify(message), { limitMs: ASK_MS });
    return await asked.catch(() => NO) === YES;
  }

  async #askAll(message: SessionMessage): Promise<void> {
    const { mailbox, onWarning } = this.#options;
    await mailbox.askAll(TOPIC, JSON.stringify(message), ASK_MS).catch((error) =>
      onWarning("Cannot reach other gateways about a session", { error })
    );
  }
}

/** A stream whose bytes come from another gateway. */
class PassedStream {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(onCancel: () => void) {
    this.stream = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      cancel: () => {
        this.#controller = undefined;
        onCancel();
      },
    });
  }

  send(part: string): void {
    if (part !== "") this.#controller?.enqueue(new TextEncoder().encode(part));
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}

function ownedBy({ id, endpoint, principal }: Session): OwnedSession {
  return { id, endpoint, principal };
}
