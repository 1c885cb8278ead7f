import type { ServerSpec } from "../core/server.ts";
import { isBlockedPort } from "./blocked_ports.ts";
import { configError } from "./problem.ts";

/** The entry of a server elsewhere. Throws where no client could reach the address. */
export function addressSpec(
  url: string,
  headers: Record<string, string> = {},
  type: "http" | "sse" = "http",
): ServerSpec {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") {
    throw configError(
      `Cannot use the address "${url.slice(0, 200)}"`,
      "Give a whole one that begins with https:// or http://",
    );
  }
  if (isBlockedPort(parsed)) {
    throw configError(
      `Cannot use port ${parsed.port}: no web client connects to it`,
      "Let the server listen on another port",
    );
  }
  return { type, url, headers };
}
