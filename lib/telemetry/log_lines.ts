import { styleText } from "node:util";
import { showHidden, shownLine, visibleJson } from "../core/text.ts";

/** Formats a JSON entry for the terminal; undefined keeps the entry in the log file only. */
export type LineFormat = (json: string) => string | undefined;

export interface LogTerminal {
  format: LineFormat;
  write(line: string): void;
}

const COLORS = {
  trace: "gray",
  debug: "gray",
  info: "green",
  warn: "yellow",
  error: "red",
  fatal: "red",
} as const;

const BRIEF: Partial<Record<string, string>> = {
  warn: "warning",
  error: "error",
  fatal: "error",
};

const encoder = new TextEncoder();

/** Synchronous on purpose: a crash's last line is the one that matters. */
export function writeToStderr(text: string): void {
  let bytes = encoder.encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(Deno.stderr.writeSync(bytes));
  } catch { /* Nobody reads it any more: a pipe or a terminal was closed. */ }
}

type Entry = Record<string, unknown> & { level: string; msg: string };

/** The requested format; undefined for JSON. `auto` is readable on a terminal, JSON otherwise. */
export function lineFormat(asked: "auto" | "json" | "pretty"): LineFormat | undefined {
  const isTerminal = Deno.stderr.isTerminal();
  if (asked === "json" || asked === "auto" && !isTerminal) return undefined;
  return readableLine(isTerminal && !Deno.noColor);
}

export function readableLine(isColored: boolean): LineFormat {
  return (json) => {
    const entry = parseEntry(json);
    if (!entry) return json;
    const { time, level, module, msg, ...fields } = entry;
    const label = painted(level, level.toUpperCase().padEnd(5), isColored);
    const details = Object.keys(fields).length === 0 ? "" : ` ${visibleJson(fields)}`;
    return `${clockTime(time, 12)} ${label} ${module}: ${shownLine(msg)}${details}\n`;
  };
}

/** Only warnings and errors, kept short; the log file has the rest. */
export function briefLine(isColored: boolean): LineFormat {
  return (json) => {
    const entry = parseEntry(json);
    if (!entry) return json;
    const { time, level, msg, method, path, status } = entry;
    const label = BRIEF[level];
    if (label === undefined) return undefined;
    const request = path === undefined ? "" : ` ${method} ${path}: ${status}`;
    const reason = reasonIn(entry, msg);
    return `${clockTime(time, 8)} ${painted(level, `${label}:`, isColored)} ${
      shownLine(`${msg}${request}${reason}`)
    }\n`;
  };
}

function parseEntry(json: string): Entry | undefined {
  try {
    const { level, msg = "", ...rest } = JSON.parse(json);
    return { ...rest, level: String(level), msg: String(msg) };
  } catch {
    return undefined; // Masking a secret broke the JSON: show the line as it is.
  }
}

/** The entry's cause, unless its message already includes it. */
function reasonIn({ err, error }: Entry, msg: string): string {
  const cause = err ?? error;
  const text = typeof cause === "string"
    ? cause
    : (cause as { message?: unknown } | null | undefined)?.message;
  return typeof text !== "string" || text === "" || msg.includes(text) ? "" : `: ${text}`;
}

function clockTime(time: unknown, length: 8 | 12): string {
  const date = new Date(String(time));
  if (Number.isNaN(date.getTime())) return showHidden(String(time));
  const part = (value: number, digits = 2) => String(value).padStart(digits, "0");
  const text = `${part(date.getHours())}:${part(date.getMinutes())}:${part(date.getSeconds())}` +
    `.${part(date.getMilliseconds(), 3)}`;
  return text.slice(0, length);
}

function painted(level: string, text: string, isColored: boolean): string {
  const color = COLORS[level as keyof typeof COLORS];
  return isColored && color ? styleText(color, text, { validateStream: false }) : text;
}
