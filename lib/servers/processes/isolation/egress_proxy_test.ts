import assert from "node:assert/strict";
import { AddressGuard } from "../../transports/address_guard.ts";
import { EgressProxy, SOCKETS_VARIABLE, socketsIn } from "./egress_proxy.ts";

/** What a proxy answers to a request as it is written, up to the end of the connection. */
async function ask(proxy: EgressProxy, ...parts: string[]): Promise<string> {
  const connection = await Deno.connect({ transport: "unix", path: proxy.socket });
  const reading = new Response(connection.readable).text().catch(() => "");
  const writer = connection.writable.getWriter();
  for (const part of parts) await writer.write(new TextEncoder().encode(part)).catch(() => {});
  return await reading;
}

/** A server that shows each request as it came, and closes. */
function echo() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      const bytes = new Uint8Array(4_096);
      const length = await connection.read(bytes) ?? 0;
      await connection.write(bytes.subarray(0, length));
      connection.close();
    }
  })();
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving.catch(() => {});
    },
  };
}

async function open(hosts: string[], addresses: string[] = []) {
  const refused: string[] = [];
  const guard = new AddressGuard(() => Promise.resolve(addresses));
  const onRefused = (message: string) => void refused.push(message);
  return { proxy: await EgressProxy.open({ hosts, guard, onRefused }), refused };
}

Deno.test("EgressProxy relays requests and tunnels to a listed host", async () => {
  await using server = echo();
  const host = `127.0.0.1:${server.port}`;
  const { proxy, refused } = await open([host]);
  await using _proxy = proxy;
  const plain = await ask(
    proxy,
    `GET http://${host}/a?b HTTP/1.1\r\nHost: ${host}\r\nProxy-Auth`,
    "orization: secret\r\nConnection: keep-alive\r\n\r\n",
  );
  assert.equal(plain, `GET /a?b HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const tunnel = await ask(proxy, `CONNECT ${host} HTTP/1.1\r\n\r\nhello é`);
  assert.equal(tunnel, "HTTP/1.1 200 Connection established\r\n\r\nhello é");
  assert.deepEqual(refused, []);
});

Deno.test("EgressProxy refuses other hosts and ports, and what is no request", async () => {
  const { proxy, refused } = await open(["example.com", "127.0.0.1:1"]);
  await using _proxy = proxy;
  for (const target of ["example.org:443", "example.com:22", "127.0.0.1:2", "localhost:1"]) {
    assert.match(await ask(proxy, `CONNECT ${target} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /);
  }
  assert.equal(refused.length, 4);
  assert.match(refused[0]!, /^example\.org:443 is not among the hosts under "net"/);
  for (const line of ["GET / HTTP/1.1", "GET https://example.com/ HTTP/1.1", "hello"]) {
    assert.match(await ask(proxy, `${line}\r\n\r\n`), /^HTTP\/1\.1 400 /);
  }
  assert.equal(await ask(proxy, "x".repeat(20_000)), "");
});

Deno.test("EgressProxy refuses a listed name that leads into a private network", async () => {
  for (const address of ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1"]) {
    const { proxy, refused } = await open(["example.com"], ["93.184.216.34", address]);
    await using _proxy = proxy;
    const answer = await ask(proxy, "CONNECT example.com:443 HTTP/1.1\r\n\r\n");
    assert.match(answer, /^HTTP\/1\.1 403 /);
    assert.match(refused[0]!, /example\.com resolves to /);
  }
});

const SOCKETS = Deno.makeTempDirSync({ prefix: "quartermaster_" });
addEventListener("unload", () => Deno.removeSync(SOCKETS, { recursive: true }));

Deno.test({
  name:
    "EgressProxy works with permission for names and its sockets only, and says what is refused",
  permissions: {
    read: true,
    write: true,
    env: true,
    net: ["localhost", "127.0.0.1:0", ...socketsIn(SOCKETS).map((socket) => `unix:${socket}`)],
  },
  async fn() {
    await using server = echo();
    const host = `localhost:${server.port}`;
    Deno.env.set(SOCKETS_VARIABLE, SOCKETS);
    try {
      const { proxy, refused } = await open([host, "other.example"]);
      await using _proxy = proxy;
      const second = await open([]);
      assert.notEqual(second.proxy.socket, proxy.socket);
      await second.proxy[Symbol.asyncDispose]();
      const answer = await ask(proxy, `CONNECT ${host} HTTP/1.1\r\n\r\nhello`);
      assert.equal(answer, "HTTP/1.1 200 Connection established\r\n\r\nhello");
      await ask(proxy, "CONNECT other.example:443 HTTP/1.1\r\n\r\n");
      assert.match(refused[0]!, /^other\.example: Deno does not permit .* with --harden/);
    } finally {
      Deno.env.delete(SOCKETS_VARIABLE);
    }
  },
});
