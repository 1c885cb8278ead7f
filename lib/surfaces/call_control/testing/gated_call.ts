import { readTool } from "../../../catalog/catalog_tool.ts";
import { EVERYONE } from "../../../core/principal.ts";
import { requestText, type RpcId } from "../../../core/rpc.ts";
import type { GatedCall } from "../../call_gate.ts";
import type { ClientPort } from "../../surface.ts";

export interface CallWishes {
  server?: string;
  name?: string;
  annotations?: Record<string, unknown>;
  outputSchema?: object;
  args?: string;
  port?: TestPort;
}

/** A client that keeps what it is asked. */
export interface TestPort extends ClientPort {
  door?: string;
  readonly asked: { text: string; answer(text: string): void }[];
}

export function testPort(
  more: { capabilities?: Record<string, unknown>; principal?: string; door?: string } = {},
): TestPort {
  const { capabilities = {}, principal = EVERYONE, door } = more;
  const asked: TestPort["asked"] = [];
  return {
    client: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test" } },
    principal,
    ...(door === undefined ? {} : { door }),
    asked,
    push() {},
    ask(text: string, _id: RpcId, onAnswer: (text: string) => void) {
      asked.push({ text, answer: onAnswer });
      return text;
    },
  };
}

/** A call on its way, with the means to end it. */
export function gatedCall(wishes: CallWishes = {}): GatedCall & { leave(): void } {
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
    port: wishes.port ?? testPort(),
    scope: {
      id: 1,
      method: "tools/call",
      params: { name, arguments: JSON.parse(args) },
      text,
      signal: controller.signal,
      send() {},
    },
    leave: () => controller.abort(new DOMException("The client has gone", "AbortError")),
  };
}
