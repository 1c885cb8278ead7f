import { GatewayError } from "../core/errors.ts";
import { elementSpans } from "../core/json_spans.ts";
import { memberText } from "../core/rpc.ts";
import type { Connection } from "./connection.ts";

/** A server that lists forever is stopped here; real ones have at most a few thousand tools. */
const MAX_TOOLS = 20_000;
const MAX_PAGES = 2_000;
const LIST_TIMEOUT_MS = 30_000;

/** Every tool of a server as the text it came in, all pages. */
export async function listToolTexts(connection: Connection, serverName: string): Promise<string[]> {
  if (!connection.has("tools")) return [];
  const tools: string[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { text } = await connection.call({
      method: "tools/list",
      params: cursor === undefined ? undefined : JSON.stringify({ cursor }),
      timeoutMs: LIST_TIMEOUT_MS,
      streams: false,
    });
    const result = memberText(text, "result");
    const list = result === undefined ? undefined : memberText(result, "tools");
    if (result === undefined || !list?.startsWith("[")) {
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Server "${serverName}" does not list its tools: ${errorMessage(text)}`,
      });
    }
    for (const { start, end } of elementSpans(list)) tools.push(list.slice(start, end));
    const next: unknown = JSON.parse(memberText(result, "nextCursor") ?? "null");
    if (typeof next !== "string" || next === "") return tools;
    if (tools.length > MAX_TOOLS || seen.has(next)) break;
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
