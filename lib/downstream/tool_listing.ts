import { GatewayError } from "../core/errors.ts";
import { elementTexts } from "../core/json_spans.ts";
import { memberText } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";

/** A server that lists forever is stopped here; real ones have at most a few thousand tools. */
const MAX_TOOLS = 20_000;
const MAX_PAGES = 2_000;
const MAX_CHARS = 64 * 1024 * 1024;
const PAGE_TIMEOUT_MS = 30_000;
/** For all pages together, or a slow server could take hours. */
const LIST_TIMEOUT_MS = 60_000;

/** Every tool of a server as the text it came in, all pages. */
export async function listToolTexts(
  connection: Pick<Connection, "has" | "call">,
  serverName: string,
  timeoutMs = LIST_TIMEOUT_MS,
): Promise<string[]> {
  if (!connection.has("tools")) return [];
  const deadline = Date.now() + timeoutMs;
  const tools: string[] = [];
  const seen = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const left = deadline - Date.now();
    if (left <= 0) break;
    const { text } = await connection.call({
      method: "tools/list",
      params: cursor === undefined ? undefined : JSON.stringify({ cursor }),
      timeoutMs: Math.min(PAGE_TIMEOUT_MS, left),
      streams: false,
    });
    const result = memberText(text, "result");
    const list = result?.startsWith("{") ? memberText(result, "tools") : undefined;
    if (result === undefined || !list?.startsWith("[")) {
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Server "${serverName}" does not list its tools: ${errorMessage(text)}`,
      });
    }
    for (const tool of elementTexts(list)) tools.push(tool);
    const next: unknown = JSON.parse(memberText(result, "nextCursor") ?? "null");
    if (typeof next !== "string" || next === "") return tools;
    chars += list.length;
    if (tools.length > MAX_TOOLS || chars > MAX_CHARS || seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  throw new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" does not come to the end of its list of tools`,
    recoveryAction: "Ask its maker to mend its pagination",
  });
}

function errorMessage(text: string): string {
  return String(JSON.parse(text).error?.message ?? "its answer has no list");
}
