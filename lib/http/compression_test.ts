import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { chooseEncoding, Compression } from "./compression.ts";

const PAGE = `<p>${"a page of the console ".repeat(200)}</p>`;

async function apply(
  requestHeaders: Record<string, string>,
  responseHeaders: Record<string, string> = {},
  body: BodyInit = PAGE,
) {
  const request = new Request("http://127.0.0.1/", { headers: requestHeaders });
  const headers = { "content-type": "text/html; charset=utf-8", ...responseHeaders };
  const response = await new Compression().apply(request, new Response(body, { headers }));
  return {
    encoding: response.headers.get("content-encoding"),
    vary: response.headers.get("vary"),
    length: response.headers.get("content-length"),
    etag: response.headers.get("etag"),
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

Deno.test("chooseEncoding() uses the client's preference, or Brotli without one", () => {
  assert.equal(chooseEncoding("gzip, deflate, br, zstd"), "br");
  assert.equal(chooseEncoding("gzip"), "gzip");
  assert.equal(chooseEncoding("br;q=0.5, gzip;q=0.8"), "gzip");
  assert.equal(chooseEncoding("br;q=0, *"), "gzip");
  assert.equal(chooseEncoding("GZIP;q=1.0"), "gzip");
  for (const none of ["", "identity", "deflate", "br;q=0, gzip;q=0", "*;q=0"]) {
    assert.equal(chooseEncoding(none), undefined, none);
  }
});

Deno.test("Compression: pages use an encoding the client accepts, with their length", async () => {
  const br = await apply({ "accept-encoding": "br, gzip" });
  assert.equal(br.encoding, "br");
  assert.equal(br.length, `${br.bytes.byteLength}`);
  assert.equal(br.vary, "Accept-Encoding");
  assert.equal(brotliDecompressSync(br.bytes).toString(), PAGE);
  const gzip = await apply({ "accept-encoding": "gzip" }, { vary: "Cookie", etag: '"1"' });
  assert.equal(gunzipSync(gzip.bytes).toString(), PAGE);
  assert.equal(gzip.vary, "Cookie, Accept-Encoding");
  assert.equal(gzip.etag, 'W/"1"');
  const plain = await apply({});
  assert.deepEqual([plain.encoding, plain.vary], [null, "Accept-Encoding"]);
});

Deno.test("Compression: streams, small, compressed and foreign content stay as they are", async () => {
  const accept = { "accept-encoding": "br" };
  for (
    const headers of [
      { "content-type": "text/event-stream" },
      { "content-type": "image/png" },
      { "content-encoding": "gzip" },
      { "cache-control": "no-transform" },
      { "content-disposition": "attachment" },
    ] as Record<string, string>[]
  ) {
    const { encoding, bytes } = await apply(accept, headers);
    assert.equal(encoding, headers["content-encoding"] ?? null);
    assert.equal(new TextDecoder().decode(bytes), PAGE);
  }
  assert.equal((await apply(accept, {}, "short")).encoding, null);
  const long = "x".repeat(3 * 1024 * 1024);
  const { encoding, bytes } = await apply(accept, {}, long);
  assert.deepEqual([encoding, bytes.byteLength], [null, long.length]);
});

Deno.test("Compression: a page that another site may have requested is not compressed", async () => {
  const encodingOf = async (headers: Record<string, string>) =>
    (await apply({ "accept-encoding": "br", ...headers })).encoding;
  assert.equal(await encodingOf({ "sec-fetch-site": "same-origin", cookie: "a=1" }), "br");
  assert.equal(await encodingOf({ "sec-fetch-site": "none", cookie: "a=1" }), "br");
  assert.equal(await encodingOf({ "sec-fetch-site": "cross-site" }), null);
  assert.equal(await encodingOf({ "sec-fetch-site": "same-site" }), null);
  // A browser that does not say which site it is, signed in.
  assert.equal(await encodingOf({ cookie: "a=1" }), null);
});
