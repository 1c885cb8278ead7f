import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { cliCommand } from "../cli.ts";
import { at, tool } from "../combined_endpoints.ts";
import { ELSEWHERE, WITH_ADMIN } from "../elsewhere.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { type RunningGateway, startGateway, until } from "../gateway.ts";
import { bearer, Guarded } from "./guarded.ts";
import { Trap } from "./trap.ts";

/** As a proxy passes a stranger on that rewrites the host to the local address. */
const GUEST = { "x-forwarded-for": "192.0.2.7" };
/** What a proxy tells of itself by. */
const TOLD = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "forwarded",
  "via",
  "x-real-ip",
];
const ENDPOINTS = ["/mcp", "/mcp?expose=all", "/gateway/mcp", "/g/mcp", "/servers/weather/mcp"];
const Waiting = z.object({ consents: z.array(z.looseObject({ id: z.string() })) });

let gateway: RunningGateway;
let folder: string;
let trap: Trap;

Deno.test.beforeAll(async () => {
  trap = await Trap.make();
  folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = { weather: { url: "http://127.0.0.1:59997/mcp" } };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  gateway = await startGateway([], { cwd: folder, env: WITH_ADMIN });
});

Deno.test.afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
  await trap?.[Symbol.asyncDispose]();
});

async function ask(path: string, init: RequestInit = {}, url = gateway.url) {
  const signal = AbortSignal.timeout(60_000);
  const response = await fetch(new URL(path, url), { redirect: "manual", signal, ...init });
  // A stream that was let in would never end.
  const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
  if (isStream) await response.body?.cancel();
  const { status, headers } = response;
  return { status, headers, text: isStream ? "" : await response.text() };
}

function send(
  path: string,
  message: object,
  headers: Record<string, string> = {},
  url = gateway.url,
) {
  return ask(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  }, url);
}

function initialize(path: string, headers: Record<string, string> = {}, url = gateway.url) {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "guest", version: "1" },
  };
  return send(path, { method: "initialize", params }, headers, url);
}

Deno.test("a proxy's guest without a token is let in at no endpoint, where this machine needs none", async (t) => {
  for (const endpoint of ENDPOINTS) {
    await t.step(endpoint, async () => {
      for (const name of [...TOLD, "x-forwarded-server"]) {
        const refused = await initialize(endpoint, { [name]: "192.0.2.7" });
        assert.equal(refused.status, 401, name);
        assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer/);
        assert.match(refused.text, /proxy/);
        assert.equal(refused.headers.get("mcp-session-id"), null);
      }
      for (const session of [{}, { "mcp-session-id": crypto.randomUUID() }]) {
        const headers = { ...GUEST, accept: "text/event-stream", ...session };
        for (const method of ["GET", "DELETE"]) {
          assert.equal((await ask(endpoint, { method, headers })).status, 401, method);
        }
        for (const method of ["tools/list", "ping", "resources/list"]) {
          const { status } = await send(endpoint, { method }, { ...GUEST, ...session });
          assert.equal(status, 401, method);
        }
      }
    });
  }
  assert.equal((await initialize("/gateway/mcp")).status, 200, "this machine itself");
  assert.equal((await initialize("/gateway/mcp", ELSEWHERE)).status, 200, "with a token");
});

Deno.test("the id of a session of this machine's lets no proxy's guest in, nor after a restart", async (t) => {
  await using server = new ScriptedServer([tool("echo")]);
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = { box: at(server) };
  await Deno.writeTextFile(join(dataDir, ".mcp.json"), JSON.stringify({ mcpServers }));
  const start = () => startGateway([], { dataDir, cwd: dataDir });
  const endpoints = ["/mcp?expose=all", "/mcp", "/servers/box/mcp", "/gateway/mcp"];
  const sessions = new Map<string, string>();

  /** What the gateway answers to whoever has these headers. */
  async function tryAll(url: string, endpoint: string, more: Record<string, string>) {
    const headers = { ...more, "mcp-session-id": sessions.get(endpoint) ?? "" };
    const params = endpoint.startsWith("/gateway")
      ? { name: "list_servers", arguments: {} }
      : { name: "box.echo", arguments: {} };
    return [
      await send(endpoint, { method: "tools/list" }, headers, url),
      await send(endpoint, { method: "tools/call", params }, headers, url),
      await ask(endpoint, { headers: { ...headers, accept: "text/event-stream" } }, url),
    ];
  }

  async function check(url: string): Promise<void> {
    for (const endpoint of endpoints) {
      await t.step(endpoint, async () => {
        const before = server.calls.length;
        for (const name of TOLD) {
          const guest = { [name]: "192.0.2.7" };
          const ended = await ask(endpoint, {
            method: "DELETE",
            headers: { ...guest, "mcp-session-id": sessions.get(endpoint) ?? "" },
          }, url);
          for (const { status, headers, text } of [ended, ...await tryAll(url, endpoint, guest)]) {
            assert.equal(status, 401, `${name}: ${text}`);
            assert.match(headers.get("www-authenticate") ?? "", /^Bearer/);
          }
        }
        assert.equal(server.calls.length, before, "nothing was called");
        const answers = await tryAll(url, endpoint, {});
        assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200], "its owner goes on");
        if (endpoint.startsWith("/gateway")) return;
        // Not the text: on a busy machine, the response is a stream.
        await until(() => server.calls.length > before || undefined);
      });
    }
  }

  try {
    {
      await using first = await start();
      for (const endpoint of endpoints) {
        const { status, headers } = await until(async () => {
          const answer = await initialize(endpoint, {}, first.url);
          return answer.headers.has("mcp-session-id") ? answer : undefined;
        });
        assert.equal(status, 200);
        sessions.set(endpoint, headers.get("mcp-session-id") ?? "");
      }
      await check(first.url);
    }
    await using second = await start();
    await check(second.url);
    for (const endpoint of endpoints) {
      const headers = { "mcp-session-id": sessions.get(endpoint) ?? "" };
      assert.equal((await ask(endpoint, { method: "DELETE", headers }, second.url)).status, 200);
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a proxy's guest cannot agree to its own program", async () => {
  const client = new Client({ name: "guest", version: "1" }, {
    capabilities: { elicitation: {} },
  });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: "accept",
    content: { agree: true },
  }));
  const transport = new StreamableHTTPClientTransport(new URL("/gateway/mcp", gateway.url), {
    requestInit: { headers: GUEST },
  });
  const wanted = { name: "evil", ...trap.program() };
  await assert.rejects(async () => {
    await client.connect(transport as never);
    await client.callTool({ name: "add_server", arguments: wanted });
  });
  await client.close();
  assert.equal(await trap.isSprung(), false, "a program was run");
});

Deno.test("a proxy's guest without a token sees nothing of the console and its API", async (t) => {
  await t.step("programs hear how to come in", async () => {
    for (const path of ["/", "/metrics", "/api/servers", "/api/events", "/api/consents"]) {
      assert.equal((await ask(path)).status, 200, `${path} on this machine itself`);
      assert.equal((await ask(path, { headers: ELSEWHERE })).status, 200, `${path} with a token`);
      const { status, text } = await ask(path, { headers: GUEST });
      assert.equal(status, 401, path);
      assert.match(text, /proxy/);
      assert.match(text, /quartermaster token create/);
    }
  });

  await t.step("nothing is run or changed", async () => {
    const body = JSON.stringify({ name: "evil", ...trap.program() });
    const headers = { ...GUEST, "content-type": "application/json" };
    assert.equal((await ask("/api/servers", { method: "POST", headers, body })).status, 401);
    const backup = await ask("/settings/backup", { method: "POST", headers: GUEST });
    assert.equal(backup.status, 401);
    assert.equal(await trap.isSprung(), false, "a program was run");
    assert.deepEqual(Waiting.parse(JSON.parse((await ask("/api/consents")).text)).consents, []);
  });

  await t.step("people are shown the login, which says why", async () => {
    const page = { headers: { ...GUEST, accept: "text/html" } };
    const shown = await ask("/servers", page);
    assert.equal(shown.status, 303);
    assert.equal(shown.headers.get("location"), "/login?then=%2Fservers");
    const { status, text } = await ask("/login", page);
    assert.equal(status, 200);
    assert.match(text, /Requests through a proxy need a token/);
    assert.doesNotMatch(text, /No token is needed/);
    assert.match(text, /quartermaster token create/);
  });

  await t.step("readiness has no names", async () => {
    await until(async () => (await ask("/readyz")).text.includes("weather") || undefined);
    const { text } = await ask("/readyz", { headers: GUEST });
    assert.match(text, /Something needs attention/);
    assert.doesNotMatch(text, /weather/);
  });
});

Deno.test("behind a proxy that hides itself no token makes its owner the machine's, and the command line does", async (t) => {
  await using guarded = await Guarded.open({}, ["--public-url", "https://tools.example.com"]);
  // What a bare `proxy_pass` sends: the local address as the host, and not a word of itself.
  const post = (path: string, body: unknown) =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(guarded.owner) },
      body: JSON.stringify(body),
    }, guarded.url);
  await trap.reset();
  const wanted = await post("/api/servers", { name: "wanted", ...trap.program() });
  assert.equal(wanted.status, 403, wanted.text);
  assert.match(wanted.text, /CONSENT_NEEDED/);
  const { value } = await guarded.api("GET", "/api/consents");
  const id = Waiting.parse(value).consents[0]?.id ?? "";

  await t.step("nobody agrees through the API or the console, which says how to", async () => {
    const { status, text } = await post(`/api/consents/${id}`, { decision: "approve" });
    assert.equal(status, 403, text);
    const page = "/security/consents";
    const form = await ask(page, {
      method: "POST",
      headers: bearer(guarded.owner),
      body: new URLSearchParams({ action: "approve", id }),
    }, guarded.url);
    assert.equal(form.status, 403);
    const shown = await ask(page, { headers: bearer(guarded.owner) }, guarded.url);
    assert.ok(shown.text.includes(id));
    assert.match(shown.text, /To approve, run this on that machine/);
    assert.match(shown.text, /quartermaster consent approve/);
    assert.doesNotMatch(shown.text, /Approve and start|open this page on/);
  });

  await t.step("nor gets a backup, restores one or names a secret", async () => {
    const headers = bearer(guarded.owner);
    const backup = await ask("/settings/backup", { method: "POST", headers }, guarded.url);
    assert.equal(backup.status, 403);
    const body = new FormData();
    body.set("backup", new File(["x"], "a.backup"));
    const restored = await ask("/settings/restore", { method: "POST", headers, body }, guarded.url);
    assert.equal(restored.status, 403);
    const url = "http://127.0.0.1:59997/${secret:KEY}";
    const named = await post("/api/servers", { name: "far", url });
    assert.equal(named.status, 403, named.text);
    assert.match(named.text, /The secret KEY can be given to a server only/);
  });
  assert.equal(await trap.isSprung(), false, "a program was run");

  await t.step("the command line on the machine does", async () => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...cliCommand(), "consent", "approve", id, "--yes"],
      cwd: guarded.folder,
      env: { XDG_CONFIG_HOME: guarded.folder, QUARTERMASTER_DATA_DIR: guarded.folder },
    }).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.match(said, /Started wanted/);
    assert.equal(await trap.isSprung(), true);
  });
});
