import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { join } from "@std/path";
import { TransportClosed } from "./transport.ts";
import { AddressGuard, type Resolve } from "./address_guard.ts";
import { GuardedClient } from "./guarded_fetch.ts";
import { HttpTransport } from "./http.ts";
import { networkFailureText } from "./http_response.ts";
import {
  KeptEvents,
  keptExchange,
  Loopback,
  OneAnswer,
  rejects,
  request,
  result,
  STRICT,
  until,
} from "./testing/loopback.ts";

const PUBLIC = "93.184.215.14";

/** A client for which the public address is a server on loopback; keeps what it connects to. */
function clientOf(
  { origin }: { origin: string },
  resolve: Resolve,
  options: { caCerts?: string[]; idleMs?: number } = {},
) {
  const reached: string[] = [];
  const client = new GuardedClient({
    ...options,
    guard: new AddressGuard(resolve),
    connect(options) {
      reached.push(options.hostname ?? "");
      assert.equal(options.hostname, PUBLIC);
      const port = Number(new URL(origin).port);
      return Deno.connect({ ...options, hostname: "127.0.0.1", port });
    },
  });
  return { client, reached };
}

function transportTo(client: GuardedClient): HttpTransport {
  const url = "http://mcp.example/mcp";
  const fetch = client.fetchFor(url);
  return new HttpTransport({ url, headers: {}, serverName: "x", fetch }, new KeptEvents());
}

Deno.test(
  "GuardedClient.fetch() connects to the address that was checked, and keeps the name",
  STRICT,
  async () => {
    await using server = new Loopback(({ headers }) => new Response(`for ${headers.get("host")}`));
    const { client, reached } = clientOf(server, () => Promise.resolve([PUBLIC]));
    await using _client = client;
    for (let nth = 0; nth < 3; nth++) {
      const response = await client.fetch("http://mcp.example:8080/mcp");
      assert.equal(await response.text(), "for mcp.example:8080");
    }
    assert.deepEqual(reached, [PUBLIC], "a connection is kept and used again");
  },
);

Deno.test("GuardedClient.fetch() streams both ways, and ends with its signal", STRICT, async () => {
  await using server = new Loopback(({ body }) => {
    const parts = [body.length.toString(), "second"];
    return new Response(
      new ReadableStream({
        pull(controller) {
          const part = parts.shift();
          // Never ends by itself.
          if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
          else return new Promise(() => {});
        },
      }),
    );
  });
  const { client } = clientOf(server, () => Promise.resolve([PUBLIC]));
  await using _client = client;
  const stop = new AbortController();
  const body = "x".repeat(300_000);
  const response = await client.fetch("http://mcp.example/", {
    method: "POST",
    body,
    signal: stop.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.length < "300000second".length) text += (await reader.read()).value;
  assert.equal(text, "300000second");
  stop.abort();
  await assert.rejects(reader.read());
});

Deno.test(
  "GuardedClient.fetch() is not misled by a name that changes between two lookups",
  STRICT,
  async () => {
    await using server = new Loopback(() => new Response("reached"));
    const answers = [[PUBLIC], ["127.0.0.1"]];
    let lookups = 0;
    const resolve = () => Promise.resolve(answers[Math.min(lookups++, 1)]!);
    const { client, reached } = clientOf(server, resolve);
    await using _client = client;
    const first = await client.fetch("http://rebind.example/", {
      headers: { connection: "close" },
    });
    assert.equal(await first.text(), "reached");
    assert.equal(lookups, 1, "one lookup, and its answer is connected to");
    await assert.rejects(
      client.fetch("http://rebind.example:81/"),
      (error) =>
        error instanceof TransportClosed && error.kind === "refused" &&
        /rebind\.example resolves to 127\.0\.0\.1.*--allow-private/.test(error.message),
    );
    assert.deepEqual(reached, [PUBLIC]);
  },
);

Deno.test("GuardedClient.fetch() lets no variable of the environment lead past the check", async () => {
  await using server = new Loopback(() => new Response("reached"));
  await using client = new GuardedClient({
    guard: new AddressGuard(() => Promise.resolve(["10.0.0.1"])),
  });
  const before = Deno.env.get("NO_PROXY");
  Deno.env.set("NO_PROXY", "*");
  try {
    await assert.rejects(
      client.fetch("http://inside.example/"),
      /inside\.example resolves to 10\.0\.0\.1/,
    );
    assert.equal(Deno.env.get("NO_PROXY"), "*");
  } finally {
    if (before === undefined) Deno.env.delete("NO_PROXY");
    else Deno.env.set("NO_PROXY", before);
  }
  assert.equal(server.received.length, 0);
});

Deno.test("GuardedClient.fetch() checks behind a proxy of the user's too", async () => {
  await using server = new Loopback(() => new Response("reached"));
  await using client = new GuardedClient({
    guard: new AddressGuard(() => Promise.resolve(["10.0.0.1"])),
    isBehindProxy: true,
  });
  await assert.rejects(client.fetch(server.url), /127\.0\.0\.1 is an address of this machine/);
  await assert.rejects(client.fetch("http://inside.example/"), /resolves to 10\.0\.0\.1/);
  assert.equal(server.received.length, 0);
});

Deno.test("GuardedClient.fetch() behind a proxy waits for no name twice", async () => {
  const url = "http://inside.example/";
  const answers: PromiseWithResolvers<string[]>[] = [];
  let time = 0;
  await using client = new GuardedClient({
    guard: new AddressGuard(() => {
      const answer = Promise.withResolvers<string[]>();
      answers.push(answer);
      return answer.promise;
    }),
    isBehindProxy: true,
    now: () => time,
  });
  const isRefused = (error: unknown) =>
    error instanceof TransportClosed && error.kind === "refused";
  const first = client.fetch(url);
  answers[0]?.resolve(["10.0.0.1"]);
  await assert.rejects(first, isRefused);
  await assert.rejects(client.fetch(url), isRefused);
  assert.equal(answers.length, 1);
  time += 60_000;
  await assert.rejects(client.fetch(url), isRefused);
  await assert.rejects(client.fetch(url), isRefused);
  assert.equal(answers.length, 2, "it is looked up again, and nobody waits for that");
  answers[1]?.resolve(["10.0.0.2"]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  await assert.rejects(client.fetch(url), /resolves to 10\.0\.0\.2/);
  assert.equal(answers.length, 2);
});

Deno.test("GuardedClient.fetch() behind a proxy goes by no lookup that is old or has failed", async () => {
  const url = "http://inside.example/";
  const lookedUp = () => new Promise((resolve) => setTimeout(resolve, 0));
  const opened: string[] = [];
  let addresses: string[] | undefined;
  let time = 0;
  await using client = new GuardedClient({
    guard: new AddressGuard(() =>
      addresses ? Promise.resolve(addresses) : Promise.reject(new Error("ENOTFOUND"))
    ),
    isBehindProxy: true,
    now: () => time,
  });
  const fetch = globalThis.fetch;
  globalThis.fetch = (input) => {
    opened.push(String(input));
    return Promise.resolve(new Response());
  };
  try {
    await client.fetch(url);
    addresses = ["10.0.0.1"];
    // Looked up again beside this one, and known with the next.
    await client.fetch(url);
    await lookedUp();
    await assert.rejects(client.fetch(url), /resolves to 10\.0\.0\.1/);
    // Not found again: what was found counts for a while.
    addresses = undefined;
    time += 60_000;
    await assert.rejects(client.fetch(url), /resolves to 10\.0\.0\.1/);
    await lookedUp();
    await assert.rejects(client.fetch(url), /resolves to 10\.0\.0\.1/);
    await lookedUp();
    addresses = [PUBLIC];
    time += 60_000;
    await client.fetch(url);
    assert.equal(opened.length, 3);
    addresses = ["10.0.0.1"];
    time += 120_000;
    await assert.rejects(client.fetch(url), /resolves to 10\.0\.0\.1/, "it waits for the lookup");
    assert.equal(opened.length, 3);
  } finally {
    globalThis.fetch = fetch;
  }
});

Deno.test("GuardedClient.fetchFor() costs an open address nothing, and refuses a closed one", async () => {
  await using server = new Loopback(() => new Response("reached"));
  await using client = new GuardedClient({ guard: new AddressGuard() });
  assert.equal(client.fetchFor("https://1.1.1.1/mcp"), fetch);
  assert.equal(client.fetchFor("https://[2606:4700::1111]/mcp"), fetch);
  await assert.rejects(client.fetchFor(server.url)(server.url), /this machine/);
  assert.equal(server.received.length, 0);
});

Deno.test(
  "GuardedClient.fetch() says of a name that is not found that it is not",
  STRICT,
  async () => {
    await using client = new GuardedClient({
      guard: new AddressGuard(() => Promise.reject(new Error("ENOTFOUND"))),
    });
    const error = await client.fetch("http://nowhere.example/").then(
      () => undefined,
      (error) => error,
    );
    assert.equal(networkFailureText(error), "its name was not found");
  },
);

Deno.test(
  "GuardedClient.fetch() serves calls to a server that closes idle connections",
  STRICT,
  async () => {
    await using server = new OneAnswer({ closesIdle: true });
    const { client } = clientOf(server, () => Promise.resolve([PUBLIC]));
    await using _client = client;
    await using transport = transportTo(client);
    for (const id of [1, 2, 3]) {
      assert.equal(await transport.request(id, request(id), keptExchange()), result(id));
      await until(() => server.closed === id, "the connection ends on both sides");
    }
    assert.deepEqual(server.bodies, [1, 2, 3].map((id) => request(id)));
  },
);

Deno.test(
  "a call is not sent again if a reused connection ends before the response",
  STRICT,
  async () => {
    await using server = new OneAnswer({ closesIdle: false });
    const { client, reached } = clientOf(server, () => Promise.resolve([PUBLIC]));
    await using _client = client;
    await using transport = transportTo(client);
    await transport.request(1, request(1), keptExchange());
    await rejects(transport.request(2, request(2), keptExchange()), "lost", /Cannot reach/);
    assert.deepEqual(server.bodies, [request(1), request(2)]);
    assert.equal(reached.length, 1, "the second call reused the connection");
  },
);

Deno.test("GuardedClient.fetch() does not keep idle connections for long", STRICT, async () => {
  await using server = new Loopback(() => new Response("reached"));
  const { client, reached } = clientOf(server, () => Promise.resolve([PUBLIC]), { idleMs: 1 });
  await using _client = client;
  const deadline = AbortSignal.timeout(10_000);
  while (reached.length < 2) {
    const response = await client.fetch("http://mcp.example/", { signal: deadline });
    assert.equal(await response.text(), "reached");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
});

Deno.test(
  "GuardedClient.fetch() tries the next address if one does not answer, and not without end",
  STRICT,
  async () => {
    await using server = new Loopback(() => new Response("reached"));
    const silent = Array.from({ length: 20 }, (_, at) => `93.184.215.${100 + at}`);
    let addresses = [silent[0]!, PUBLIC];
    const tried: string[] = [];
    await using client = new GuardedClient({
      guard: new AddressGuard(() => Promise.resolve(addresses)),
      connectLimitMs: 1,
      connect({ hostname = "", signal }) {
        tried.push(hostname);
        if (hostname === PUBLIC) {
          return Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(server.origin).port) });
        }
        return new Promise((_, reject) =>
          signal!.addEventListener("abort", () => reject(signal!.reason))
        );
      },
    });
    assert.equal(await (await client.fetch("http://mcp.example/")).text(), "reached");
    assert.deepEqual(tried.splice(0), addresses);
    addresses = silent;
    const error = await client.fetch("http://silent.example/").catch((error) => error);
    assert.equal(networkFailureText(error), "the network cannot reach it");
    assert.deepEqual(tried, silent.slice(0, 6));
  },
);

Deno.test("GuardedClient.fetch() checks certificates against the host name", async () => {
  await using files = await Certificates.make("mcp.example");
  const names: unknown[] = [];
  const server = createServer(files.pair, ({ socket, headers }, response) => {
    names.push(Reflect.get(socket, "servername"), headers.host);
    response.end("reached");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  await using _server = { [Symbol.asyncDispose]: () => promisify(server.close.bind(server))() };
  const { port } = server.address() as AddressInfo;
  const origin = `https://127.0.0.1:${port}`;
  const fetchWith = async (caCerts: string[], url: string) => {
    const { client } = clientOf({ origin }, () => Promise.resolve([PUBLIC]), { caCerts });
    await using _client = client;
    return await client.fetch(url).then((response) => response.text(), networkFailureText);
  };
  assert.equal(await fetchWith([files.ca], "https://mcp.example/"), "reached");
  assert.equal(
    await fetchWith([], "https://mcp.example/"),
    "its TLS certificate was not accepted (UnknownIssuer)",
  );
  assert.equal(
    await fetchWith([files.ca], "https://other.example/"),
    "its TLS certificate was not accepted (not valid for name)",
  );
  assert.deepEqual(names, ["mcp.example", "mcp.example"], "SNI and Host");
});

/** A certificate for one host name, signed by an authority of its own. */
class Certificates implements AsyncDisposable {
  private constructor(
    readonly pair: { key: string; cert: string },
    readonly ca: string,
    readonly dir: string,
  ) {}

  static async make(hostname: string): Promise<Certificates> {
    const dir = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const openssl = async (...args: string[]) => {
      const { success, stderr } = await new Deno.Command("openssl", { args, cwd: dir }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    };
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA");
    await openssl("req", ...key, "-keyout", "key.pem", "-out", "csr.pem", "-subj", "/CN=server");
    await Deno.writeTextFile(join(dir, "names"), `subjectAltName=DNS:${hostname}`);
    const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names"];
    await openssl("x509", "-req", "-in", "csr.pem", ...signing, "-out", "cert.pem");
    const read = (name: string) => Deno.readTextFile(join(dir, name));
    const pair = { key: await read("key.pem"), cert: await read("cert.pem") };
    return new Certificates(pair, await read("ca.pem"), dir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.dir, { recursive: true });
  }
}
