import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { OneAnswer } from "../transports/testing/loopback.ts";
import { OAuthHttp, safeUrl } from "./oauth_http.ts";

Deno.test("OAuthHttp.fetch() is not sent again if a reused connection ends before the response", async () => {
  await using server = new OneAnswer({ closesIdle: false });
  using client = Deno.createHttpClient({});
  const http = new OAuthHttp({
    fetch: (input, init) => fetch(input, { ...init, client } as RequestInit),
  }, AbortSignal.timeout(10_000));
  const post = (id: number) =>
    http.fetch(server.origin, { method: "POST", body: JSON.stringify({ id }) });
  await post(1);
  await assert.rejects(
    post(2),
    (error) => error instanceof GatewayError && error.code === "LOGIN_FAILED",
  );
  assert.deepEqual(server.bodies, ['{"id":1}', '{"id":2}']);
});

Deno.test("safeUrl() takes https, and http on this machine alone", () => {
  for (
    const good of [
      "https://a.example/x",
      "http://127.0.0.1:8/",
      "http://[::1]/",
      "http://localhost",
    ]
  ) {
    assert.equal(safeUrl(good, "It").href, new URL(good).href);
  }
  const bad: [string, RegExp][] = [
    ["javascript:alert(1)", /neither https nor http/],
    ["data:text/html,x", /neither https nor http/],
    ["http://a.example/", /not https/],
    ["http://127.0.0.1.a.example/", /not https/],
    ["http://169.254.169.254/", /not https/],
    ["https://me:secret@a.example/", /name or password/],
    ["nothing", /not a valid URL/],
  ];
  for (const [address, words] of bad) assert.throws(() => safeUrl(address, "It"), words, address);
});

Deno.test("safeUrl() lets nobody from elsewhere name an address on this machine", () => {
  const near = new URL("https://a.example/mcp");
  const here = ["http://127.0.0.1:5432/", "https://localhost/", "http://[::1]:80/x"];
  const otherwise = [
    "https://localhost./",
    "https://a.localhost/",
    "https://0.0.0.0/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::127.0.0.1]/",
  ];
  for (const address of [...here, ...otherwise]) {
    assert.throws(() => safeUrl(address, "It", near), /is on this machine, but a\.example is not/);
    safeUrl(address, "It", new URL("http://localhost:1/"));
  }
  safeUrl("https://10.0.0.2/", "It", near);
});
