import { join, resolve } from "@std/path";
import { settledWithin } from "../../core/async.ts";
import { systemErrorCode } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import { type LineReader, LineSplitter } from "../../servers/transports/stdio_streams.ts";
import { startFailure } from "../../servers/processes/program.ts";
import { endGroups, spawnGroup } from "../../servers/processes/process_group.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { claudeEnv, foldersIn, type RunFolders } from "./claude_environment.ts";

const MIB = 1024 * 1024;
const OUTPUT_BYTES = 8 * MIB;
const LINE_BYTES = MIB;
/** A run has dozens. Many short ones would take longer to read than any time limit. */
const LINES = 10_000;
const STDERR_LINE_BYTES = 8 * 1024;
const LAST_WORDS = { lines: 5, chars: 300 };
/** How long it has to end once it is asked to, and what it wrote last to arrive. */
const ASKED_MS = 500;
const ARRIVAL_MS = 1_000;
const REMOVE_TRIES = 5;

export interface ClaudeCommand {
  path: string;
  /** `{folder}/` at the start of one stands for the folder that `files` are in. */
  args: readonly string[];
  files?: Readonly<Record<string, string>>;
  input: string;
  /** The gateway's own, of which it gets what it needs. */
  env: Readonly<Record<string, string>>;
  /** Variables of this command only. */
  setEnv?: Readonly<Record<string, string>>;
  owner?: ProcessOwner | undefined;
  /** Without it, what a killed gateway leaves of its folder stays. */
  folders?: RunFolders | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  /** Whether its input stays open, for what is sent to it later. */
  isConversation?: boolean;
  /** Gets each line of output; true: that was all that is wanted, and the program is ended. */
  onLine(line: string, send: (line: string) => void): boolean;
}

/** How it ended. `lastWords` is the end of its stderr, and may contain secrets. */
export type ClaudeEnd =
  | { how: "enough" }
  | { how: "exit"; code: number; lastWords: string }
  | { how: "timeout"; lastWords: string }
  | { how: "too-large"; lastWords: string }
  | { how: "not-started"; isMissing: boolean; reason: string };

/** One process with its own group, home and folder; all are gone when this resolves or throws. */
export async function runClaude(command: ClaudeCommand): Promise<ClaudeEnd> {
  command.signal.throwIfAborted();
  const folder = await (command.folders?.make() ?? Deno.makeTempDir({ prefix: "run_" }));
  try {
    return await runIn(folder, command);
  } finally {
    await removeFolder(folder);
  }
}

async function runIn(folder: string, command: ClaudeCommand): Promise<ClaudeEnd> {
  const folders = foldersIn(folder);
  for (const path of Object.values(folders)) await Deno.mkdir(path, { mode: 0o700 });
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await Deno.writeTextFile(join(folder, name), text, { mode: 0o600, createNew: true });
  }
  // It runs in another folder, where a relative path would mean something else.
  const path = /[/\\]/.test(command.path) ? resolve(command.path) : command.path;
  const announced = await command.owner?.announce(path);
  let survivors: number[] = [];
  try {
    const child = spawnGroup({
      command: path,
      args: command.args.map((argument) => argument.replace(/^\{folder\}(?=\/)/, () => folder)),
      env: { ...claudeEnv(command.env, folders), ...command.setEnv, ...command.owner?.markerEnv },
      cwd: folders.work,
    });
    announced?.started(child.pid);
    const attended = await attend(child, command);
    survivors = attended.survivors;
    if (attended.how === "aborted") throw command.signal.reason;
    return attended.how;
  } catch (error) {
    command.signal.throwIfAborted();
    const isMissing = systemErrorCode(error) === "ENOENT";
    return { how: "not-started", isMissing, reason: await startFailure(error, { command: path }) };
  } finally {
    // A record that stays lets the next start end what could not be ended here.
    if (survivors.length === 0) await announced?.[Symbol.asyncDispose]();
  }
}

async function attend(
  child: Deno.ChildProcess,
  { input, timeoutMs, signal, onLine, isConversation = false }: ClaudeCommand,
): Promise<{ how: ClaudeEnd | "aborted"; survivors: number[] }> {
  const over = Promise.withResolvers<"enough" | "timeout" | "too-large" | "aborted">();
  const onAbort = () => over.resolve("aborted");
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => over.resolve("timeout"), timeoutMs);
  const lastWords: string[] = [];
  const keep = (line: string) => {
    lastWords.push(shortened(line, LAST_WORDS.chars));
    if (lastWords.length > LAST_WORDS.lines) lastWords.shift();
  };
  let lines = 0;
  let bytes = 0;
  const onTooLarge = () => over.resolve("too-large");
  // A program that ends without reading its input breaks the pipe; its exit code says enough.
  const stdin = child.stdin.getWriter();
  const send = (text: string) => void stdin.write(new TextEncoder().encode(text)).catch(() => {});
  const splitter = new LineSplitter({
    maxBytes: LINE_BYTES,
    headBytes: 0,
    onLine(line) {
      if (++lines > LINES) onTooLarge();
      else if (onLine(line, (text) => send(`${text}\n`))) over.resolve("enough");
    },
    onLongLine: onTooLarge,
  });
  const output = readChunks(child.stdout, splitter, (chunk) => {
    bytes += chunk.length;
    if (bytes > OUTPUT_BYTES) onTooLarge();
    return bytes <= OUTPUT_BYTES && lines <= LINES;
  });
  const errors = readChunks(
    child.stderr,
    new LineSplitter({
      maxBytes: STDERR_LINE_BYTES,
      headBytes: STDERR_LINE_BYTES,
      onLine: keep,
      onLongLine: keep,
    }),
  );
  send(input);
  if (!isConversation) stdin.close().catch(() => {});
  const exited = (async () => {
    const { code } = await child.status;
    // What it wrote before its end counts; a child of its own may keep the pipes open for good.
    await settledWithin(Promise.all([output.ended, errors.ended]), ARRIVAL_MS);
    return code;
  })();
  const end = await Promise.race([over.promise, exited]);
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);

  const survivors = await endGroups([child.pid], ASKED_MS);
  if (survivors.length === 0) await settledWithin(exited, ARRIVAL_MS);
  output.cancel();
  errors.cancel();
  stdin.abort().catch(() => {});
  return { how: endOf(end, lastWords.join("\n")), survivors };
}

function endOf(
  end: number | "enough" | "timeout" | "too-large" | "aborted",
  lastWords: string,
): ClaudeEnd | "aborted" {
  if (typeof end === "number") return { how: "exit", code: end, lastWords };
  if (end === "aborted") return end;
  return end === "enough" ? { how: end } : { how: end, lastWords };
}

/** Reads until the stream ends or `isWanted()` refuses a chunk; then the rest is dropped. */
function readChunks(
  stream: ReadableStream<Uint8Array>,
  splitter: LineSplitter,
  isWanted: (chunk: Uint8Array) => boolean = () => true,
): LineReader {
  const reader = stream.getReader();
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return splitter.end();
      if (!isWanted(value)) return await reader.cancel();
      splitter.push(value);
    }
  };
  return {
    ended: read().catch((error) => error),
    cancel: () => void reader.cancel().catch(() => {}),
  };
}

/** A program that left its group may still be writing there. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (attempt === REMOVE_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    }
  }
}
