import assert from "node:assert/strict";
import { join } from "@std/path";
import { BenchClient } from "../bench/mcp_client.ts";
import { libraryServer } from "./fixtures/library_server.ts";
import { startGateway, until } from "./gateway.ts";

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
    const saved = await fetch(`${gateway.url}/api/toolsets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "hours", tools: ["first.opening_hours"] }),
    });
    assert.ok(saved.ok, await saved.text());

    const warning = await until(() => gateway.log().match(/.*idle connections.*/)?.[0]);
    assert.match(warning, /half of the 1024 file descriptors/);
    assert.match(warning, /ulimit -n/);
    assert.doesNotMatch(gateway.log(), /Too many open files/);
    const status = await gateway.stop();
    assert.equal(status.code, 0);
  } finally {
    for (const connection of held) connection.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a listener that ran out of descriptors accepts again once some are free", async () => {
  const listener = new URL("../lib/http/listener.ts", import.meta.url).href;
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
  const args = ["-c", 'ulimit -n 64; exec "$0" eval --no-check "$1"', Deno.execPath(), program];
  const child = new Deno.Command("sh", { args, stdout: "piped", stderr: "piped" }).spawn();
  const stderr = new Response(child.stderr).text();
  const stdout = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const held: Deno.TcpConn[] = [];
  try {
    const port = Number((await stdout.read()).value);
    for (let opened = 0; opened < 200; opened++) {
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
