import type { ComparedTask, TaskCheck } from "../../core/task_comparison.ts";
import { settledWithin } from "../../core/async.ts";
import { errorMessage } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import { endGroups, spawnGroup } from "../../servers/processes/process_group.ts";
import type { ProcessOwner } from "../../servers/processes/process_owner.ts";
import { holds } from "../evaluation/scoring.ts";

/** A pattern is tried on so much of an answer: one that backtracks must not stop the gateway. */
const MATCHED_CHARS = 5_000;
const COMMAND_MS = 60_000;
const GRACE_MS = 500;
const SAID_CHARS = 300;

/** What a client did for a task. */
export interface TaskOutcome {
  answer: string;
  /** Tools by `server.tool`. */
  calls: { tool: string; arguments: unknown; failed: boolean }[];
}

/** Why a task was not done; undefined if all of its checks hold. */
export async function failedCheck(
  { checks }: Pick<ComparedTask, "checks">,
  outcome: TaskOutcome,
  runCommand: (command: readonly string[], outcome: TaskOutcome) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const check of checks) {
    const problem = "command" in check
      ? await runCommand(check.command, outcome)
      : problemWith(check, outcome);
    if (problem !== undefined) return problem;
  }
}

function problemWith(
  check: Exclude<TaskCheck, { command: unknown }>,
  { answer, calls }: TaskOutcome,
): string | undefined {
  if ("contains" in check) {
    const has = answer.toLowerCase().includes(check.contains.toLowerCase());
    return has ? undefined : `the answer does not contain "${shortened(check.contains, 100)}"`;
  }
  if ("matches" in check) {
    const is = answerPattern(check.matches).test(answer.slice(0, MATCHED_CHARS));
    return is ? undefined : `the answer does not match /${shortened(check.matches, 100)}/`;
  }
  const own = calls.filter(({ tool, failed }) => tool === check.called && !failed);
  if (own.length === 0) {
    const isTried = calls.some(({ tool }) => tool === check.called);
    return `${check.called} was ${isTried ? "called without success" : "not called"}`;
  }
  const fits = own.some((call) => holds(check.arguments ?? {}, call.arguments));
  return fits ? undefined : `${check.called} was called with other arguments`;
}

/** Throws SyntaxError. */
export function answerPattern(text: string): RegExp {
  return new RegExp(text, "iu");
}

interface CheckCommands {
  cwd: string;
  env: Record<string, string>;
  owner: ProcessOwner;
  signal: AbortSignal;
  timeoutMs?: number;
}

/** Runs a user's own program, which gets the outcome as JSON on stdin; exit code 0 is a success. */
export async function runCheckCommand(
  [program = "", ...args]: readonly string[],
  outcome: TaskOutcome,
  { cwd, env, owner, signal, timeoutMs = COMMAND_MS }: CheckCommands,
): Promise<string | undefined> {
  signal.throwIfAborted();
  const name = `the check \`${shortened([program, ...args].join(" "), 80)}\``;
  await using announced = await owner.announce(program);
  let child: Deno.ChildProcess;
  try {
    child = spawnGroup({ command: program, args, cwd, env: { ...env, ...owner.markerEnv } });
  } catch (error) {
    return `${name} cannot be started: ${errorMessage(error)}`;
  }
  announced.started(child.pid);
  const said = lastOf(child.stdout, child.stderr);
  const input = child.stdin.getWriter();
  // A program that does not read its input breaks the pipe.
  input.write(new TextEncoder().encode(JSON.stringify(outcome)))
    .then(() => input.close()).catch(() => {});
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const over = Promise.withResolvers<void>();
  const stop = () => over.resolve();
  limit.addEventListener("abort", stop);
  if (limit.aborted) stop();
  const status = await Promise.race([child.status, over.promise]);
  limit.removeEventListener("abort", stop);
  await endGroups([child.pid], GRACE_MS);
  signal.throwIfAborted();
  if (!status) return `${name} did not end within ${timeoutMs / 1_000} s`;
  if (status.success) return undefined;
  await settledWithin(said, GRACE_MS);
  const words = await Promise.race([said, Promise.resolve("")]);
  return `${name} failed with exit code ${status.code}${words === "" ? "" : `: ${words}`}`;
}

/** The end of what a program wrote; read to the end, or it would wait to write more. */
async function lastOf(...streams: ReadableStream<Uint8Array>[]): Promise<string> {
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const part of stream) {
      text = (text + decoder.decode(part, { stream: true })).slice(-SAID_CHARS);
    }
    return text.trim();
  };
  const texts = await Promise.all(streams.map((stream) => read(stream).catch(() => "")));
  return texts.filter((text) => text !== "").join("\n").slice(-SAID_CHARS);
}
