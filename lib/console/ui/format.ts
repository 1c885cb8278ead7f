const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A moment as a person says it: "just now", "3 min ago", "2 days ago". */
export function formatAgo(then: number, now: number): string {
  const ms = now - then;
  if (ms < 10 * SECOND) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? "1 day ago" : `${days} days ago`;
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

/** Bytes in the unit that keeps the number short: "512 KiB", "4 MiB". */
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
