import { readMessage } from "../../core/rpc.ts";
import { type Link, LinkClosed, type LinkEvents } from "../link.ts";
import { sureAnswerId } from "../sure_answer.ts";
import { answeredId, MESSAGE_LIMIT, tooLarge } from "../too_large.ts";
import { childEnv } from "./child_env.ts";
import { Outbox } from "./outbox.ts";
import { type PipedProgram, type ProgramEnd, startPiped } from "./piped_program.ts";
import { endGroups } from "./process_group.ts";
import type { AnnouncedProcess, ProcessOwner } from "./process_owner.ts";
import { type Pump, pumpLines } from "./pump.ts";
import { RepeatedWarning } from "./repeated_warning.ts";
import { startFailure } from "./start_failure.ts";

const MIB = 1024 * 1024;
const WAITING_CHARS = 32 * MIB;
const STDERR_BYTES = 8 * 1024;
const SHOWN_BYTES = 200;
const LAST_WORDS = { lines: 5, chars: 300 };
/** How long a program has to end by itself once its input is closed, then once it is asked to. */
const INPUT_CLOSED_MS = 500;
const ASKED_MS = 1_000;
/** How long what a program wrote last may take to arrive. */
const ARRIVAL_MS = 100;

export interface Program {
  /** The server's name, for messages. */
  name: string;
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd?: string | undefined;
  /** The gateway's own environment, of which a program gets what every program needs. */
  baseEnv: Record<string, string>;
  owner: ProcessOwner;
  /** Takes secrets out of what the program writes about itself, before anybody is shown it. */
  mask?: ((text: string) => string) | undefined;
}

/** Whoever waits for an answer; empty once that has come. */
interface Waiter {
  resolve: ((text: string) => void) | undefined;
  reject: ((reason: unknown) => void) | undefined;
}

/** The wire to a server that is a program: one message a line, over its input and output. */
export class StdioLink implements Link {
  readonly #name: string;
  readonly #child: PipedProgram;
  readonly #events: LinkEvents;
  readonly #announced: AnnouncedProcess;
  readonly #outbox: Outbox;
  readonly #waiters = new Map<number, Waiter>();
  readonly #garbage: RepeatedWarning;
  readonly #tooLong: RepeatedWarning;
  readonly #mask: (text: string) => string;
  readonly #lastWords: string[] = [];
  readonly #output: Pump;
  readonly #errors: Pump;
  #closed: LinkClosed | undefined;
  #ending: Promise<void> | undefined;

  private constructor(
    { name, mask = (text) => text }: Program,
    child: PipedProgram,
    announced: AnnouncedProcess,
    events: LinkEvents,
  ) {
    this.#name = name;
    this.#mask = mask;
    this.#child = child;
    this.#announced = announced;
    this.#events = events;
    const onWarning = (text: string) => events.onLog(text, "warning");
    this.#garbage = new RepeatedWarning({
      onWarning,
      summary: (count) => `Skipped ${count} more lines that are no JSON-RPC message`,
    });
    this.#tooLong = new RepeatedWarning({
      onWarning,
      summary: (count) => `Skipped ${count} more messages over ${MESSAGE_LIMIT / MIB} MiB`,
    });
    // Each write reports its own failure.
    child.stdin.on("error", () => {});
    this.#outbox = new Outbox(child.stdin, {
      limit: WAITING_CHARS,
      full: `Server "${name}" does not read what it is sent: ${
        WAITING_CHARS / MIB
      } MiB wait for it`,
      onFail: () => this.#end("input"),
    });
    this.#output = pumpLines(child.stdout, {
      maxBytes: MESSAGE_LIMIT,
      headBytes: SHOWN_BYTES,
      onLine: (line) => this.#onLine(line),
      onLongLine: (head, bytes, tail) => this.#onTooLong(head, bytes, tail),
    });
    this.#errors = pumpLines(child.stderr, {
      maxBytes: STDERR_BYTES,
      headBytes: STDERR_BYTES,
      onLine: (line) => this.#onStderr(line),
      onLongLine: (head, bytes) => this.#onStderr(`${head} (cut, ${bytes} bytes)`),
    });
    this.#output.ended.then((cause) => this.#end("output", cause));
    child.ended.then(() => this.#end("exit"));
  }

  /** Starts the program; whether it is a server shows when it answers. */
  static async open(program: Program, events: LinkEvents): Promise<StdioLink> {
    const { name, command, args, cwd, env: declared, baseEnv, owner } = program;
    const env = childEnv({ baseEnv, declared, markerEnv: owner.markerEnv });
    const announced = await owner.announce(command);
    try {
      const child = await startPiped({ command, args, env, cwd });
      announced.started(child.pid);
      return new StdioLink(program, child, announced, events);
    } catch (error) {
      await announced[Symbol.asyncDispose]();
      const reason = await startFailure(error, program);
      throw new LinkClosed("lost", `Cannot start server "${name}": ${reason}`, { cause: error });
    }
  }

  /** Whoever gives up on an answer says so by `abandon()`. */
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

  /** Whoever waits for an answer, who then waits no more. */
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
        new LinkClosed("lost", `Server "${this.#name}" closed its input`, { cause });
    });
  }

  /** Of no use here: only HTTP repeats the version. */
  setProtocolVersion(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("stop");
  }

  #onLine(text: string): void {
    if (this.#closed) return;
    const answered = sureAnswerId(text);
    if (answered !== undefined) return this.#onAnswer(answered, text);
    const message = readMessage(text);
    if (message === undefined) return this.#onGarbage(text);
    if (message.kind !== "response") return this.#events.onMessage(text, message);
    if (typeof message.id !== "number") return this.#onGarbage(text);
    this.#onAnswer(message.id, text);
  }

  #onAnswer(id: number, text: string): void {
    // Without a waiter it is late: the caller has given up on it.
    this.#takeWaiter(id)?.resolve?.(text);
  }

  #onGarbage(text: string): void {
    if (text.trim() === "") return;
    const shown = text.length > SHOWN_BYTES ? `${text.slice(0, SHOWN_BYTES)}...` : text;
    this.#garbage.report(`Skipped a line that is no JSON-RPC message: ${shown}`);
  }

  #onTooLong(head: string, bytes: number, tail: string): void {
    this.#tooLong.report(`Skipped a message of ${bytes} bytes: at most ${MESSAGE_LIMIT} are taken`);
    // Where the id can be told, so can whoever waits for this answer.
    const id = answeredId(head, tail);
    if (id !== undefined) this.#takeWaiter(id)?.reject?.(tooLarge(this.#name));
  }

  #onStderr(written: string): void {
    const line = this.#mask(written);
    this.#lastWords.push(line.slice(0, LAST_WORDS.chars));
    if (this.#lastWords.length > LAST_WORDS.lines) this.#lastWords.shift();
    this.#events.onLog(line, "stderr");
  }

  /** The first reason counts. Requests fail at once; `onClose` follows when all processes are gone. */
  #end(why: "stop" | "exit" | "output" | "input", cause?: unknown): Promise<void> {
    return this.#ending ??= why === "stop" ? this.#stop() : this.#lose(why, cause);
  }

  async #stop(): Promise<void> {
    const reason = new LinkClosed("closed", `Server "${this.#name}" was stopped`);
    this.#close(reason);
    this.#outbox.close();
    await within(this.#child.ended, INPUT_CLOSED_MS);
    await this.#release(reason);
  }

  async #lose(why: "exit" | "output" | "input", cause: unknown): Promise<void> {
    const end = await within(this.#child.ended, ARRIVAL_MS);
    // Answers and complaints that were written before the end still count.
    await within(Promise.all([this.#output.ended, this.#errors.ended]), ARRIVAL_MS);
    const event = lossWords(why, end, cause);
    const said = this.#lastWords.map((line) => `\n${line}`).join("");
    const words = said === "" ? "" : `. Its last words:${said}`;
    const reason = new LinkClosed("lost", `Server "${this.#name}" ${event}${words}`, { cause });
    this.#close(reason);
    await this.#release(reason);
  }

  #close(reason: LinkClosed): void {
    this.#closed = reason;
    for (const id of [...this.#waiters.keys()]) this.#takeWaiter(id)?.reject?.(reason);
  }

  async #release(reason: LinkClosed): Promise<void> {
    const survivors = await endGroups([this.#child.pid], ASKED_MS);
    await within(Promise.all([this.#child.ended, this.#output.ended]), ARRIVAL_MS);
    // A process that left the group may hold its ends of these open.
    this.#output.cancel();
    this.#errors.cancel();
    this.#outbox.abort(reason);
    this.#garbage.flush();
    this.#tooLong.flush();
    if (survivors.length === 0) await this.#announced[Symbol.asyncDispose]();
    else this.#events.onLog(`Processes of group ${this.#child.pid} do not end`, "warning");
    this.#events.onClose(reason);
  }
}

/** What takes a line may throw; a program may then end because nobody reads it any more. */
function lossWords(why: string, end: ProgramEnd | undefined, cause: unknown): string {
  if (cause instanceof Error) return `sent what cannot be taken in (${cause.message})`;
  return end ? exitWords(end) : `closed its ${why} and cannot be talked to`;
}

function exitWords({ code, signal }: ProgramEnd): string {
  return `ended with exit code ${code}${signal === null ? "" : ` (signal ${signal})`}`;
}

/** What a promise gives in time, or undefined. */
async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, limitMs, undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
