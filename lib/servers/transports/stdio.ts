import { within } from "../../core/async.ts";
import { echoedId, END_CHARS, readMessage, responseId, type RpcMessage } from "../../core/rpc.ts";
import { type Transport, TransportClosed, type TransportEvents } from "./transport.ts";
import {
  MESSAGE_LIMIT,
  messagesIn,
  messageTooLarge,
  RepeatedWarning,
  sizeText,
  streamFlooded,
  waiterOf,
} from "./messages.ts";
import { BROKEN_CACHE } from "../../core/failure_cause.ts";
import { childEnv, endGroups } from "../processes/process_group.ts";
import type { Install, Installs } from "../processes/installs.ts";
import { type LineReader, readLines, WriteQueue } from "./stdio_streams.ts";
import { StreamBudget, StreamFlooded } from "./stream_budget.ts";
import {
  explainingLine,
  isBrokenNpx,
  type PipedProgram,
  type ProgramEnd,
  ProgramOutput,
  startFailure,
  startPiped,
} from "../processes/program.ts";
import type { AnnouncedProcess, ProcessOwner } from "../processes/process_owner.ts";
import type { IsolatedProgram, Isolator } from "../processes/isolation/isolator.ts";
import type { Isolation } from "../../core/server.ts";

const MIB = 1024 * 1024;
const WAITING_CHARS = 32 * MIB;
const STDERR_BYTES = 8 * 1024;
const SHOWN_BYTES = 200;
/** How long a program has to end by itself once its input is closed, then once it is asked to. */
const INPUT_CLOSED_MS = 500;
const ASKED_MS = 1_000;
/** When asked to end, npm removes a partial install, which takes up to 2 s. */
const ROLLBACK_MS = 2_000;
/** How long what a program wrote last may take to arrive. */
const ARRIVAL_MS = 100;

export interface Program {
  name: string;
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd?: string | undefined;
  /** The gateway's own environment, of which a program gets what every program needs. */
  baseEnv: Record<string, string>;
  owner: ProcessOwner;
  installs?: Installs | undefined;
  isolation?: Isolation | undefined;
  isolator?: (() => Promise<Isolator>) | undefined;
  /** The largest message that is taken, in bytes. */
  maxMessage?: number | undefined;
  /** Takes secrets out of what the program writes about itself, before anybody is shown it. */
  mask?: ((text: string) => string) | undefined;
}

interface Waiter {
  resolve: ((text: string) => void) | undefined;
  reject: ((reason: unknown) => void) | undefined;
}

/** The wire to a server that is a program: one message a line, over its input and output. */
export class StdioTransport implements Transport {
  readonly #name: string;
  readonly #child: PipedProgram;
  readonly #events: TransportEvents;
  readonly #announced: AnnouncedProcess;
  readonly #outbox: WriteQueue;
  readonly #waiters = new Map<number, Waiter>();
  /** Of what it says besides answers. */
  readonly #budget = new StreamBudget();
  readonly #garbage: RepeatedWarning;
  readonly #tooLong: RepeatedWarning;
  readonly #mask: (text: string) => string;
  readonly #written = new ProgramOutput();
  readonly #installs: Installs | undefined;
  readonly #maxMessage: number;
  readonly #install: Install | undefined;
  /** What isolates the program, and is released after its end. */
  #apart: AsyncDisposable | undefined;
  #hasAnswered = false;
  #stuck: string | undefined;
  readonly #output: LineReader;
  readonly #errors: LineReader;
  #closed: TransportClosed | undefined;
  #ending: Promise<void> | undefined;

  private constructor(
    { name, installs, maxMessage = MESSAGE_LIMIT, mask = (text) => text }: Program,
    child: PipedProgram,
    announced: AnnouncedProcess,
    events: TransportEvents,
    install: Install | undefined,
  ) {
    this.#name = name;
    this.#installs = installs;
    this.#maxMessage = maxMessage;
    this.#install = install;
    this.#mask = mask;
    this.#child = child;
    this.#announced = announced;
    this.#events = events;
    const onWarning = (text: string) => events.onLog(text, "warning");
    this.#garbage = new RepeatedWarning(
      onWarning,
      (count) => `Skipped ${count} more lines that are not JSON-RPC messages`,
    );
    this.#tooLong = new RepeatedWarning(
      onWarning,
      (count) => `Skipped ${count} more messages over ${sizeText(maxMessage)}`,
    );
    // Each write reports its own failure.
    child.stdin.on("error", () => {});
    this.#outbox = new WriteQueue(child.stdin, {
      limit: WAITING_CHARS,
      full: `Server "${name}" does not read its stdin: ${WAITING_CHARS / MIB} MiB are waiting`,
      onFail: () => this.#end("input"),
    });
    this.#output = readLines(child.stdout, {
      maxBytes: maxMessage,
      headBytes: END_CHARS,
      onLine: (line) => this.#onLine(line),
      onLongLine: (head, bytes, tail) => this.#onTooLong(head, bytes, tail),
    }, this.#budget);
    const stderr = new StreamBudget();
    this.#errors = readLines(child.stderr, {
      maxBytes: STDERR_BYTES,
      headBytes: STDERR_BYTES,
      onLine: (line) => {
        stderr.note(line.length);
        this.#onStderr(line);
      },
      onLongLine: (head, bytes) => this.#onStderr(`${head} (cut, ${bytes} bytes)`),
    }, stderr);
    this.#output.ended.then((cause) => this.#end("output", cause));
    child.ended.then(() => {
      void this.#end("exit");
      // A lingering install has finished by now.
      if (this.#closed) install?.end();
    });
    install?.watch(child.pid, (reason) => {
      this.#stuck = reason;
      void this.#end("install");
      if (this.#closed) install.end();
    });
  }

  /**
   * Starts the program; whether it is a server shows when it answers. If it has to fetch packages,
   * waits for other installs first, until the signal aborts.
   */
  static async open(
    program: Program,
    events: TransportEvents,
    signal?: AbortSignal,
  ): Promise<StdioTransport> {
    const { name, command, args, cwd, env: declared, baseEnv, owner, installs } = program;
    const env = childEnv({ baseEnv, declared, markerEnv: owner.markerEnv });
    const line = { command, args, env, cwd };
    const onInstall = (reason: string | undefined) => events.onInstall?.(reason);
    const fail = async (error: unknown): Promise<never> => {
      signal?.throwIfAborted();
      const reason = await startFailure(error, program);
      const message = `Cannot start server "${name}": ${reason}`;
      throw new TransportClosed("lost", message, { cause: error });
    };
    await using stack = new AsyncDisposableStack();
    const { isolation = { kind: "none" }, isolator } = program;
    let apart: IsolatedProgram | undefined;
    let install: Install | undefined;
    if (isolation.kind === "none") install = await installs?.begin(line, { onInstall }, signal);
    else {
      if (!isolator) return await fail(new Error("it cannot be isolated here"));
      const context = { owner, installs, events, signal };
      const entry = { ...line, isolation, declared, baseEnv };
      const isolating = isolator().then((isolator) => isolator.isolate(entry, context));
      apart = stack.use(await isolating.catch(fail));
    }
    const announced = stack.use(await owner.announce(command));
    try {
      signal?.throwIfAborted();
      const child = await startPiped(apart ?? line);
      announced.started(child.pid);
      const transport = new StdioTransport(program, child, announced, events, install);
      transport.#apart = apart;
      stack.move();
      return transport;
    } catch (error) {
      install?.end();
      return await fail(error);
    }
  }

  /** To give up on the response, call `abandon()`. */
  request(id: number, text: string): Promise<string> {
    if (this.#closed) return Promise.reject(this.#closed);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    try {
      this.#outbox.push(text);
    } catch (error) {
      return Promise.reject(error);
    }
    this.#waiters.set(id, { resolve, reject });
    return promise;
  }

  abandon(id: number, reason: unknown): void {
    this.#takeWaiter(id)?.reject?.(reason);
  }

  #takeWaiter(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    if (waiter === undefined) return undefined;
    this.#waiters.delete(id);
    const { resolve, reject } = waiter;
    // See TimeoutQueue for why nothing may hang on an entry that is over.
    waiter.resolve = waiter.reject = undefined;
    return { resolve, reject };
  }

  async send(text: string): Promise<void> {
    if (this.#closed) throw this.#closed;
    await this.#outbox.send(text).catch((cause) => {
      throw this.#closed ??
        new TransportClosed("lost", `Server "${this.#name}" closed its input`, { cause });
    });
  }

  /** Of no use here: only HTTP repeats the version. */
  setProtocolVersion(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("stop");
  }

  #onLine(text: string): void {
    if (this.#closed) return;
    const answered = responseId(text);
    if (answered !== undefined) return this.#onAnswer(answered, text);
    if (text.startsWith("[")) {
      for (const { text: one, message } of messagesIn(text)) this.#onMessage(one, message);
    } else this.#onMessage(text, readMessage(text));
  }

  #onMessage(text: string, message: RpcMessage | undefined): void {
    if (message?.kind !== "response") this.#budget.count(text);
    if (message === undefined) return this.#onGarbage(text);
    if (message.kind !== "response") return this.#events.onMessage(text, message);
    const id = echoedId(message.id);
    if (id === undefined) {
      this.#budget.count(text);
      return this.#onGarbage(text);
    }
    this.#onAnswer(id, text);
  }

  #onAnswer(id: number, text: string): void {
    if (!this.#hasAnswered) {
      this.#hasAnswered = true;
      this.#written.started();
      this.#install?.end();
    }
    const waiter = this.#takeWaiter(id);
    // It is late: the caller has given up on it.
    if (!waiter) return this.#budget.count(text);
    waiter.resolve?.(text);
  }

  #onGarbage(text: string): void {
    if (text.trim() === "") return;
    const shown = text.length > SHOWN_BYTES ? `${text.slice(0, SHOWN_BYTES)}...` : text;
    this.#garbage.report(`Skipped a line that is not a JSON-RPC message: ${shown}`);
  }

  #onTooLong(head: string, bytes: number, tail: string): void {
    this.#tooLong.report(`Skipped a message of ${bytes} bytes: the limit is ${this.#maxMessage}`);
    // The request that waits for it fails at once.
    const id = waiterOf(head, tail, this.#waiters);
    if (id === undefined) return;
    this.#takeWaiter(id)?.reject?.(messageTooLarge(this.#name, this.#maxMessage));
  }

  #onStderr(written: string): void {
    const line = this.#mask(written);
    this.#written.add(line);
    this.#install?.wrote(line);
    this.#events.onLog(line, "stderr");
  }

  /** The first reason counts. Requests fail at once; `onClose` follows when all processes are gone. */
  #end(why: "stop" | "install" | "exit" | "output" | "input", cause?: unknown): Promise<void> {
    return this.#ending ??= why === "stop" ? this.#stop() : this.#lose(why, cause);
  }

  async #stop(): Promise<void> {
    const reason = new TransportClosed("closed", `Server "${this.#name}" was stopped`);
    this.#close(reason);
    if (this.#install?.isActive) {
      this.#installs?.linger(this.#install, () => this.#release(reason));
      return;
    }
    this.#outbox.close();
    await within(this.#child.ended, INPUT_CLOSED_MS);
    await this.#release(reason);
  }

  async #lose(why: "install" | "exit" | "output" | "input", cause: unknown): Promise<void> {
    const end = why === "install" ? undefined : await within(this.#child.ended, ARRIVAL_MS);
    // Answers and complaints that were written before the end still count.
    if (end) await within(Promise.all([this.#output.ended, this.#errors.ended]), ARRIVAL_MS);
    const event = this.#stuck ?? `Server "${this.#name}" ${this.#lossEvent(why, end, cause)}`;
    const reason = new TransportClosed("lost", event + this.#lossOutput(), { cause });
    if (cause instanceof StreamFlooded) this.#rejectAll(streamFlooded(this.#name, cause));
    this.#close(reason);
    await this.#release(reason);
  }

  #lossEvent(why: string, end: ProgramEnd | undefined, cause: unknown): string {
    // The line handler may throw; the program may then end because nothing reads its output.
    if (cause instanceof StreamFlooded) return `was stopped because it sent ${cause.message}`;
    if (cause instanceof Error) return `sent output the gateway cannot process (${cause.message})`;
    if (!end) return `closed its standard ${why}`;
    const signal = end.signal === null ? "" : ` (${end.signal})`;
    const when = this.#hasAnswered ? "" : " before completing the MCP handshake";
    return `exited with code ${end.code}${signal}${when}`;
  }

  #lossOutput(): string {
    const { lines } = this.#written;
    const line = explainingLine(lines);
    if (line === undefined) return "";
    const folder = this.#hasAnswered ? undefined : this.#install?.folder;
    const isBroken = folder !== undefined && isBrokenNpx(lines, folder);
    const hint = isBroken
      ? `. ${BROKEN_CACHE}`
      : this.#apart && !this.#hasAnswered
      ? ". It is isolated: only its own folders exist for it"
      : "";
    return `. Output: ${line}${hint}`;
  }

  #close(reason: TransportClosed): void {
    this.#closed = reason;
    this.#rejectAll(reason);
  }

  #rejectAll(reason: Error): void {
    for (const id of [...this.#waiters.keys()]) this.#takeWaiter(id)?.reject?.(reason);
  }

  async #release(reason: TransportClosed): Promise<void> {
    const mayInstall = this.#install !== undefined && !this.#hasAnswered;
    const survivors = await endGroups([this.#child.pid], mayInstall ? ROLLBACK_MS : ASKED_MS);
    this.#install?.end();
    await within(Promise.all([this.#child.ended, this.#output.ended]), ARRIVAL_MS);
    // A process that left the group may hold its ends of these open.
    this.#output.cancel();
    this.#errors.cancel();
    this.#outbox.abort(reason);
    this.#garbage.flush();
    this.#tooLong.flush();
    await this.#apart?.[Symbol.asyncDispose]();
    if (survivors.length === 0) await this.#announced[Symbol.asyncDispose]();
    else this.#events.onLog(`Processes of group ${this.#child.pid} do not end`, "warning");
    this.#events.onClose(reason);
  }
}
