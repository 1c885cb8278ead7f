import assert from "node:assert/strict";
import { FaultyGateway } from "../faults.ts";

const JSON_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const CHUNKED = `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n`;

const answerOf = (id: number, text: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
const whole = (body: string) => `${JSON_HEAD}content-length: ${body.length}\r\n\r\n${body}`;
const chunk = (body: string, extension = "") =>
  `${body.length.toString(16)}${extension}\r\n${body}\r\n0\r\n\r\n`;

/** What a server sends to request `id`, and whether that is an answer at all. */
const ANSWERS: Record<string, { isAnswer: boolean; send(id: number): string }> = {
  "two lengths": {
    isAnswer: false,
    send(id) {
      const body = answerOf(id, "honest");
      return `${JSON_HEAD}content-length: ${body.length}\r\ncontent-length: 5\r\n\r\n${body}`;
    },
  },
  "a length and chunks": {
    isAnswer: false,
    send: (id) =>
      `${JSON_HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n` +
      chunk(answerOf(id, "honest")),
  },
  "a chunk extension of 1 MiB": {
    isAnswer: false,
    send: (id) => CHUNKED + chunk(answerOf(id, "honest"), `;${"x".repeat(1024 * 1024)}`),
  },
  "endless interim responses": {
    isAnswer: false,
    send: (id) => "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000) + whole(answerOf(id, "honest")),
  },
  "another protocol": {
    isAnswer: false,
    send: (id) => `HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n${whole(answerOf(id, "honest"))}`,
  },
  "an answer to the next request behind this one's": {
    isAnswer: true,
    send: (id) => whole(answerOf(id, "honest")) + whole(answerOf(id + 1, "smuggled")),
  },
  "the same in chunks": {
    isAnswer: true,
    send: (id) => CHUNKED + chunk(answerOf(id, "honest")) + whole(answerOf(id + 1, "smuggled")),
  },
  "an interim response before the answer": {
    isAnswer: true,
    send: (id) => `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${whole(answerOf(id, "honest"))}`,
  },
};

/** A server that answers calls byte for byte as the test wants. */
class RawMcpServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting = this.#accept();

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) conn.close();
    await this.#accepting;
  }

  async #accept(): Promise<void> {
    for await (const conn of this.#listener) {
      this.#open.add(conn);
      void this.#serve(conn).catch(() => {}).finally(() => this.#open.delete(conn));
    }
  }

  async #serve(conn: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    let text = "";
    for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
      text += new TextDecoder().decode(buffer.subarray(0, count));
      const end = text.indexOf("\r\n\r\n") + 4;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 4 || text.length < end + length) continue;
      const bytes = new TextEncoder().encode(this.#answer(text.slice(end)));
      text = "";
      for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
    }
  }

  #answer(body: string): string {
    if (body === "") return "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n";
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    if (method === "tools/call") {
      return ANSWERS[params.arguments.kind]?.send(id) ?? whole(answerOf(id, "honest"));
    }
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "raw", version: "1" },
      },
      "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
      ping: {},
    };
    const result = results[method];
    const error = { code: -32601, message: "Method not found" };
    return whole(JSON.stringify({ jsonrpc: "2.0", id, ...result ? { result } : { error } }));
  }
}

Deno.test("a server cannot smuggle an answer into another call, however it frames its own", async (t) => {
  await using server = new RawMcpServer();
  await using faulty = await FaultyGateway.start({ raw: { type: "http", url: server.url } });
  await faulty.reaches("raw", "ready");
  const [client, other] = [await faulty.open("raw"), await faulty.open("raw")];
  for (const [kind, { isAnswer }] of Object.entries(ANSWERS)) {
    await t.step(kind, async () => {
      const { result } = await client.call("look", { kind });
      const text = result?.content?.[0]?.text ?? "";
      if (isAnswer) assert.equal(text, "honest");
      else {
        assert.equal(result?.isError, true, text);
        assert.doesNotMatch(text, /honest/);
      }
      await faulty.reaches("raw", "ready");
      for (const asker of [other, client, other]) {
        assert.equal(await asker.must("look", { kind: "ordinary" }), "honest");
      }
    });
  }
});
