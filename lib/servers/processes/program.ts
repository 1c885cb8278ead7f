import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { isAbsolute, join } from "node:path";
import { type GroupCommand, LEADS_GROUP, spawnGroup } from "./process_group.ts";
import { systemErrorCode } from "../../core/errors.ts";
import { failureCause } from "../../core/failure_cause.ts";

export interface PipedProgram {
  pid: number;
  ended: Promise<ProgramEnd>;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

export interface ProgramEnd {
  code: number;
  signal: string | null;
}

/** Starts a program as `spawnGroup()` does, with Node's pipes, which take less time than streams. */
export async function startPiped(program: GroupCommand): Promise<PipedProgram> {
  if (wouldChange(program)) return streamed(program);
  const { command, args, env, cwd } = program;
  const child = spawn(command, args, {
    // Named, so that it is not the gateway's own, which `spawn()` would add.
    env: { NODE_V8_COVERAGE: undefined, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    detached: LEADS_GROUP,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = Promise.withResolvers<ProgramEnd>();
  child.on("exit", (code, signal) => {
    ended.resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal });
  });
  await once(child, "spawn");
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined) throw new Error(`No process was started for "${command}"`);
  return { pid, ended: ended.promise, stdin, stdout, stderr };
}

/**
 * Deno's version of Node's `spawn()` takes Deno for Node: for this very binary it makes other
 * arguments of those given, with all permissions. What was agreed to is what has to run.
 */
function wouldChange({ command, args, env }: GroupCommand): boolean {
  const deno = Deno.execPath();
  return [command, ...args, ...Object.values(env)].some((text) => text.includes(deno));
}

function streamed(program: GroupCommand): PipedProgram {
  const { pid, status, stdin, stdout, stderr } = spawnGroup(program);
  return {
    pid,
    ended: status,
    stdin: Writable.fromWeb(stdin),
    stdout: Readable.fromWeb(stdout),
    stderr: Readable.fromWeb(stderr),
  };
}

/** Why a program could not be started, in words that say what to change. */
export async function startFailure(
  error: unknown,
  { command, cwd }: { command: string; cwd?: string | undefined },
): Promise<string> {
  if (cwd !== undefined) {
    const folder = await statOf(cwd);
    if (folder === undefined) return `its working directory "${cwd}" does not exist`;
    if (!folder.isDirectory) return `its working directory "${cwd}" is not a directory`;
  }
  const isPath = /[/\\]/.test(command);
  const code = systemErrorCode(error);
  const isMissing = code === "ENOENT";
  if (isMissing && !isPath) return `command "${command}" is not on PATH`;
  const file = isPath
    ? await statOf(isAbsolute(command) ? command : join(cwd ?? ".", command))
    : undefined;
  if (isPath && file === undefined) return `there is no file "${command}"`;
  if (file?.isDirectory) return `"${command}" is a directory, not a program`;
  if (isMissing) return `the interpreter that "${command}" names in its first line was not found`;
  if (code === "EACCES") return `"${command}" is not executable`;
  return error instanceof Error ? error.message : String(error);
}

function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  return Deno.stat(path).catch(() => undefined);
}

const MAX_LINES = { first: 60, last: 60 };
const LINE_LENGTH = 300;

/** Lines around an error that explain nothing. */
const NOISE = [
  /^\s*at .+/,
  /^\s*[\^~{}[\]()|]+[,;]?\s*$/,
  /^\s*(?:code|errno|syscall|path|address|port|requireStack|url|cause):? /,
  /^node:[\w/]+:\d+/,
  /^Node\.js v\d/,
  /^npm (?:warn|notice)\b/i,
  /^npm (?:error|ERR!)(?: (?:code|syscall|path|dest|errno|signal|command|A complete log)\b.*| \d+| )?$/,
  /^Require stack:|^- \//,
  /^\s+(?:throw|File ")\b/,
];

/** Most telling patterns first. */
const TELLING = [
  /^npm (?:error|ERR!) \S/,
  /^(?:Uncaught |Unhandled |Fatal )?(?:[\w.]*(?:Error|Exception)\b|panic:|error(?:\[\w+\])?:|fatal:)/i,
  /panicked at|command not found|: not found$|EADDRINUSE|address already in use/i,
  /\b(?:error|failed|fatal|cannot|could not|unable to|exception)\b/i,
  /^usage:/i,
];

/** A program's stderr: the first and last lines while it starts, then only the last lines. */
export class ProgramOutput {
  #first: string[] = [];
  readonly #last: string[] = [];
  #isStarted = false;

  add(line: string): void {
    const isFirst = !this.#isStarted && this.#first.length < MAX_LINES.first;
    (isFirst ? this.#first : this.#last).push(line);
    if (this.#last.length > MAX_LINES.last) this.#last.shift();
  }

  /** The program works, so its output so far no longer explains a failure. */
  started(): void {
    this.#isStarted = true;
    this.#first = [];
    this.#last.length = 0;
  }

  get lines(): string[] {
    return [...this.#first, ...this.#last];
  }
}

/** The line that explains the failure; undefined if nothing was written. */
export function explainingLine(written: readonly string[]): string | undefined {
  // deno-lint-ignore no-control-regex
  const lines = written.map((line) => line.replace(/\x1b\[[0-9;]*[A-Za-z]/g, "").trimEnd());
  const found = pythonError(lines) ?? bestOf(lines);
  const next = found === undefined ? undefined : lines[lines.indexOf(found) + 1];
  // Rust prints the panic message on the next line.
  const whole = found?.includes("panicked at") && next ? `${found} ${next}` : found;
  const text = whole?.trim();
  return text === undefined || text.length <= LINE_LENGTH ? text : `${text.slice(0, LINE_LENGTH)}…`;
}

function bestOf(lines: readonly string[]): string | undefined {
  const candidates = lines.filter((line) =>
    line.trim() !== "" && !NOISE.some((noise) => noise.test(line))
  );
  // A line with a known remedy is better than one that only looks like an error.
  const known = candidates.find((line) => failureCause(line) !== undefined);
  if (known !== undefined && !/^usage:/i.test(known)) return known;
  for (const pattern of TELLING) {
    const line = candidates.find((line) => pattern.test(line.trimStart()));
    if (line !== undefined) return line;
  }
  return candidates.at(-1) ?? lines.findLast((line) => line.trim() !== "");
}

/** Python prints the error after its traceback, on the first line that is not indented. */
function pythonError(lines: readonly string[]): string | undefined {
  const start = lines.findLastIndex((line) => /^\s*Traceback \(most recent call last\)/.test(line));
  if (start === -1) return undefined;
  return lines.slice(start + 1).find((line) => /^[A-Za-z_][\w.]*(?::|$)/.test(line));
}

export function isBrokenNpx(lines: readonly string[], folder: string): boolean {
  const hash = folder.split(/[/\\]/).at(-1)!;
  const isThere = (line: string) => new RegExp(`_npx[/\\\\]+${hash}(?:[/\\\\]|\\b)`).test(line);
  const isAbout = lines.some(isThere);
  return lines.some((line) =>
    (isThere(line) && /Cannot find (?:package|module)|imported from/.test(line)) ||
    (isAbout && /\b(?:ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND)\b/.test(line)) ||
    (isAbout && /^npm (?:error|ERR!) code (?:ENOENT|ENOTEMPTY|EEXIST|ENOTDIR)\b/.test(line)) ||
    /^npm (?:error|ERR!) Invalid Version:/.test(line) ||
    /^npm (?:error|ERR!) could not determine executable to run/.test(line) && isAbout ||
    /^npm (?:error|ERR!) code ECOMPROMISED|Lock compromised/.test(line)
  );
}
