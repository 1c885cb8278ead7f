import assert from "node:assert/strict";
import { errorResponse } from "../../lib/http/handle_request.ts";
import { readBody } from "../../lib/http/request_body.ts";
import { type HttpListenOptions, listenHttp } from "../../lib/http/listener.ts";
import { startGateway, until } from "../gateway.ts";

type Limits = NonNullable<HttpListenOptions["limits"]>;

/** A listener that reads bodies as every route does, but is less patient. */
function start(limits: Limits, bodyMs = 200) {
  const listener = listenHttp(
    { hostname: "127.0.0.1", port: 0, limits },
    async (request) => {
      try {
        const body = await readBody(request, 1_000, bodyMs);
        return new Response(`got ${body.byteLength}`);
      } catch (error) {
        return errorResponse(error, "test");
      }
    },
  );
  const { port } = listener.addr;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => listener.shutdown(),
  };
}

/** Sends what is written and then nothing; what comes back until the other side has had enough. */
async function stall(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  if (text !== "") await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}

Deno.test("a client that sends half a header, or nothing, is let go", async () => {
  await using listener = start({ headersMs: 400 });
  const said = await Promise.all([
    stall(listener.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "),
    stall(listener.port, "POST / HTTP/1.1\r\n"),
    stall(listener.port, ""),
  ]);
  for (const answer of said) assert.match(answer, /^HTTP\/1\.1 408 /);
});

Deno.test("a client that sends half a body gets 408, whatever it declares", async () => {
  await using listener = start({});
  const head = "POST / HTTP/1.1\r\nHost: x\r\n";
  const said = await Promise.all([
    stall(listener.port, `${head}Content-Length: 100\r\n\r\n{"half":`),
    stall(listener.port, `${head}Transfer-Encoding: chunked\r\n\r\n8\r\n{"half":\r\n`),
  ]);
  for (const answer of said) {
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /REQUEST_TIMEOUT/);
  }
});

Deno.test("a client that drips its body byte by byte gets 408 too", async () => {
  await using listener = start({});
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  const text = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n";
  await connection.write(new TextEncoder().encode(text));
  let isOver = false;
  const answer = new Response(connection.readable).text().finally(() => isOver = true);
  for (let sent = 0; sent < 200 && !isOver; sent++) {
    await connection.write(new Uint8Array([120])).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(await answer, /^HTTP\/1\.1 408 /);
});

Deno.test("200 idle connections take no more than their share, and not for long", async () => {
  await using listener = start({ headersMs: 1_000, connections: 50 });
  const { port, url } = listener;
  const ends = await Promise.all(Array.from({ length: 200 }, async () => {
    try {
      return await stall(port, "");
    } catch {
      return "refused";
    }
  }));
  assert.equal(ends.length, 200);
  const heard = ends.filter((end) => end.startsWith("HTTP/1.1 408 ")).length;
  assert.ok(heard <= 50, `${heard} were taken in at once`);
  const answer = await until(async () => {
    try {
      return await (await fetch(url, { method: "POST", body: "whole" })).text();
    } catch {
      return undefined;
    }
  });
  assert.equal(answer, "got 5");
});

Deno.test("a gateway listens with time limits, on loopback as elsewhere", async () => {
  // Only a server that counts the time says how long it waits for the next request.
  const headersOf = async (url: string) => {
    const port = Number(new URL(url).port);
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const text = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(text));
    const buffer = new Uint8Array(10_000);
    const length = await connection.read(buffer) ?? 0;
    return new TextDecoder().decode(buffer.subarray(0, length));
  };
  // The same address as ever, written so that it is not known for loopback.
  const env = { QUARTERMASTER_ADMIN_TOKEN: "slow-clients-0123456789abcdef" };
  await using open = await startGateway(["--host", "::ffff:127.0.0.1"], { env });
  await using local = await startGateway();
  for (const { url } of [open, local]) {
    assert.match(await headersOf(url), /^HTTP\/1\.1 200 .*keep-alive: timeout=65/is);
  }
});
