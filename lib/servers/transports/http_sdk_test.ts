import assert from "node:assert/strict";
import { Server } from "@modelcontextprotocol/sdk/server";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import {
  type EventStore,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import { notificationText, requestText, resultText } from "../../core/rpc.ts";
import { HttpTransport } from "./http.ts";
import { KeptEvents, rejects, STRICT, until } from "./testing/loopback.ts";

class MemoryEventStore implements EventStore {
  readonly #events: { streamId: string; message: JSONRPCMessage }[] = [];

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    return Promise.resolve(String(this.#events.push({ streamId, message }) - 1));
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const { streamId } = this.#events[Number(lastEventId)] ?? { streamId: "" };
    for (const [index, event] of this.#events.entries()) {
      const isLater = event.streamId === streamId && index > Number(lastEventId);
      if (isLater && Object.keys(event.message).length > 0) {
        await send(String(index), event.message);
      }
    }
    return streamId;
  }
}

/** The SDK's own server behind its own transport, for one session. */
class SdkServer implements AsyncDisposable {
  readonly server = new Server({ name: "sdk", version: "1" }, {
    capabilities: { tools: { listChanged: true } },
  });
  readonly methods: string[] = [];
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #http: Deno.HttpServer<Deno.NetAddr>;

  constructor(options: { enableJsonResponse?: boolean; eventStore?: EventStore }) {
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      retryInterval: 10,
      ...options,
    });
    this.server.setRequestHandler(CallToolRequestSchema, async (call, extra) => {
      if (call.params.name === "ask") {
        const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
        const reply = await extra.sendRequest(
          { method: "elicitation/create", params },
          ElicitResultSchema,
        );
        return { content: [{ type: "text", text: reply.action }] };
      }
      for (const progress of [1, 2, 3]) {
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken: 1, progress },
        });
        if (call.params.name === "poll" && progress === 1) extra.closeSSEStream?.();
      }
      return { content: [{ type: "text", text: "done" }] };
    });
    const abort = new AbortController();
    this.#http = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {}, signal: abort.signal },
      (request) => {
        this.methods.push(request.method);
        return this.#transport.handleRequest(request);
      },
    );
    this.#stop = () => abort.abort();
  }

  readonly #stop: () => void;

  async connect(events: KeptEvents): Promise<HttpTransport> {
    await this.server.connect(this.#transport);
    const url = `http://127.0.0.1:${this.#http.addr.port}/mcp`;
    const transport = new HttpTransport({ url, headers: {}, serverName: "sdk" }, events);
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {} },
      clientInfo: { name: "test", version: "1" },
    };
    const answer = await transport.request(
      0,
      requestText(0, "initialize", JSON.stringify(hello)),
      { streams: false, onMessage: () => {} },
    );
    transport.setProtocolVersion(JSON.parse(answer).result.protocolVersion);
    await transport.send(notificationText("notifications/initialized"));
    return transport;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    this.#stop();
    await this.#http.finished;
  }
}

async function call(
  transport: HttpTransport,
  id: number,
  name: string,
): Promise<[string[], string]> {
  const seen: string[] = [];
  const params = JSON.stringify({ name, _meta: { progressToken: 1 } });
  const answer = await transport.request(id, requestText(id, "tools/call", params), {
    streams: true,
    onMessage: (_text, message) => {
      if (message.kind === "notification") seen.push(String(message.params.progress));
      if (message.kind !== "request") return;
      seen.push(message.method);
      void transport.send(resultText(message.id, '{"action":"accept"}'));
    },
  });
  return [seen, JSON.parse(answer).result.content[0].text];
}

Deno.test(
  "HttpTransport speaks with the SDK's server when that answers with JSON",
  STRICT,
  async () => {
    await using sdk = new SdkServer({ enableJsonResponse: true });
    await using transport = await sdk.connect(new KeptEvents());
    assert.deepEqual(await call(transport, 1, "count"), [[], "done"]);
  },
);

Deno.test("HttpTransport speaks with the SDK's server when that streams", STRICT, async () => {
  const events = new KeptEvents();
  await using sdk = new SdkServer({});
  await using transport = await sdk.connect(events);
  assert.deepEqual(await call(transport, 1, "count"), [["1", "2", "3"], "done"]);
  assert.deepEqual(await call(transport, 2, "ask"), [["elicitation/create"], "accept"]);
  await until(() => sdk.methods.includes("GET"), "the server's own stream is asked for");
  // Its answer to that comes at some time after: what is told before is lost.
  const telling = setInterval(() => void sdk.server.sendToolListChanged(), 20);
  await until(() => events.messages.length > 0, "the change is heard");
  clearInterval(telling);
  assert.match(events.messages[0] ?? "", /notifications\/tools\/list_changed/);
});

Deno.test(
  "HttpTransport polls where the SDK's server closes its stream in mid-call",
  STRICT,
  async () => {
    await using sdk = new SdkServer({ eventStore: new MemoryEventStore() });
    await using transport = await sdk.connect(new KeptEvents());
    await until(() => sdk.methods.includes("GET"), "the server's own stream is asked for");
    const before = sdk.methods.filter((method) => method === "GET").length;
    assert.deepEqual(await call(transport, 1, "poll"), [["1", "2", "3"], "done"]);
    assert.ok(sdk.methods.filter((method) => method === "GET").length > before);
  },
);

Deno.test(
  "HttpTransport ends its session with the SDK's server, which then knows it no more",
  STRICT,
  async () => {
    await using sdk = new SdkServer({});
    const transport = await sdk.connect(new KeptEvents());
    await transport[Symbol.asyncDispose]();
    assert.ok(sdk.methods.includes("DELETE"));
    await rejects(call(transport, 1, "count"), "closed");
  },
);
