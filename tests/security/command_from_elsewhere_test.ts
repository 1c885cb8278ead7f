import assert from "node:assert/strict";
import * as z from "zod";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { cliCommand } from "../cli.ts";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { bearer, Guarded, Visitor } from "./guarded.ts";
import { Trap } from "./trap.ts";

const ELSEWHERE = { "x-forwarded-for": "192.0.2.7" };
const Waiting = z.object({
  consents: z.array(z.looseObject({
    id: z.string(),
    wish: z.string(),
    server: z.string(),
    argv: z.array(z.string()),
    variables: z.array(z.object({ name: z.string() })),
    who: z.string(),
    origin: z.looseObject({ via: z.string(), from: z.string() }),
  })),
});

let server: ScriptedServer;
let guarded: Guarded;
let trap: Trap;

Deno.test.beforeAll(async () => {
  server = new ScriptedServer([tool("echo")]);
  guarded = await Guarded.open({ box: at(server) });
  trap = await Trap.make();
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await trap?.[Symbol.asyncDispose]();
});

async function ask(
  method: string,
  path: string,
  body?: unknown,
  { headers = ELSEWHERE, token = guarded.owner }: { headers?: HeadersInit; token?: string } = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${guarded.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      ...bearer(token),
      ...Object.fromEntries(new Headers(headers)),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function waiting() {
  const { text } = await ask("GET", "/api/consents");
  return Waiting.parse(JSON.parse(text)).consents;
}

async function refuseAll(): Promise<void> {
  for (const { id } of await waiting()) {
    await ask("POST", `/api/consents/${id}`, { decision: "refuse" });
  }
}

async function cli(...args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...cliCommand(), ...args],
    cwd: guarded.folder,
    env: { XDG_CONFIG_HOME: guarded.folder, QUARTERMASTER_DATA_DIR: guarded.folder },
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("a command by MCP, from whoever has a token, waits for the owner and runs nothing", async (t) => {
  const { text: token } = await guarded.token({
    rights: ["read", "call", "manage"],
    name: "agent",
  });

  await t.step("a client that cannot ask its person", async () => {
    const model = await Visitor.open(guarded.url, "/gateway/mcp", token);
    const answer = await model.call("add_server", { name: "evil", ...trap.program() });
    assert.match(answer, /CONSENT_NEEDED/);
    assert.match(answer, /security\/consents/);
  });

  await t.step("a client that says yes for its person", async () => {
    const client = new Client({ name: "eager", version: "1" }, {
      capabilities: { elicitation: {} },
    });
    let questions = 0;
    client.setRequestHandler(ElicitRequestSchema, () => {
      questions++;
      return { action: "accept", content: { agree: true } };
    });
    const transport = new StreamableHTTPClientTransport(new URL("/gateway/mcp", guarded.url), {
      requestInit: { headers: bearer(token) },
    });
    await client.connect(transport as never);
    const wanted = { name: "eager", ...trap.program() };
    const answer = JSON.stringify(await client.callTool({ name: "add_server", arguments: wanted }));
    assert.match(answer, /CONSENT_NEEDED/);
    assert.equal(questions, 0, "whoever writes the client could answer for its user");
    await client.close();
  });

  const rows = await waiting();
  assert.deepEqual(rows.map(({ server, who }) => [server, who]), [["evil", "agent"], [
    "eager",
    "agent",
  ]]);
  assert.deepEqual(rows[0]?.argv, trap.argv);
  assert.deepEqual(rows[0]?.variables, [{ name: "CANARY" }]);
  assert.match(
    rows[1]?.origin.from ?? "",
    /^MCP at \/gateway, client "eager 1", from 127\.0\.0\.1$/,
  );
  assert.equal(await trap.isSprung(), false, "a program was run");
  await refuseAll();
});

Deno.test("a command through the API from elsewhere waits too, in every way it can be sent", async () => {
  const program = trap.program();
  const added = await ask("POST", "/api/servers", { name: "own", ...program }, { headers: {} });
  assert.equal(added.status, 201, added.text);
  await trap.reset();
  const ways: [name: string, method: string, path: string, body: unknown][] = [
    ["new", "POST", "/api/servers", { name: "new", ...program }],
    ["own", "PUT", "/api/servers/own", { ...program, args: [...program.args, "more"] }],
    ["own", "PUT", "/api/servers/own", { ...program, env: { LD_PRELOAD: "/tmp/x.so" } }],
    ["own", "PUT", "/api/servers/own", { ...program, cwd: "/tmp" }],
  ];
  for (const [name, method, path, body] of ways) {
    const { status, text } = await ask(method, path, body);
    assert.equal(status, 403, text);
    assert.match(text, /CONSENT_NEEDED/);
    assert.equal((await waiting()).at(-1)?.server, name);
  }
  assert.equal((await waiting()).length, ways.length);
  for (const [, method, path, body] of ways) await ask(method, path, body);
  assert.equal((await waiting()).length, ways.length, "the same wish is one");
  const unchecked = await ask("POST", "/api/servers?check=false", { name: "new", ...program });
  assert.equal(unchecked.status, 403);
  assert.equal(await trap.isSprung(), false, "a program was run");

  // What is there already is its owner's: to say it again, or to set a limit, runs nothing else.
  const masked = { ...program, env: { CANARY: "***" }, timeoutMs: 5_000 };
  assert.equal((await ask("PUT", "/api/servers/own", masked)).status, 200);
  await refuseAll();
  await ask("DELETE", "/api/servers/own");
});

Deno.test("a removed program is not brought back from elsewhere", async () => {
  const added = await ask("POST", "/api/servers", { name: "back", ...trap.program() }, {
    headers: {},
  });
  assert.equal(added.status, 201, added.text);
  const origin = { ...bearer(guarded.owner), origin: guarded.url };
  const removed = await fetch(`${guarded.url}/servers/back/~remove`, {
    method: "POST",
    redirect: "manual",
    headers: origin,
  });
  const id = new URL(removed.headers.get("location") ?? "", guarded.url).searchParams.get(
    "removed",
  );
  assert.ok(id);
  await trap.reset();
  const undone = await fetch(`${guarded.url}/servers/~undo`, {
    method: "POST",
    redirect: "manual",
    headers: { ...origin, ...ELSEWHERE, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ id }),
  });
  assert.equal(undone.status, 403, await undone.text());
  assert.deepEqual((await waiting()).map(({ server }) => server), ["back"]);
  assert.equal(await trap.isSprung(), false, "a program was run");
  await refuseAll();
});

Deno.test("only somebody at the machine agrees; whoever asks cannot", async (t) => {
  await ask("POST", "/api/servers", { name: "wanted", ...trap.program() });
  const [request] = await waiting();
  const path = `/api/consents/${request?.id}`;
  await trap.reset();

  await t.step("not from elsewhere, whatever the token", async () => {
    const { status, text } = await ask("POST", path, { decision: "approve" });
    assert.equal(status, 403, text);
    const form = await fetch(`${guarded.url}/security/consents`, {
      method: "POST",
      headers: { ...ELSEWHERE, ...bearer(guarded.owner), origin: guarded.url },
      body: new URLSearchParams({ action: "approve", id: request?.id ?? "" }),
    });
    assert.equal(form.status, 403, await form.text());
  });

  await t.step("not by who may only read or call", async () => {
    const { text: token } = await guarded.token({ rights: ["read", "call"] });
    for (const decision of ["approve", "refuse"]) {
      assert.equal((await ask("POST", path, { decision }, { headers: {}, token })).status, 403);
    }
  });
  assert.equal(await trap.isSprung(), false, "a program was run");

  await t.step("the page shows it whole, as text", async () => {
    const page = await ask("GET", "/security/consents", undefined, { headers: {} });
    for (const word of trap.argv) assert.ok(page.text.includes(escaped(word)), word);
    assert.ok(page.text.includes("CANARY") && !page.text.includes("canary-value"));
    assert.match(page.text, /192\.0\.2\.7/);
  });

  await t.step("the command line lists it, and asks before it runs it", async () => {
    const list = await cli("consent", "list");
    assert.ok(list.includes(JSON.stringify(trap.argv)), list);
    assert.match(await cli("consent", "approve", request?.id ?? ""), /pass --yes/i);
    assert.equal(await trap.isSprung(), false, "a program was run");
    const done = await cli("consent", "approve", request?.id ?? "", "--yes");
    assert.match(done, /Started wanted: \d+ tools\. It is marked as untrusted/);
    assert.equal(await trap.isSprung(), true);
    assert.deepEqual(await waiting(), []);
  });

  const { text } = await ask("GET", "/api/servers/wanted");
  assert.match(text, /"trust":"untrusted"/);
  const log = JSON.stringify(await ask("GET", "/api/audit"));
  for (const action of ["consent.ask", "consent.approve"]) assert.ok(log.includes(action), log);
  assert.ok(!`${log}${guarded.log}`.includes("canary-value"), "a value was told");
});

Deno.test("what was refused is gone, and cannot be agreed to", async () => {
  await ask("POST", "/api/servers", { name: "refused", ...trap.program() });
  const [request] = await waiting();
  await trap.reset();
  assert.match(
    await cli("consent", "refuse", request?.id ?? ""),
    /Refused refused\. Nothing was started/,
  );
  const { status } = await ask("POST", `/api/consents/${request?.id}`, { decision: "approve" }, {
    headers: {},
  });
  assert.equal(status, 404);
  assert.equal(await trap.isSprung(), false);
});

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
