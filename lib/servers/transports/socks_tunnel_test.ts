import assert from "node:assert/strict";
import { SocksTunnel } from "./socks_tunnel.ts";
import { Loopback, STRICT } from "./testing/loopback.ts";

Deno.test("SocksTunnel refuses clients without its password", STRICT, async () => {
  let asked = 0;
  await using tunnel = SocksTunnel.open({
    addressesOf() {
      asked++;
      return Promise.resolve(["127.0.0.1"]);
    },
  });
  const { proxy } = tunnel;
  assert.ok("url" in proxy && proxy.basicAuth);
  const { url, basicAuth } = proxy;
  for (const password of ["", "guess", `${basicAuth.password}x`]) {
    using client = Deno.createHttpClient({
      proxy: { url, basicAuth: { ...basicAuth, password } },
    });
    const init: RequestInit & { client: Deno.HttpClient } = { client };
    await assert.rejects(fetch("http://any.example/", init));
  }
  using plain = Deno.createHttpClient({ proxy: { url } });
  const init: RequestInit & { client: Deno.HttpClient } = { client: plain };
  await assert.rejects(fetch("http://any.example/", init));
  assert.equal(asked, 0);
});

Deno.test({
  name: "SocksTunnel connects by name if only the name is permitted, to a checked address only",
  permissions: { net: ["127.0.0.1:0", "localhost"] },
  async fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    for (const [address, reply] of [["127.0.0.1", 0], ["127.0.0.9", 2]] as const) {
      await using tunnel = SocksTunnel.open({ addressesOf: () => Promise.resolve([address]) });
      assert.equal(await replyTo(tunnel, "localhost", listener.addr.port), reply);
    }
  },
});

/** What a tunnel answers to a request to connect. */
async function replyTo({ proxy }: SocksTunnel, host: string, port: number) {
  assert.ok("url" in proxy && proxy.basicAuth);
  const { username, password } = proxy.basicAuth;
  using near = await Deno.connect({
    hostname: "localhost",
    port: Number(proxy.url.split(":").at(-1)),
  });
  const text = (value: string) => [value.length, ...new TextEncoder().encode(value)];
  const answer = new Uint8Array(16);
  for (
    const words of [
      [5, 1, 2],
      [1, ...text(username), ...text(password)],
      [5, 1, 0, 3, ...text(host), port >> 8, port & 255],
    ]
  ) {
    await near.write(Uint8Array.from(words));
    await near.read(answer);
  }
  return answer[1];
}

Deno.test("SocksTunnel accepts connections again after a failed accept", STRICT, async () => {
  await using server = new Loopback(() => new Response("reached"));
  let failures = 0;
  await using tunnel = SocksTunnel.open({
    addressesOf: () => Promise.resolve(["127.0.0.1"]),
    listen(options) {
      const listener = Deno.listen(options);
      const accept = listener.accept.bind(listener);
      listener.accept = () =>
        failures++ < 2 ? Promise.reject(new Error("Too many open files")) : accept();
      return listener;
    },
  });
  using client = Deno.createHttpClient({ proxy: tunnel.proxy });
  const { port } = new URL(server.origin);
  const init: RequestInit & { client: Deno.HttpClient } = {
    client,
    signal: AbortSignal.timeout(10_000),
  };
  const response = await fetch(`http://any.example:${port}/`, init);
  assert.equal(await response.text(), "reached");
});
