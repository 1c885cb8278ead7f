import { type RemoteSpec, type ServerSpec } from "../core/server.ts";
import { configError } from "./files.ts";

// The ports of the Fetch standard's block list: Deno's fetch never connects to them.
const BLOCKED = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
  ...[101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601],
  ...[636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

export function isBlockedPort(url: URL): boolean {
  return url.port !== "" && BLOCKED.has(Number(url.port));
}

/** The entry of a server with a URL. Throws if no client could connect to it. */
export function addressSpec(
  url: string,
  headers: Record<string, string> = {},
  type: RemoteSpec["type"] = "http",
): ServerSpec {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") {
    throw configError(
      `Cannot use "${url.slice(0, 200)}": it is not a valid http or https URL`,
      "Use a full URL, such as https://example.com/mcp",
    );
  }
  if (isBlockedPort(parsed)) {
    throw configError(
      `Cannot use port ${parsed.port}: HTTP clients block it`,
      "Run the server on another port",
    );
  }
  return { type, url, headers };
}

const BARE = /^((?:[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?)|\[[\da-f:.]+\]):(\d{1,5})(?:[/?#]\S*)?$/i;
const LOCAL = /^[^.]+$|^[\d.]+$|^\[|\.(?:localhost|local|lan|internal|home\.arpa)$/i;
const SECURE_PORTS = new Set(["443", "8443"]);

interface CompletedAddress {
  url: string;
  note: string;
}

/**
 * Completes `host:port` and `host:port/path`; undefined for anything else. Without a port it could
 * as well be a program's path. Names of the open internet get https, so that no credential goes
 * there in the clear; what is close by rarely has a certificate.
 */
export function completeAddress(text: string): CompletedAddress | undefined {
  const [, host, port] = BARE.exec(text) ?? [];
  if (host === undefined || port === undefined) return undefined;
  const isPlain = !SECURE_PORTS.has(port) && (port === "80" || LOCAL.test(host));
  const scheme = isPlain ? "http" : "https";
  const url = `${scheme}://${text}`;
  if (!URL.canParse(url)) return undefined;
  // A query may hold a key, which notes must not show.
  const shown = url.split(/[?#]/)[0];
  const other = isPlain ? "https" : "http";
  return {
    url,
    note: `Interpreted as ${shown}. To use ${other} instead, start the URL with ${other}://`,
  };
}

/** Whether a host, as a URL or an option has it, is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether the gateway's public address is that of another host than this machine. */
export function hasPublicUrl(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
}
