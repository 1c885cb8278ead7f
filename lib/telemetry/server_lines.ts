import { z } from "zod";

/** A line of the gateway's own log that is about one server. */
export interface ServerLine {
  /** In ms since the epoch. */
  time: number;
  level: string;
  text: string;
}

const KEPT_LINES = 200;
/** More servers than anybody has: names that come and go must not add up. */
const KEPT_SERVERS = 2_000;

const Entry = z.object({
  level: z.string(),
  time: z.iso.datetime(),
  serverName: z.string(),
  msg: z.string(),
  reason: z.string().optional(),
  problem: z.string().optional(),
  toolName: z.string().optional(),
  err: z.object({ message: z.string() }).optional(),
});

/** The last lines of the log about each server, as they were written: redacted. */
export class ServerLines {
  readonly #lines = new Map<string, ServerLine[]>();

  /** Takes a line of the log, if it is about a server. */
  take(line: string): void {
    // Most lines are not, and are not worth a parse.
    if (!line.includes('"serverName":')) return;
    const entry = Entry.safeParse(parseJson(line)).data;
    // What the server itself wrote is kept elsewhere.
    if (entry === undefined || entry.msg === "stderr") return;
    const { serverName, level, time } = entry;
    const lines = this.#lines.get(serverName) ?? [];
    lines.push({ time: Date.parse(time), level, text: inWords(entry) });
    if (lines.length > KEPT_LINES) lines.shift();
    this.#lines.set(serverName, lines);
    if (this.#lines.size > KEPT_SERVERS) this.forget(this.#lines.keys().next().value ?? "");
  }

  /** Newest first. */
  of(server: string): ServerLine[] {
    return this.#lines.get(server)?.toReversed() ?? [];
  }

  forget(server: string): void {
    this.#lines.delete(server);
  }
}

function inWords({ msg, reason, problem, toolName, err }: z.infer<typeof Entry>): string {
  const why = reason ?? err?.message ?? problem;
  const what = toolName === undefined ? msg : `${msg} (${toolName})`;
  return why === undefined ? what : `${what}: ${why}`;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
