import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { TimeoutQueue } from "../../lib/core/async.ts";
import { EvalEndpoints } from "../../lib/mcp/eval_endpoint.ts";
import { Guard } from "../../lib/http/guard.ts";
import { keys } from "../../lib/storage/keys.ts";
import { Logs } from "../../lib/telemetry/logs.ts";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { IS_FULL } from "../full.ts";
import { Entries } from "./audited.ts";
import { everyRoute, METHODS, type Things } from "./every_route.ts";
import { Guarded } from "./guarded.ts";
import { cellsFor, type Refusal } from "./host_and_origin_cells.ts";
import { type RawAnswer, RawConnection } from "./raw_connection.ts";

const AT_ONCE = 8;
/** Of what is wrong, so many are told. */
const SHOWN = 20;

/** Things that are there, so that a route could change or lose them. */
const THINGS: Things = {
  "[server]": "box",
  "servers/[name]": "box",
  "s/[name]": "box",
  "[tool]": "echo",
  "[toolset]": "kit",
  "toolsets/[name]": "kit",
  "projects/[name]": "house",
  "secrets/[name]": "KEY",
};

/** What does harm where it is let in. Other routes are sent nothing, which is enough for many. */
const HARM: Record<string, unknown> = {
  "PUT /api/secrets/KEY": { value: "mine" },
  "PUT /api/projects/house": { servers: [] },
  "POST /api/tokens": { name: "intruder", rights: ["manage"] },
  "POST /api/toolsets": { name: "trap", tools: ["box.echo"] },
  "DELETE /api/toolsets/kit": {},
  "PUT /api/servers/box/tools": { enabled: [] },
};
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "intruder", version: "1" },
  },
};

const Refused = z.strictObject({
  error: z.strictObject({
    errorType: z.string(),
    message: z.string().min(1),
    recoveryAction: z.string().min(1),
    recoverySteps: z.array(z.string()).min(1),
  }),
  requestId: z.uuid(),
});

interface Try {
  method: string;
  path: string;
}

interface Sent extends Try {
  lines: readonly string[];
  /** With one it does what it can. */
  token?: string | undefined;
}

function send(connection: RawConnection, { method, path, lines, token }: Sent): Promise<RawAnswer> {
  const isEndpoint = path.endsWith("/mcp");
  const isJson = isEndpoint || path.startsWith("/api/");
  const hasBody = isJson && token !== undefined && method !== "GET" && method !== "HEAD";
  const body = isEndpoint ? INITIALIZE : HARM[`${method} ${path}`] ?? {};
  return connection.send([
    `${method} ${path} HTTP/1.1`,
    "Accept: application/json, text/event-stream",
    `Content-Type: application/${isJson ? "json" : "x-www-form-urlencoded"}`,
    ...token === undefined ? [] : [`Authorization: Bearer ${token}`],
    ...lines,
  ], hasBody ? JSON.stringify(body) : "");
}

/** What is wrong with an answer, if something is. */
function faultOf(answer: RawAnswer, method: string, refusal?: Refusal): string | undefined {
  const { status, text } = answer;
  const code = text.startsWith('{"error"')
    ? Refused.safeParse(JSON.parse(text)).data?.error.errorType
    : undefined;
  const told = `${status} ${code ?? text.slice(0, 60)}`;
  if (refusal === undefined) {
    const isRefused = status === 0 || code?.startsWith("FOREIGN_") ||
      (method === "HEAD" && status === 403);
    return isRefused ? `${told}, but it should come in` : undefined;
  }
  const isRight = refusal === "NO_HTTP"
    ? status === 400 && code === undefined
    : status === 403 && (method === "HEAD" || code === refusal);
  return isRight ? undefined : `${told}, but it should be refused as ${refusal}`;
}

/** Tries all of them with hosts and origins, or with every pair; says how many requests that were. */
async function tryAll(
  port: number,
  token: string,
  tries: readonly Try[],
  isFull: boolean,
): Promise<number> {
  const wrong: string[] = [];
  let count = 0;
  const queue = tries.entries();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    using connection = new RawConnection(port);
    for (const [nth, { method, path }] of queue) {
      for (const { lines, refusal } of cellsFor(method, port, isFull ? undefined : nth)) {
        count++;
        // Whoever is to be refused has the token: nothing but the guard is in the way.
        const sent = { method, path, lines, token: refusal && token };
        const fault = faultOf(await send(connection, sent), method, refusal);
        if (fault !== undefined) wrong.push(`${method} ${path} (${lines.join(", ")}): ${fault}`);
      }
    }
  }));
  const told = wrong.slice(0, SHOWN).join("\n");
  assert.equal(wrong.length, 0, `${wrong.length} of ${count} are wrong, the first:\n${told}`);
  return count;
}

/** All that the gateway keeps, and what its server was asked to do. */
async function stateOf({ folder }: Guarded, { calls }: ScriptedServer): Promise<string[]> {
  const state = [await Deno.readTextFile(join(folder, ".mcp.json")), ...calls];
  // Who decided what is asked for by itself: that somebody could not log in is there as well.
  const others = new Set([keys.leases, keys.auditLog, keys.auditChains].map((key) => key()[0]));
  using kv = await Deno.openKv(join(folder, "quartermaster.kv"));
  for await (const { key, versionstamp } of kv.list({ prefix: [] })) {
    const [root] = z.tuple([z.string()], z.unknown()).parse(key);
    if (others.has(root)) continue;
    // When a token was last used is noted in it.
    const isToken = root === keys.accessTokens()[0];
    state.push(JSON.stringify(isToken ? key : [...key, versionstamp]));
  }
  return state;
}

async function decisionsOf(guarded: Guarded): Promise<string[]> {
  const { value } = await guarded.api("GET", "/api/audit?limit=500");
  return Entries.parse(value).entries.map(({ action, subject }) => `${action} ${subject}`)
    .filter((decision) => decision !== "console.login.fail console");
}

/** Makes the things that routes are about. */
async function furnish(guarded: Guarded): Promise<Things> {
  const made = [
    await guarded.api("POST", "/api/toolsets", { name: "kit", tools: ["box.echo"] }),
    await guarded.api("PUT", "/api/projects/house", { servers: ["box"] }),
    await guarded.api("PUT", "/api/secrets/KEY", { value: "ours" }),
  ];
  for (const { status, value } of made) assert.ok(status < 300, JSON.stringify(value));
  const { id } = await guarded.token();
  return { ...THINGS, "tokens/[id]": id };
}

Deno.test("12 hosts and 12 origins: every route answers its own alone, and nothing else happens", async () => {
  await using server = new ScriptedServer([tool("echo")]);
  await using guarded = await Guarded.open({ box: at(server) });
  const port = Number(new URL(guarded.url).port);
  const lines = [`Host: localhost:${port}`];
  const token = guarded.owner;
  using connection = new RawConnection(port);

  const routes = await everyRoute(await furnish(guarded));
  assert.ok(routes.length > 120, `only ${routes.length} routes were found`);
  for (const { path, from } of routes) {
    // What no route answers falls to this file: such a path would stand for nothing.
    if (from === "routes/(console)/[...path].tsx") continue;
    const { status, text } = await send(connection, { method: "GET", path, lines, token });
    assert.ok(status > 0 && !text.includes(`There is nothing at GET ${path}`), `${from}: ${path}`);
  }

  const before = [...await stateOf(guarded, server), ...await decisionsOf(guarded)];
  const tries = [
    ...routes.flatMap(({ methods, path }) => methods.map((method) => ({ method, path }))),
    ...Object.keys(HARM).map((harm) => harm.split(" ") as [string, string])
      .map(([method, path]) => ({ method, path })),
  ];
  const count = await tryAll(port, token, tries, IS_FULL);
  assert.ok(count > (IS_FULL ? 30_000 : 3_000), `only ${count} requests were made`);
  assert.deepEqual([...await stateOf(guarded, server), ...await decisionsOf(guarded)], before);

  // The same requests do change something where they come in.
  for (const harm of Object.keys(HARM)) {
    const [method = "", path = ""] = harm.split(" ");
    const unchanged = await stateOf(guarded, server);
    const { status, text } = await send(connection, { method, path, lines, token });
    assert.ok(status >= 200 && status < 300, `${harm}: ${status} ${text}`);
    assert.notDeepEqual(await stateOf(guarded, server), unchanged, harm);
  }
});

Deno.test("12 hosts and 12 origins: an evaluation's endpoint answers its own alone", async () => {
  await using logs = await Logs.open({
    level: "fatal",
    development: false,
    keepFiles: 1,
  });
  using patience = new TimeoutQueue(50);
  await using endpoints = new EvalEndpoints({ log: logs.module("http"), patience, lingerMs: 0 });
  await using endpoint = endpoints.open([]);
  const { port, pathname: path } = new URL(endpoint.url);
  await tryAll(Number(port), endpoint.token, METHODS.map((method) => ({ method, path })), true);
});

Deno.test("beyond loopback a page at any other address is refused, also with the gateway's port", () => {
  const publicUrl = "https://gateway.example";
  const guard = new Guard({ host: "0.0.0.0", port: 3333, maxBody: 100, publicUrl });
  const check = (host: string, origin: string) =>
    guard.check(new Request("http://localhost", { headers: { host, origin } }));
  check("192.168.0.5:3333", "http://192.168.0.5:3333");
  check("[fe80::1]:3333", "http://[fe80::1]:3333");
  for (
    const origin of [
      "http://203.0.113.9:3333",
      "http://[2001:db8::9]:3333",
      "http://127.0.0.2:3333",
      "https://192.168.0.5:3333",
      "http://192.168.0.5:3334",
      "http://192.168.0.5",
    ]
  ) {
    assert.throws(() => check("192.168.0.5:3333", origin), { code: "FOREIGN_ORIGIN" }, origin);
  }
  // The same name without TLS may be anybody's on the way.
  assert.throws(() => check("gateway.example", "http://gateway.example"), {
    code: "FOREIGN_ORIGIN",
  });
});
