import { formatBytes, formatSpan } from "./format.ts";

/** How long something took, to a tenth of a millisecond where it was quick. */
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

/** A door in words: "mcp?default" is "/mcp (default)". */
export function doorName(door: string): string {
  const [path = "", view = ""] = door.split("?");
  return view === "" ? `/${path}` : `/${path} (${view.replaceAll("&", ", ")})`;
}
