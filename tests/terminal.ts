import { stripVTControlCharacters } from "node:util";
import { fromFileUrl } from "@std/path";

export const ROOT = fromFileUrl(new URL("..", import.meta.url));

/** A program on a pseudo-terminal, as a person starts it. */
export interface Terminal extends AsyncDisposable {
  /** What was shown so far, without colors; a line that was replaced in place is there, too. */
  text(): string;
  /** The same with everything that steers the terminal. */
  raw(): string;
  /** Waits until the text matches; fails with what was shown if the program ends first. */
  shows(pattern: RegExp, limitMs?: number): Promise<RegExpMatchArray>;
  /** Types a line and presses Enter. */
  type(line: string): Promise<void>;
  /** Presses Ctrl-C. */
  interrupt(): Promise<void>;
  /** How the program ended. */
  ended(limitMs?: number): Promise<Deno.CommandStatus>;
}

export interface TerminalOptions {
  cwd?: string;
  env?: Record<string, string>;
  clearEnv?: boolean;
  columns?: number;
}

/** Runs a command on a pseudo-terminal of util-linux; the shell makes room for it. */
export function openTerminal(
  command: string,
  { cwd = ROOT, env = {}, clearEnv = false, columns = 120 }: TerminalOptions = {},
): Terminal {
  const child = new Deno.Command("script", {
    args: ["-qec", `stty cols ${columns} rows 40; exec ${command}`, "/dev/null"],
    cwd,
    env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    clearEnv,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  let raw = "";
  let isOver = false;
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) raw += text;
    isOver = true;
  })();
  const text = () => stripVTControlCharacters(raw).replaceAll("\r\n", "\n");

  async function shows(pattern: RegExp, limitMs = 60_000): Promise<RegExpMatchArray> {
    const begun = Date.now();
    while (true) {
      // Before the look: what came last is in it.
      const isLast = isOver || Date.now() - begun > limitMs;
      const match = text().match(pattern);
      if (match) return match;
      if (isLast) throw new Error(`The terminal never showed ${pattern}:\n${text()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function ended(limitMs = 60_000): Promise<Deno.CommandStatus> {
    const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
    const status = await child.status;
    clearTimeout(timer);
    await reading;
    return status;
  }

  return {
    text,
    raw: () => raw,
    shows,
    type: (line) => writer.write(new TextEncoder().encode(`${line}\r`)),
    interrupt: () => writer.write(new Uint8Array([3])),
    ended,
    async [Symbol.asyncDispose]() {
      await writer.write(new Uint8Array([3])).catch(() => {});
      await ended();
      await writer.abort().catch(() => {});
    },
  };
}

/** Quotes a word for the shell. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
