import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { startGateway } from "./gateway.ts";

/** Asks over a bare connection: `fetch` would unpack the answer and hide how it came. */
async function ask(base: string, path: string, headers: Record<string, string>, method = "GET") {
  const { hostname, port, host } = new URL(base);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = Object.entries({ host, connection: "close", ...headers }).map((line) =>
    line.join(": ")
  );
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(text));
  const bytes = new Uint8Array(await new Response(connection.readable).arrayBuffer());
  const end = new TextDecoder("latin1").decode(bytes).indexOf("\r\n\r\n");
  const [status = "", ...fields] = new TextDecoder().decode(bytes.subarray(0, end)).split("\r\n");
  const found = new Headers(
    fields.map((line): [string, string] => {
      const [name = "", ...value] = line.split(": ");
      return [name, value.join(": ")];
    }),
  );
  return { status: Number(status.split(" ")[1]), headers: found, body: bytes.subarray(end + 4) };
}

Deno.test("the console's pages and assets are compressed, assets ahead of time", async () => {
  await using gateway = await startGateway();
  const { url } = gateway;
  const page = await ask(url, "/", { "accept-encoding": "gzip" });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-encoding"), "gzip");
  assert.match(page.headers.get("vary") ?? "", /Accept-Encoding/i);
  assert.equal(page.headers.get("content-length"), `${page.body.byteLength}`);
  const html = gunzipSync(page.body).toString();
  assert.match(html, /^<!doctype html>/i);
  assert.ok(page.body.byteLength < html.length / 3);

  const paths = Array.from(
    html.matchAll(/(?:href|src)="(\/[^"]+\.(?:css|js)[^"]*)"/g),
    ([, path]) => path!.replaceAll("&amp;", "&"),
  );
  assert.ok(paths.length > 0, "the page has no assets");
  for (const path of new Set(paths)) {
    const plain = await ask(url, path, {});
    assert.equal(plain.headers.get("content-encoding"), null, path);
    assert.match(plain.headers.get("vary") ?? "", /Accept-Encoding/i);
    if (plain.body.byteLength < 1_024) continue;
    const packed = await ask(url, path, { "accept-encoding": "br, gzip" });
    assert.equal(packed.headers.get("content-encoding"), "br", path);
    assert.equal(packed.headers.get("content-length"), `${packed.body.byteLength}`, path);
    assert.deepEqual(new Uint8Array(brotliDecompressSync(packed.body)), plain.body, path);
    assert.equal(packed.headers.get("etag"), plain.headers.get("etag"), path);
    assert.equal(packed.headers.get("content-type"), plain.headers.get("content-type"), path);
    const head = await ask(url, path, { "accept-encoding": "br, gzip" }, "HEAD");
    assert.equal(head.body.byteLength, 0);
    assert.equal(head.headers.get("content-length"), `${packed.body.byteLength}`, path);
    const known = await ask(url, path, {
      "accept-encoding": "br",
      "if-none-match": packed.headers.get("etag") ?? "",
    });
    assert.deepEqual([known.status, known.body.byteLength], [304, 0], path);
    assert.match(known.headers.get("vary") ?? "", /Accept-Encoding/i);
  }
});

Deno.test("responses of MCP endpoints and event streams are not compressed", async () => {
  await using gateway = await startGateway();
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  });
  const response = await fetch(`${gateway.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "accept-encoding": "br, gzip",
    },
    body: initialize,
  });
  assert.equal(response.headers.get("content-encoding"), null);
  assert.match(await response.text(), /"protocolVersion"/);
  const leave = new AbortController();
  const events = await fetch(`${gateway.url}/api/events`, {
    headers: { "accept-encoding": "br, gzip" },
    signal: leave.signal,
  });
  assert.equal(events.headers.get("content-encoding"), null);
  assert.match(events.headers.get("content-type") ?? "", /^text\/event-stream/);
  await events.body?.getReader().read();
  leave.abort();
});
