import { readTool } from "../../../catalog/catalog_tool.ts";
import { EVERYONE } from "../../../core/access.ts";
import { type MessageId, requestText } from "../../../core/rpc.ts";
import type { PendingCall } from "../control.ts";
import type { Client } from "../../../core/client.ts";

export interface CallWishes {
  server?: string;
  name?: string;
  annotations?: Record<string, unknown>;
  outputSchema?: object;
  args?: string;
  client?: Client;
}

/** A client that keeps what it is asked. */
export interface TestClient extends Client {
  readonly asked: { text: string; answer(text: string): void }[];
}

export function testClient(
  more: { capabilities?: Record<string, unknown>; principal?: string; endpoint?: string } = {},
): TestClient {
  const { capabilities = {}, principal = EVERYONE, endpoint } = more;
  const asked: TestClient["asked"] = [];
  return {
    profile: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test" } },
    principal,
    sessionId: crypto.randomUUID(),
    ...(endpoint === undefined ? {} : { endpoint }),
    asked,
    push() {},
    ask(text: string, _id: MessageId, onAnswer: (text: string) => void) {
      asked.push({ text, answer: onAnswer });
      return text;
    },
  };
}

/** A call on its way, with the means to end it. */
export function pendingCall(wishes: CallWishes = {}): PendingCall & { leave(): void } {
  const { server = "git", name = "commit", annotations, outputSchema, args = "{}" } = wishes;
  const definition = JSON.stringify({
    name,
    inputSchema: { type: "object" },
    ...(annotations ? { annotations } : {}),
    ...(outputSchema ? { outputSchema } : {}),
  });
  const tool = readTool(server, definition, 0);
  if ("problem" in tool) throw new Error(tool.problem);
  const controller = new AbortController();
  const text = requestText(1, "tools/call", `{"name":${JSON.stringify(name)},"arguments":${args}}`);
  return {
    tool,
    client: wishes.client ?? testClient(),
    request: {
      id: 1,
      method: "tools/call",
      params: { name, arguments: JSON.parse(args) },
      text,
      signal: controller.signal,
      send() {},
    },
    leave: () => controller.abort(new DOMException("The client disconnected", "AbortError")),
  };
}
