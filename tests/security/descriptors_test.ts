import assert from "node:assert/strict";
import { join } from "@std/path";
import { BenchClient } from "../../bench/mcp_client.ts";
import { libraryServer } from "../fixtures/library_server.ts";
import { startGateway, until } from "../gateway.ts";

const LIMIT = 1_024;
const CONNECTIONS = 1_100;

Deno.test("a gateway with few file descriptors goes on serving while clients hold more connections than it has", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_descriptors_" });
  const configure = (...names: string[]) =>
    Deno.writeTextFile(
      join(folder, ".mcp.json"),
      JSON.stringify({
        mcpServers: Object.fromEntries(
          names.map((name) => [name, libraryServer(join(folder, `${name}.calls`))]),
        ),
      }),
    );
  const held: Deno.TcpConn[] = [];
  try {
    await configure("first");
    await using gateway = await startGateway([], { cwd: folder, descriptors: LIMIT });
    const ready = (count: number) =>
      until(async () => {
        const response = await fetch(`${gateway.url}/readyz`);
        return (await response.json()).servers.ready === count || undefined;
      });
    await ready(1);
    const port = Number(new URL(gateway.url).port);
    await using listening = await listen(gateway.url);
    for (let opened = 0; opened < CONNECTIONS; opened++) {
      held.push(await Deno.connect({ hostname: "127.0.0.1", port }));
    }

    assert.equal(
      (await fetch(`${gateway.url}/healthz`).then((answer) => answer.json())).status,
      "ok",
    );
    const call = async (server: string) => {
      const url = `${gateway.url}/servers/${server}/mcp?names=original`;
      const client = await new BenchClient(url).connect();
      return await client.request("tools/call", {
        name: "opening_hours",
        arguments: { day: "Monday" },
      });
    };
    assert.match(await call("first"), /"result"/);

    // Starting a program takes pipes, and a toolset is written to the store.
    await configure("first", "second");
    await ready(2);
    assert.match(await call("second"), /"result"/);
    // The stream that a client had before is still there.
    await listening.hears(/notifications\/tools\/list_changed/);
    const saved = await fetch(`${gateway.url}/api/toolsets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "hours", tools: ["first.opening_hours"] }),
    });
    assert.ok(saved.ok, await saved.text());

    const warning = await until(() => gateway.log().match(/.*idle connections.*/)?.[0]);
    assert.match(warning, /at most 512, because this process may open 1024 file descriptors/);
    assert.match(warning, /ulimit -n/);
    assert.doesNotMatch(gateway.log(), /Too many open files/);
    const status = await gateway.stop();
    assert.equal(status.code, 0);
  } finally {
    for (const connection of held) connection.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** A client that listens to what the gateway says by itself. */
async function listen(gateway: string) {
  const url = `${gateway}/mcp?expose=all`;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "listener", version: "1" },
  };
  const post = async (message: object, session = "") => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const own = session === "" ? {} : { "mcp-session-id": session };
    const response = await fetch(url, { method: "POST", headers: { ...headers, ...own }, body });
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  const session = await post({ id: 1, method: "initialize", params });
  await post({ method: "notifications/initialized" }, session);
  await post({ id: 2, method: "tools/list" }, session);
  const stop = new AbortController();
  const stream = await fetch(url, {
    headers: { accept: "text/event-stream", "mcp-session-id": session },
    signal: stop.signal,
  });
  let heard = "";
  const reading = (async () => {
    for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) heard += text;
  })().catch(() => {});
  return {
    hears: (pattern: RegExp) => until(() => pattern.test(heard) || undefined),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

const HIGHER = 12_000;
const canBeHigher = (await new Deno.Command("sh", { args: ["-c", `ulimit -n ${HIGHER}`] }).output())
  .success;

Deno.test({
  name: "4,500 idle and slow clients keep their connections while others are served",
  ignore: !canBeHigher,
  fn: serveManyIdle,
});

async function serveManyIdle(): Promise<void> {
  await using gateway = await startGateway([], { descriptors: HIGHER });
  const port = Number(new URL(gateway.url).port);
  const held: Deno.TcpConn[] = [];
  const get = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
  try {
    for (let opened = 0; opened < 4_500; opened++) {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port });
      held.push(conn);
      // Every tenth client has sent half a request.
      if (opened % 10 === 0) await conn.write(new TextEncoder().encode(get));
    }
    const client = await new BenchClient(`${gateway.url}/mcp`).connect();
    assert.match(await client.request("tools/list", {}), /"result"/);
    for (const at of [1, 2_251, 4_499, 4_490]) {
      const rest = at % 10 === 0 ? "\r\n" : `${get}\r\n`;
      await held[at]!.write(new TextEncoder().encode(rest));
      const buffer = new Uint8Array(1_000);
      const count = await held[at]!.read(buffer) ?? 0;
      assert.match(new TextDecoder().decode(buffer.subarray(0, count)), /^HTTP\/1\.1 200 /);
    }
    assert.doesNotMatch(gateway.log(), /idle connections/);
  } finally {
    for (const conn of held) conn.close();
  }
}

Deno.test("a listener that ran out of descriptors accepts again once some are free", async () => {
  const listener = new URL("../../lib/http/listener.ts", import.meta.url).href;
  const program = `
    const { listenHttp } = await import(${JSON.stringify(listener)});
    const options = {
      hostname: "127.0.0.1",
      port: 0,
      limits: { connections: 1_000 },
      onCrowded: (message) => console.error(message),
    };
    console.log(listenHttp(options, () => new Response("here")).addr.port);
  `;
  const args = ["-c", 'ulimit -n 128; exec "$0" eval --no-check "$1"', Deno.execPath(), program];
  const child = new Deno.Command("sh", { args, stdout: "piped", stderr: "piped" }).spawn();
  const stderr = new Response(child.stderr).text();
  const stdout = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const held: Deno.TcpConn[] = [];
  try {
    const port = Number((await stdout.read()).value);
    for (let opened = 0; opened < 400; opened++) {
      held.push(await Deno.connect({ hostname: "127.0.0.1", port }));
    }
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(await answer.text(), "here");
  } finally {
    for (const connection of held) connection.close();
    child.kill("SIGTERM");
    await stdout.cancel();
    await child.status;
  }
  assert.match(await stderr, /Cannot accept a connection: Too many open files.*ulimit -n/s);
});
