import assert from "node:assert/strict";
import { at, Endpoints } from "./combined_endpoints.ts";
import { startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";
import { connectMatrixClient, type Revision } from "./matrix_clients.ts";
import { FEATURES } from "./matrix_features.ts";
import { findNginx, Nginx } from "./nginx.ts";
import { bearer, Guarded, Listening, Visitor } from "./security/guarded.ts";
import { keepingFetch } from "./stateless_client.ts";

/** As behind a load balancer without stickiness: each request goes to the next gateway. */
function roundRobin(urls: readonly string[]): typeof fetch {
  const keeping = keepingFetch();
  let nth = 0;
  return (input, init) => {
    const { origin } = new URL(urls[nth++ % urls.length]!);
    const url = new URL(String(input));
    return keeping(new URL(url.pathname + url.search, origin), init);
  };
}

async function openThree() {
  await using starting = new AsyncDisposableStack();
  const sessions = starting.use(await startHttpFixture("matrix_sessions", ["--http", "s25"]));
  const endpoints = starting.use(await Endpoints.open({ s25: at(sessions) }));
  const siblings = [
    starting.use(await endpoints.sibling()),
    starting.use(await endpoints.sibling()),
  ];
  for (const sibling of siblings) await sibling.reaches("s25", "ready");
  const urls = [endpoints.url, ...siblings.map(({ url }) => url)];
  const stack = starting.move();
  return { urls, siblings, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const nginx = await findNginx();
/** CI installs it. */
const ignore = nginx === undefined && !Deno.env.get("CI");

/** Three gateways that want a token of everybody, behind nginx if it is installed. */
async function openBehindProxy() {
  await using starting = new AsyncDisposableStack();
  const sessions = starting.use(await startHttpFixture("matrix_sessions", ["--http", "s25"]));
  const stateless = starting.use(await startHttpFixture("matrix_stateless", ["--http", "s26"]));
  const proxy = nginx === undefined ? undefined : starting.use(await Nginx.start(nginx));
  const guarded = starting.use(
    await Guarded.open({ s25: at(sessions), s26: at(stateless) }, [
      ...["--require-token", "--task-after", "100ms"],
      ...proxy ? ["--public-url", proxy.url] : [],
    ]),
  );
  const urls = [guarded.url, await guarded.start(), await guarded.start()];
  await proxy?.serve(urls);
  const keeping = keepingFetch();
  const next = proxy ? keeping : roundRobin(urls);
  const withToken: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${guarded.owner}`);
    return next(input, { ...init, headers });
  };
  const stack = starting.move();
  return {
    ...{ guarded, urls, fetch: withToken },
    url: proxy?.url ?? urls[0]!,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const PATHS = {
  "server endpoint": "/servers/SERVER/mcp?names=original",
  "/mcp": "/mcp?expose=all",
};

Deno.test("all features work with each request at another of three gateways", async (t) => {
  await using three = await openBehindProxy();
  let count = 0;
  for (const revision of ["2025-11-25", "2026-07-28"] satisfies Revision[]) {
    for (const server of ["s25", "s26"]) {
      for (const [name, path] of Object.entries(PATHS)) {
        await t.step(`${revision} client, ${server}, ${name}`, async (t) => {
          const url = three.url + path.replace("SERVER", server);
          await using client = await connectMatrixClient(revision, url, three.fetch);
          const cell = {
            client,
            revisions: {
              client: revision,
              server: server === "s25" ? "2025-11-25" as const : "2026-07-28" as const,
            },
            server,
            named: name === "/mcp" ? (tool: string) => `${server}_${tool}` : (tool: string) => tool,
            listsNewTools: true,
          };
          for (const [feature, run] of Object.entries(FEATURES)) {
            await t.step(feature, () => run({ ...cell, id: `x${count++}` }));
          }
        });
      }
    }
  }
});

Deno.test({
  name: "behind nginx, a browser and clients go on when a gateway is killed (needs nginx)",
  ignore,
  async fn(t) {
    assert.ok(nginx, "nginx is not installed");
    await using three = await openBehindProxy();
    const { guarded, url, urls } = three;
    const origin = { origin: url };

    const logIn = async () => {
      const body = new URLSearchParams({ token: guarded.owner });
      const init = { method: "POST", body, headers: origin, redirect: "manual" } as const;
      const response = await fetch(`${url}/login`, init);
      await response.body?.cancel();
      assert.equal(response.status, 303);
      return (response.headers.get("set-cookie") ?? "").split(";")[0]!;
    };
    const statusOf = async (path: string, headers: HeadersInit) => {
      const response = await fetch(url + path, { headers, redirect: "manual" });
      await response.body?.cancel();
      return response.status;
    };

    await t.step("a browser logs in, hears of changes, and logs out", async () => {
      for (let nth = 0; nth < 5; nth++) {
        const cookie = await logIn();
        for (let page = 0; page < 3; page++) {
          assert.equal(await statusOf("/servers", { cookie }), 200);
        }
      }
      const cookie = await logIn();
      await using events = await Listening.open(`${url}/api/events`, { cookie });
      assert.equal(events.status, 200);
      const save = async (name: string, headers: HeadersInit) => {
        const response = await fetch(`${url}/api/toolsets`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify({ name, tools: ["s25.echo"] }),
        });
        assert.ok(response.ok, await response.text());
      };
      await save("echoes", { cookie, ...origin });
      await until(() => events.text.includes("event: toolsets") || undefined);
      for (let nth = 0; nth < 3; nth++) {
        assert.equal(await statusOf("/toolsets/echoes", { cookie }), 200, "known everywhere");
      }
      const out = await fetch(`${url}/logout`, {
        method: "POST",
        body: new URLSearchParams(),
        headers: { cookie, ...origin },
        redirect: "manual",
      });
      await out.body?.cancel();
      for (let nth = 0; nth < 3; nth++) {
        assert.equal(await statusOf("/api/servers", { cookie }), 401);
      }
      // Whatever is said next is not for whoever has left.
      await save("more", bearer(guarded.owner));
      await events.over();
    });

    const path = "/servers/s25/mcp?names=original";
    const open = (revision: Revision) => connectMatrixClient(revision, url + path, three.fetch);

    await t.step("kill -9 of one: calls there fail clearly, everything else goes on", async () => {
      await using session = await open("2025-11-25");
      await using stateless = await open("2026-07-28");
      const { headers } = await Visitor.open(url, path, guarded.owner);
      // One call at each gateway, by what nginx says of it.
      const calls = new Map<string, Response>();
      for (let id = 1; calls.size < 3; id++) {
        assert.ok(id < 20, "nginx goes round");
        const params = {
          name: "sleep",
          arguments: { id: `kill${id}` },
          _meta: { progressToken: id },
        };
        const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
        const response = await fetch(url + path, { method: "POST", headers, body });
        calls.set(response.headers.get("x-upstream") ?? "", response);
      }
      const killed = new URL(await guarded.kill()).host;
      assert.ok(calls.has(killed));
      await assert.rejects(calls.get(killed)!.text(), "a stream that breaks off");
      calls.delete(killed);
      for (let nth = 0; nth < 30; nth++) {
        const client = nth % 2 ? session : stateless;
        assert.equal(await client.call("echo", { nth }), `s25: {"nth":${nth}}`);
        assert.equal(await statusOf("/servers", bearer(guarded.owner)), 200);
      }
      for (const response of calls.values()) await response.body?.cancel();
      assert.equal(await session.call("ask", { kind: "form" }), "s25: a form");
      assert.equal(await stateless.call("ask", { kind: "form" }), "s25: a form");
      assert.equal(urls.length, 3);
    });
  },
});

/** A raw client of 2025-11-25, which decides itself what it sends where. */
class RawSession {
  readonly #id: string;
  readonly #path = "/servers/s25/mcp?names=original";

  private constructor(id: string) {
    this.#id = id;
  }

  static async open(url: string): Promise<RawSession> {
    const own = new RawSession("");
    const capabilities = { elicitation: {} };
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    const response = await own.post(url, { id: 0, method: "initialize", params });
    await response.text();
    const session = new RawSession(response.headers.get("mcp-session-id")!);
    await (await session.post(url, { method: "notifications/initialized" })).body?.cancel();
    return session;
  }

  post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(url, "POST", headers, JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  send(url: string, method: string, more: Record<string, string> = {}, body?: string) {
    const accept = "application/json, text/event-stream";
    const headers = { "content-type": "application/json", accept, ...more };
    const id = this.#id === "" ? {} : { "mcp-session-id": this.#id };
    return fetch(url + this.#path, { method, headers: { ...headers, ...id }, body: body ?? null });
  }

  async status(url: string): Promise<number> {
    const response = await this.post(url, { id: crypto.randomUUID(), method: "ping" });
    await response.body?.cancel();
    return response.status;
  }

  call(url: string, id: number, name: string, args: object, _meta = {}): Promise<Response> {
    return this.post(url, { id, method: "tools/call", params: { name, arguments: args, _meta } });
  }
}

/** Reads a stream's text until it has what is looked for. */
async function readTo(response: Response, wanted: RegExp): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!wanted.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended without ${wanted}: ${text}`);
    text += value;
  }
  await reader.cancel();
  return text;
}

Deno.test("what belongs to one gateway is found from another", async (t) => {
  await using three = await openThree();
  const [a, b, c] = three.urls as [string, string, string];

  await t.step("a session ended at one is ended at all", async () => {
    const session = await RawSession.open(a);
    for (const url of [a, b, c]) assert.equal(await session.status(url), 200);
    assert.equal((await session.send(b, "DELETE")).status, 200);
    for (const url of [a, b, c]) assert.equal(await session.status(url), 404, url);
  });

  await t.step("an answer that nobody waits for is refused", async () => {
    const session = await RawSession.open(a);
    for (const id of [1, crypto.randomUUID(), `${crypto.randomUUID()}.${crypto.randomUUID()}`]) {
      const answered = await session.post(b, { id, result: { action: "accept", content: {} } });
      assert.equal(answered.status, 400);
      assert.match(await answered.text(), /is waiting for an answer/);
    }
  });

  await t.step("another client cannot answer", async () => {
    const [session, stranger] = [await RawSession.open(a), await RawSession.open(a)];
    const asking = await session.call(a, 1, "ask", { kind: "form" });
    const [, id] = /"id":"([^"]+)"/.exec(await readTo(asking.clone(), /elicitation/)) ?? [];
    const result = { action: "accept", content: { answer: "mine" } };
    const refused = await stranger.post(b, { id, result });
    assert.equal(refused.status, 400);
    await refused.body?.cancel();
    const answered = await session.post(b, { id, result });
    assert.equal(answered.status, 202);
    assert.match(await asking.text(), /s25: mine/);
  });

  await t.step("a stream that broke off goes on at another gateway", async () => {
    const session = await RawSession.open(a);
    const asking = await session.call(a, 1, "ask", { kind: "form" });
    const begun = await readTo(asking, /elicitation/);
    const [, id] = /"id":"([^"]+)"/.exec(begun) ?? [];
    const seen = [...begun.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
    const rest = await session.send(b, "GET", { "last-event-id": seen });
    assert.equal(rest.status, 200);
    const result = { action: "accept", content: { answer: "later" } };
    assert.equal((await session.post(c, { id, result })).status, 202);
    assert.match(await rest.text(), /s25: later/);
  });

  await t.step("a killed gateway takes only its own calls with it", async () => {
    const session = await RawSession.open(a);
    const listening = await session.send(b, "GET");
    const asking = await session.call(c, 1, "ask", { kind: "form" });
    const [, id] = /"id":"([^"]+)"/.exec(await readTo(asking, /elicitation/)) ?? [];
    await three.siblings[1]!.gateway.stop("SIGKILL");
    const result = { action: "accept", content: { answer: "too late" } };
    const answered = await session.post(b, { id, result });
    assert.equal(answered.status, 400);
    await answered.body?.cancel();
    for (const url of [a, b]) assert.equal(await session.status(url), 200);
    await listening.body?.cancel();
    assert.equal((await session.send(a, "DELETE")).status, 200);
    await until(async () => await session.status(b) === 404 || undefined);
  });
});
