import assert from "node:assert/strict";
import pino from "pino";
import { readOwnerTicket } from "../auth/credentials.ts";
import { EVERYONE } from "../core/access.ts";
import { TimeoutQueue } from "../core/async.ts";
import { type MessageId, readMessage, requestText, resultText } from "../core/rpc.ts";
import { handleMcp } from "../mcp/endpoint.ts";
import { EnvelopeReader } from "../mcp/envelope.ts";
import { HeldCalls } from "../mcp/held_calls.ts";
import { Sessions } from "../mcp/session.ts";
import type { SessionsRepository } from "../storage/access_repositories.ts";
import type { View } from "../mcp/view.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { Logs } from "../telemetry/logs.ts";
import { Credential } from "./gateway_client.ts";
import { type GatewayPlace, StdioBridge } from "./stdio_bridge.ts";

type StoredSession = Parameters<SessionsRepository["save"]>[0];

const logs = await Logs.open({ level: "fatal", development: false, keepFiles: 1 });

/** A gateway with one endpoint, which can be killed: what it had in memory is then gone. */
class StubGateway {
  readonly sessions: Sessions;
  readonly cancelled: string[] = [];
  readonly introduced: unknown[] = [];
  readonly place: GatewayPlace;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();
  readonly #patience = new TimeoutQueue(20);

  constructor(
    records: Map<string, StoredSession>,
    startedAt: number,
    { port = 0, secret }: { port?: number; secret?: Uint8Array } = {},
  ) {
    this.sessions = new Sessions({
      records: {
        save: (record) => Promise.resolve(void records.set(record.id, record)),
        find: (id) => Promise.resolve(records.get(id)),
        delete: (id) => Promise.resolve(void records.delete(id)),
      },
      onWarning() {},
    });
    const endpoint = { key: "endpoint?", view: this.#view() };
    const host = {
      sessions: this.sessions,
      held: new HeldCalls(),
      envelopes: new EnvelopeReader(),
      maxBody: 10_000,
      log: logs.module("http"),
      patience: this.#patience,
      onAnswered() {},
      switchProject: (principal: string) => principal,
    };
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port, signal: this.#stop.signal, onListen() {} },
      (request) => {
        const bearer = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
        return secret && !readOwnerTicket(bearer, secret, this.place)
          ? new Response(null, { status: 401 })
          : handleMcp(host, { endpoint, request, principal: EVERYONE });
      },
    );
    const address = `http://127.0.0.1:${this.#server.addr.port}`;
    this.place = { address, pid: 1, startedAt };
  }

  async kill(): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
    await this.sessions[Symbol.asyncDispose]();
    this.#patience[Symbol.dispose]();
  }

  #view(): View {
    return {
      introduce: () =>
        Promise.resolve({
          capabilities: { tools: { listChanged: true }, prompts: { listChanged: false } },
          serverInfo: { name: "stub", version: "1" },
        }),
      open: (client: Client) => {
        this.introduced.push(client.profile.clientInfo);
        return {
          request: async (request: McpRequest) => ({ text: await this.#answer(request, client) }),
          notify() {},
          [Symbol.asyncDispose]: () => Promise.resolve(),
        };
      },
    };
  }

  #answer(request: McpRequest, client: Client): Promise<string> {
    const { id, method, signal, send } = request;
    if (method === "echo") return Promise.resolve(resultText(id, '{"big":12345678901234567890}'));
    if (method === "hang") {
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          this.cancelled.push(String(id));
          reject(signal.reason);
        })
      );
    }
    if (method === "ask") {
      return new Promise((resolve) =>
        send(
          client.ask(requestText("q", "roots/list"), "q", (text) => resolve(resultText(id, text))),
        )
      );
    }
    return Promise.resolve(resultText(id, "{}"));
  }
}

/** A client's end of a bridge. */
class Harness implements AsyncDisposable {
  readonly written: string[] = [];
  /** What it has logged. */
  readonly warnings: string[] = [];
  readonly bridge: StdioBridge;
  /** What a look for gateways finds. */
  found: GatewayPlace | undefined;
  /** What the store holds. */
  secret = new Uint8Array(32);

  constructor(place: GatewayPlace, patienceMs = 5_000) {
    this.found = place;
    this.bridge = new StdioBridge({
      place,
      find: () => Promise.resolve(this.found),
      path: "/mcp",
      write: (text) => this.written.push(text),
      ready: () => Promise.resolve(),
      log: pino({ level: "warn" }, { write: (line) => void this.warnings.push(line) }),
      patienceMs,
      credentialAt: (gateway) =>
        new Credential({ owner: { gateway, secret: () => Promise.resolve(this.secret) } }),
    });
  }

  static async open(gateway: StubGateway, patienceMs?: number): Promise<Harness> {
    const harness = new Harness(gateway.place, patienceMs);
    await harness.ask(0, "initialize", { ...CLIENT, capabilities: { roots: {} } });
    harness.send({ method: "notifications/initialized" });
    return harness;
  }

  send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.bridge.take(readMessage(text)!, text);
  }

  ask(id: MessageId, method: string, params: object = {}): Promise<string> {
    this.send({ id, method, params });
    return this.until((text) => {
      const message = readMessage(text);
      return message?.kind === "response" && message.id === id;
    });
  }

  async until(isIt: (text: string) => boolean): Promise<string> {
    for (let tries = 0; tries < 6_000; tries++) {
      const found = this.written.find(isIt);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`It was not written: ${this.written}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bridge[Symbol.asyncDispose]();
  }
}

const CLIENT = { protocolVersion: "2025-11-25", clientInfo: { name: "tester", version: "1" } };
const listChanged = (text: string) => text.includes("notifications/tools/list_changed");

Deno.test("StdioBridge carries answers as they came, questions, their answers and cancellations", async () => {
  const gateway = new StubGateway(new Map(), 1);
  {
    await using client = await Harness.open(gateway);
    assert.equal(
      await client.ask("a", "echo"),
      '{"jsonrpc":"2.0","id":"a","result":{"big":12345678901234567890}}',
    );
    const asked = client.ask(1, "ask");
    const { id } = JSON.parse(await client.until((text) => text.includes("roots/list")));
    client.send({ id, result: { roots: [] } });
    assert.match(await asked, /"roots":\[\]/);

    client.send({ id, result: { roots: ["again"] } });
    await client.bridge.settled();
    assert.match(client.warnings.join(), /HTTP 400.*No question with the id/);
    assert.ok(!client.written.some((text) => text.includes("No question")), "an answered answer");

    client.send({ id: 2, method: "hang" });
    client.send({ method: "notifications/cancelled", params: { requestId: 2 } });
    for (let tries = 0; tries < 6_000 && gateway.cancelled.length === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.deepEqual(gateway.cancelled, ["2"]);
    await client.bridge.settled();
    assert.ok(!client.written.some((text) => text.includes('"id":2')), "an answer to nobody");

    gateway.sessions.list()[0]?.push('{"jsonrpc":"2.0","method":"notifications/told"}');
    await client.until((text) => text.includes("notifications/told"));
  }
  assert.equal(gateway.sessions.size, 0, "the session was not ended");
  await gateway.kill();
});

Deno.test("StdioBridge goes on with the session at the gateway that took the place of the first", async () => {
  const records = new Map<string, StoredSession>();
  const first = new StubGateway(records, 1);
  await using client = await Harness.open(first);
  const lost = client.ask(1, "hang");
  const questioned = client.ask(2, "ask");
  await client.until((text) => text.includes("roots/list"));
  client.found = undefined;
  await first.kill();
  assert.match(await lost, /"error".*Lost the connection/);
  assert.match(await questioned, /"error".*Lost the connection/);

  const waiting = client.ask(3, "echo");
  const second = new StubGateway(records, 2);
  client.found = second.place;
  assert.match(await waiting, /12345678901234567890/);
  await client.until(listChanged);
  await client.until((text) => text.includes("notifications/cancelled"));
  assert.deepEqual([...records.keys()], second.sessions.list().map(({ id }) => id));
  second.sessions.list()[0]?.push('{"jsonrpc":"2.0","method":"notifications/told"}');
  await client.until((text) => text.includes("notifications/told"));
  await client[Symbol.asyncDispose]();
  await second.kill();
});

Deno.test("StdioBridge introduces its client anew where the session is not known", async () => {
  const first = new StubGateway(new Map(), 1);
  await using client = await Harness.open(first);
  const { port } = new URL(first.place.address);
  client.found = undefined;
  await first.kill();
  const second = new StubGateway(new Map(), 2, { port: Number(port) });
  client.found = second.place;
  assert.match(await client.ask(1, "echo"), /12345678901234567890/);
  await client.until(listChanged);
  assert.deepEqual(second.introduced, [CLIENT.clientInfo]);

  // A session that ended while the gateway stayed is no matter either.
  await second.sessions.end(second.sessions.list()[0]!);
  assert.match(await client.ask(2, "echo"), /12345678901234567890/);
  await client[Symbol.asyncDispose]();
  await second.kill();
});

Deno.test("StdioBridge says what to do where no gateway comes back, and takes up one that comes late", async () => {
  const records = new Map<string, StoredSession>();
  const first = new StubGateway(records, 1);
  await using client = await Harness.open(first, 200);
  client.found = undefined;
  await first.kill();
  const { error } = JSON.parse(await client.ask(1, "echo"));
  assert.equal(error.data.errorType, "SERVER_NOT_RUNNING");
  assert.match(error.data.recoverySteps[0], /quartermaster start/);
  const { result } = JSON.parse(await client.ask(2, "tools/call", { name: "x" }));
  assert.equal(result.isError, true);
  const second = new StubGateway(records, 2);
  client.found = second.place;
  await client.until(listChanged);
  assert.match(await client.ask(3, "echo"), /12345678901234567890/);
  await client[Symbol.asyncDispose]();
  await second.kill();
});

Deno.test("StdioBridge takes up a stream that broke off while its gateway stayed", async () => {
  const gateway = new StubGateway(new Map(), 1);
  await using client = await Harness.open(gateway);
  const asked = client.ask(1, "ask");
  const { id } = JSON.parse(await client.until((text) => text.includes("roots/list")));
  // Another reader of a stream takes it over: for the bridge it has ended.
  const session = gateway.sessions.list()[0]!;
  await session.findStream(1)!.attach(1).cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.send({ id, result: { roots: [] } });
  assert.match(await asked, /"roots":\[\]/);
  await client[Symbol.asyncDispose]();
  await gateway.kill();
});

Deno.test("StdioBridge goes on at a gateway that signs with another secret after a restore", async () => {
  const records = new Map<string, StoredSession>();
  const first = new StubGateway(records, 1, { secret: new Uint8Array(32) });
  await using client = await Harness.open(first);
  assert.match(await client.ask(1, "echo"), /12345678901234567890/);
  client.found = undefined;
  await first.kill();
  client.secret = new Uint8Array(32).fill(1);
  const second = new StubGateway(records, 2, { secret: client.secret });
  client.found = second.place;
  assert.match(await client.ask(2, "echo"), /12345678901234567890/);
  await client[Symbol.asyncDispose]();
  await second.kill();
});
