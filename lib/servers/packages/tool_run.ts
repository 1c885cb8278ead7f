import type { Readable } from "node:stream";
import { within } from "../../core/async.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Install, Installs } from "../processes/installs.ts";
import { endGroups } from "../processes/process_group.ts";
import type { ProcessOwner } from "../processes/process_owner.ts";
import { explainingLine, startPiped } from "../processes/program.ts";

const MAX_CHARS = 64 * 1024 * 1024;
/** When asked to end, npm removes a partial install, which takes up to 2 s. */
const ROLLBACK_MS = 2_000;
const ARRIVAL_MS = 1_000;

export interface ToolPlace {
  owner: ProcessOwner;
  installs: Installs;
  env: Record<string, string>;
  cwd?: string | undefined;
  /** The server is isolated: nothing of its packages may run outside. */
  isIsolated?: boolean;
  signal: AbortSignal;
  /** Reports what is being fetched; undefined when that is done. */
  onInstall(reason: string | undefined): void;
  onLine?(line: string): void;
}

interface ToolRun extends ToolPlace {
  words: readonly string[];
  /** What it reads from its standard input. */
  input?: string | undefined;
  /** An install that must not be ended while it writes. */
  install?: Install | undefined;
  limitMs?: number;
}

/** npm or uv could not do what it was asked. */
export class ToolFailed extends Error {
  /** All that it wrote to stderr. */
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

/** Runs npm or uv to its end and returns what it printed; throws if it fails. */
export async function runTool(run: ToolRun): Promise<string> {
  const { words: [command = "", ...args], env, cwd, owner, installs, signal, install } = run;
  signal.throwIfAborted();
  const announced = await owner.announce(command);
  const end = async (pid: number) => {
    await endGroups([pid], ROLLBACK_MS);
    await announced[Symbol.asyncDispose]();
  };
  let child;
  try {
    child = await startPiped({ command, args, env, cwd });
    announced.started(child.pid);
  } catch (error) {
    await announced[Symbol.asyncDispose]();
    throw error;
  }
  const { pid } = child;
  child.stdin.on("error", () => {});
  child.stdin.end(run.input ?? "");
  const output = textOf(child.stdout);
  const complaint = textOf(child.stderr, (line) => {
    install?.wrote(line);
    run.onLine?.(line);
  });
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const abort = () => stopped.reject(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = run.limitMs === undefined ? undefined : setTimeout(() => {
    stopped.reject(new GatewayError("TIMEOUT", { message: `${command} did not finish in time` }));
  }, run.limitMs);
  install?.watch(pid, (reason) => stopped.reject(new Error(reason)));
  try {
    const { code } = await Promise.race([child.ended, stopped.promise]);
    const [written = "", errors = ""] =
      await within(Promise.all([output, complaint]), ARRIVAL_MS) ?? [];
    await end(pid);
    if (code === 0) return written;
    throw new ToolFailed(explainingLine(errors.split("\n")) ?? `exited with code ${code}`, errors);
  } catch (error) {
    if (signal.aborted && install?.isActive) installs.linger(install, () => end(pid));
    else await end(pid);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

async function textOf(stream: Readable, onLine?: (line: string) => void): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  try {
    for await (const chunk of stream) {
      if (text.length < MAX_CHARS) text += chunk;
      for (const line of String(chunk).split("\n")) if (line.trim() !== "") onLine?.(line);
    }
  } catch { /* the program has ended */ }
  return text;
}
