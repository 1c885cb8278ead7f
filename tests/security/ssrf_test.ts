import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { LoginBench } from "../../lib/servers/oauth/testing/login_bench.ts";
import { AddressGuard } from "../../lib/servers/transports/address_guard.ts";
import { GuardedClient } from "../../lib/servers/transports/guarded_fetch.ts";
import { FallbackTransport } from "../../lib/servers/transports/http.ts";
import { AesBox } from "../../lib/storage/sealing.ts";
import { ServersRepository } from "../../lib/storage/servers_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import { tool } from "../combined_endpoints.ts";
import { ELSEWHERE, WITH_ADMIN } from "../elsewhere.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";
import { Visitor } from "./guarded.ts";

/** Each with the port of something that listens on this machine, and must hear of nobody. */
const SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0177.0.0.1",
  "0x7f.0.0.1",
  "0x7f000001",
  "2130706433",
  "017700000001",
  "127.0.0.1.",
  "１２７.0.0.1",
  "127。0。0。1",
  "127.127.127.127",
  "0",
  "0.0.0.0",
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:0:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "[fc00::1]",
  "[ff02::1]",
  "10.0.0.1",
  "012.0.0.1",
  "172.16.0.1",
  "172.31.255.254",
  "192.168.0.1",
  "0xc0a80001",
  "100.64.0.1",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "metadata.google.internal",
  "224.0.0.1",
  "255.255.255.255",
];

/** Something that listens on this machine, and counts who comes. */
class Listening implements AsyncDisposable {
  connections = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #accepting = this.#accept();

  get port(): number {
    return this.#listener.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.connections++;
      connection.close();
    }
  }
}

const Refused = z.looseObject({
  error: z.looseObject({ errorType: z.string(), message: z.string() }),
});

async function ask(
  { url }: RunningGateway,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/api/${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, value: z.looseObject({}).parse(await response.json()) };
}

function errorOf(value: unknown): string {
  const parsed = Refused.safeParse(value);
  return parsed.success ? `${parsed.data.error.errorType}: ${parsed.data.error.message}` : "none";
}

Deno.test("no spelling of a private address makes the gateway connect, for a model or from elsewhere", async (t) => {
  await using listening = new Listening();
  const { port } = listening;
  await using gateway = await startGateway([], { env: WITH_ADMIN });
  const model = await Visitor.open(gateway.url, "/gateway/mcp");
  assert.ok(SPELLINGS.length >= 40);

  await t.step("add_server", async () => {
    for (const host of SPELLINGS) {
      const url = `http://${host}:${port}/mcp`;
      const answer = await model.call("add_server", { name: "x", url });
      // About the plain addresses of the machine its owner is asked, and nothing is connected to.
      const isAsked = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
      assert.match(answer, isAsked ? /CONSENT_NEEDED/ : /ACCESS_DENIED/, `${host}: ${answer}`);
      if (!isAsked) assert.match(answer, /--allow-private/, host);
    }
  });

  await t.step("the API, from elsewhere", async () => {
    for (const host of SPELLINGS) {
      const body = { name: "x", url: `http://${host}:${port}/mcp` };
      const { value } = await ask(gateway, "POST", "servers", body, ELSEWHERE);
      assert.match(errorOf(value), /^ACCESS_DENIED/, host);
    }
    const text = JSON.stringify({ mcpServers: { x: { url: listening.url } } });
    for (const step of ["read", "import"]) {
      const body = step === "read" ? { text } : { text, server: "x" };
      await ask(gateway, "POST", `server.${step}`, body, ELSEWHERE);
    }
  });

  await t.step("neither can allow it themselves", async () => {
    const wanted = { name: "x", url: listening.url, allowPrivate: true };
    assert.match(await model.call("add_server", wanted), /INVALID_ARGUMENTS/);
    const { value } = await ask(gateway, "POST", "servers", wanted, ELSEWHERE);
    assert.match(errorOf(value), /^ACCESS_DENIED/);
  });
  assert.equal(listening.connections, 0, "it was connected to");

  await t.step("a person on the machine can, by the address, for that place alone", async () => {
    await using server = new ScriptedServer([tool("echo")]);
    const added = await ask(gateway, "POST", "servers", { name: "near", url: server.url });
    assert.equal(added.status, 201, JSON.stringify(added.value));
    assert.equal(added.value.place, "this machine");
    const { value } = await ask(gateway, "GET", "servers/near", undefined);
    assert.equal(z.looseObject({ allowPrivate: z.boolean() }).parse(value.spec).allowPrivate, true);
    const moved = { url: listening.url };
    const stolen = await ask(gateway, "PUT", "servers/near", moved, ELSEWHERE);
    assert.match(errorOf(stolen.value), /^ACCESS_DENIED/);
    assert.match(await model.call("update_server", { name: "near", ...moved }), /CONSENT_NEEDED/);
    const same = { url: `${server.url}?x=1` };
    assert.equal((await ask(gateway, "PUT", "servers/near", same, ELSEWHERE)).status, 200);
    assert.equal(listening.connections, 0, "it was connected to");
    await ask(gateway, "DELETE", "servers/near", undefined);
  });
});

Deno.test("what is kept in the store is checked again when it is connected to, and its login too", async () => {
  await using listening = new Listening();
  await using server = new ScriptedServer([tool("echo")]);
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await using store = await Store.open({ location: join(dataDir, "quartermaster.kv") });
    const box = () => AesBox.of(new Uint8Array(32));
    const servers = new ServersRepository(store, box);
    for (const [name, { url }] of [["kept", listening], ["good", server]] as const) {
      await servers.save({ name, spec: { type: "http", url, headers: {} }, addedAt: 1 }, null);
    }
    {
      await using gateway = await startGateway([], { dataDir, cwd: dataDir });
      const reason = await until(async () => {
        const { value } = await ask(gateway, "GET", "servers/kept", undefined);
        const { state, reason } = z.looseObject({ state: z.string(), reason: z.string() })
          .parse(value.server);
        return state === "starting" ? undefined : reason;
      });
      assert.match(reason, /127\.0\.0\.1 is an address of this machine.*--allow-private/);
      const { value } = await ask(gateway, "POST", "servers/kept/login", {});
      assert.match(errorOf(value), /^LOGIN_FAILED: 127\.0\.0\.1 is an address of this machine/);
      assert.equal(listening.connections, 0, "it was connected to");
    }
    await using open = await startGateway(["--allow-private"], { dataDir, cwd: dataDir });
    await until(async () => {
      const { value } = await ask(open, "GET", "servers/good", undefined);
      return z.looseObject({ state: z.string() }).parse(value.server).state === "ready" ||
        undefined;
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

const PUBLIC = "93.184.215.14";

/** For which a public address is a server of the test's; nothing else is ever connected to. */
function clientTo(
  origin: string,
  lookups: string[][],
): { client: GuardedClient; reached: string[] } {
  const reached: string[] = [];
  let nth = 0;
  const client = new GuardedClient({
    guard: new AddressGuard(() => Promise.resolve(lookups[Math.min(nth++, lookups.length - 1)]!)),
    connect(options) {
      reached.push(options.hostname ?? "");
      return Deno.connect({
        ...options,
        hostname: "127.0.0.1",
        port: Number(new URL(origin).port),
      });
    },
  });
  return { client, reached };
}

function serve(answer: (request: Request) => Response): { origin: string } & AsyncDisposable {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function initialize(client: GuardedClient, url: string): Promise<string> {
  const events = { onMessage: () => {}, onClose: () => {}, onLog: () => {} };
  const link = new FallbackTransport({
    url,
    headers: {},
    serverName: "x",
    fetch: client.fetchFor(url),
  }, events);
  const message = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
  return link.request(1, message, { streams: false, onMessage: () => {} })
    .finally(() => link[Symbol.asyncDispose]());
}

Deno.test("a redirect of a public server leads nowhere private", async () => {
  let inside = 0;
  await using internal = serve(() => {
    inside++;
    return new Response("{}");
  });
  for (
    const location of [
      "http://169.254.169.254/latest/meta-data/",
      internal.origin,
      "http://mcp.example:22/",
    ]
  ) {
    for (const status of [301, 302, 307, 308]) {
      await using outside = serve(() => new Response(null, { status, headers: { location } }));
      const { client, reached } = clientTo(outside.origin, [[PUBLIC]]);
      await using _client = client;
      await assert.rejects(
        initialize(client, "http://mcp.example/mcp"),
        /redirects to another origin/,
      );
      assert.deepEqual(reached, [PUBLIC], location);
    }
  }
  assert.equal(inside, 0);
});

Deno.test("a name that turns private after the check is not connected to there", async () => {
  const answer = '{"jsonrpc":"2.0","id":1,"result":{}}';
  await using outside = serve(() =>
    new Response(answer, { headers: { "content-type": "application/json", connection: "close" } })
  );
  for (const turned of ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"]) {
    const { client, reached } = clientTo(outside.origin, [[PUBLIC], [turned]]);
    await using _client = client;
    assert.equal(await initialize(client, "http://rebind.example/mcp"), answer);
    const again = initialize(client, "http://rebind.example:81/mcp");
    await assert.rejects(again, new RegExp(`resolves to ${turned}`));
    assert.deepEqual(reached, [PUBLIC], "one lookup for each connection, and none after the check");
  }
});

Deno.test("a server's login leads to no authorization server in a private network", async () => {
  for (
    const place of [
      "https://10.0.0.5",
      "https://[fd00:ec2::254]",
      "https://metadata.google.internal",
    ]
  ) {
    const asked: string[] = [];
    await using server = serve((request) => {
      const { pathname, origin } = new URL(request.url);
      asked.push(pathname);
      return pathname.startsWith("/.well-known/oauth-protected-resource")
        ? Response.json({ resource: `${origin}/mcp`, authorization_servers: [place] })
        : new Response(null, { status: 401 });
    });
    const guard = new AddressGuard();
    await using client = new GuardedClient({ guard });
    await using bench = await LoginBench.open({}, {
      reach: (name) => {
        assert.equal(name, "files");
        return Promise.resolve({
          // The server itself has to be reached for it to name anything.
          fetch: (input, init) =>
            String(input).startsWith(server.origin)
              ? fetch(input, init)
              : client.fetch(input, init),
        });
      },
    });
    const begun = bench.start({}, { url: `${server.origin}/mcp` });
    await assert.rejects(begun, /is an address of (a private network|a cloud's metadata service)/);
    assert.ok(asked.length > 0);
  }
});
