import { codePoints, HIDDEN, showHidden } from "../../core/text.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function formatAgo(then: number, now: number): string {
  const ms = now - then;
  if (ms < 10 * SECOND) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

/** A moment to the second, in the reader's time: "Nov 12, 2026, 14:03:22". */
export function formatExact(at: number): string {
  return new Date(at).toLocaleString("en-US", {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
  });
}

/** A moment as a log has it, in the reader's time: "14:03:22", "Nov 12 14:03" on other days. */
export function formatClock(at: number, now: number): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date(now).toDateString();
  const clock = time.toLocaleTimeString("en-GB");
  if (isToday) return clock;
  const day = time.toLocaleDateString("en-US", { month: "short", day: "numeric" });
  return `${day} ${clock.slice(0, 5)}`;
}

/** A length of time in its two largest units: "42 s", "3 min", "2 h 5 min", "4 days 2 h". */
export function formatSpan(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return join(Math.floor(ms / HOUR), "h", Math.floor(ms % HOUR / MINUTE), "min");
  const days = Math.floor(ms / DAY);
  return join(days, days === 1 ? "day" : "days", Math.floor(ms % DAY / HOUR), "h");
}

function join(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** How long something took: "<1 ms", "38 ms", "1.2 s", "2 min". */
export function formatLatency(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  return formatSpan(ms);
}

/** A number with its noun: "1 server", "2,140 tools". */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/** "13 %", and "0.4 %" for what would round to nothing. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? percent.toFixed(1) : Math.round(percent)} %`;
}

export function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(ms: number): string {
  if (ms < 0.1) return "<0.1 ms";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return formatSpan(ms);
}

/** What went in and what came out: "120 bytes in, 4 KiB out"; undefined where that is not known. */
export function formatSizes(sizes: {
  requestBytes?: number | undefined;
  responseBytes?: number | undefined;
}): string | undefined {
  const { requestBytes, responseBytes } = sizes;
  if (requestBytes === undefined || responseBytes === undefined) return undefined;
  return `${formatBytes(requestBytes)} in, ${formatBytes(responseBytes)} out`;
}

/** The same in little room: "0.1 / 4.0" in KiB. */
export function formatKib(bytes: number | undefined): string {
  if (bytes === undefined) return "–";
  const kib = bytes / 1024;
  return kib < 0.1 ? "<0.1" : kib < 100 ? kib.toFixed(1) : Math.round(kib).toLocaleString("en-US");
}

/** An endpoint in words: "mcp?default" is "/mcp (default)". */
export function endpointName(endpoint: string): string {
  const [path = "", view = ""] = endpoint.split("?");
  // The usual names of a server's own endpoint.
  const isUsual = view === "" || view === "namespaced";
  return isUsual ? `/${path}` : `/${path} (${view.replaceAll("&", ", ")})`;
}

const VIEWS: Record<string, [short: string, whole: string]> = {
  default: [
    "search, equipped toolset",
    "Lists tool search, the toolset tools and the equipped toolset. Every enabled tool can be found by search and called.",
  ],
  discovery: [
    "search only",
    "Lists tool search only: tool_discovery, tool_execute and tool_capabilities. Every enabled tool can be found and called.",
  ],
  index: [
    "tool index",
    "Lists three tools that read the index of all tools, describe a tool and call it.",
  ],
  optimizer: [
    "find and call",
    "Lists two tools: optim.find_tool finds a tool, optim.call_tool calls it.",
  ],
  toolset: [
    "equipped toolset only",
    "Lists only the tools of the equipped toolset. Every enabled tool can be called.",
  ],
  all: ["every tool", "Lists every enabled tool."],
};

/** What an endpoint lists to a model, in two words and in a sentence. */
export function endpointMeaning(endpoint: string): { short: string; whole: string } | undefined {
  const [path = "", view = ""] = endpoint.split("?");
  const [kind, name = ""] = path.split("/");
  const of = (short: string, whole: string) => ({ short, whole });
  if (kind === "toolsets") return of("one toolset", `Lists the tools of the toolset ${name}.`);
  if (kind === "servers") return of("one server", `Lists all tools of the server ${name}.`);
  if (kind === "gateway") {
    return of("gateway tools", "Lists the tools that manage this gateway.");
  }
  const [short, whole] = VIEWS[view.split("&")[0] ?? ""] ?? [];
  return short === undefined || whole === undefined ? undefined : of(short, whole);
}

type InertPart = { text: string } | { hidden: string };

/** Beyond so many parts a page would choke on their elements: the rest is one text. */
const MAX_PARTS = 1_000;

export function inertParts(text: string): InertPart[] {
  const parts: InertPart[] = [];
  let end = 0;
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (parts.length >= MAX_PARTS) return [...parts, { text: showHidden(text.slice(end)) }];
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ hidden: codePoints(run) });
    end = index + run.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The same in one string, for attributes: `a<U+202E>b`. */
export function inertString(text: string): string {
  return showHidden(text);
}
