import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { startCommand } from "../gateway.ts";
import { Guarded, Visitor } from "./guarded.ts";

const Tools = z.looseObject({
  tools: z.array(z.looseObject({
    name: z.string(),
    annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).optional(),
  })),
});

let server: ScriptedServer;
let ear: Deno.HttpServer<Deno.NetAddr>;
let guarded: Guarded;
/** Everything that came to the server, headers too. */
const heard: string[] = [];

/** Hears what a server would hear. */
function listenTo({ url }: ScriptedServer): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { method, headers } = request;
    const body = await request.text();
    heard.push(JSON.stringify([...headers]) + body);
    return await fetch(url, { method, headers, ...(body === "" ? {} : { body }) });
  });
}

Deno.test.beforeAll(async () => {
  server = new ScriptedServer([tool("echo")]);
  server.capabilities = { resources: {}, prompts: {} };
  server.scripts.set("resources/list", () => ({ resources: [{ uri: "file:///a", name: "a" }] }));
  server.scripts.set("resources/read", () => ({ contents: [{ uri: "file:///a", text: "body" }] }));
  server.scripts.set("prompts/list", () => ({ prompts: [{ name: "ask" }] }));
  server.scripts.set("prompts/get", () => ({ messages: [], description: "body" }));
  ear = listenTo(server);
  guarded = await Guarded.open({ box: at({ url: `http://127.0.0.1:${ear.addr.port}/mcp` }) });
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  await ear?.shutdown();
  await server?.[Symbol.asyncDispose]();
});

function visit(path: string, token: string): Promise<Visitor> {
  return Visitor.open(guarded.url, path, token);
}

Deno.test("nothing but the way in answers without a token", async () => {
  const closed = [
    "/mcp",
    "/servers/box/mcp",
    "/toolsets/none/mcp",
    "/gateway/mcp",
    "/api/servers",
    "/api/tokens",
    "/api/events",
    "/metrics",
    "/servers",
    "/security/tokens",
    "/nothing-here",
  ];
  const wrong = [
    {},
    { authorization: "Bearer qm_guessed_by_somebody_else" },
    { authorization: `Basic ${btoa(`me:${guarded.owner}`)}` },
    { authorization: guarded.owner },
    { cookie: `__Host-quartermaster=${guarded.owner}` },
    { "x-api-key": guarded.owner },
  ];
  for (const path of closed) {
    for (const headers of wrong) {
      const response = await fetch(`${guarded.url}${path}`, { headers });
      assert.equal(response.status, 401, `${path} ${JSON.stringify(headers)}`);
      assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer/);
      assert.doesNotMatch(await response.text(), /\bbox\b/);
    }
    const response = await fetch(`${guarded.url}${path}?token=${guarded.owner}`);
    assert.equal(response.status, 401, `${path} with the token in its address`);
    await response.body?.cancel();
  }
  // A browser is shown the way in.
  const page = await fetch(`${guarded.url}/servers`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  assert.equal(page.status, 303);
  assert.equal(page.headers.get("location"), "/login?then=%2Fservers");
  for (const path of ["/healthz", "/login", "/console.css", "/favicon.svg"]) {
    const response = await fetch(`${guarded.url}${path}`);
    assert.equal(response.status, 200, path);
    await response.body?.cancel();
  }
  for (const path of ["/css/..%2f..%2fdeno.json", "/_fresh/..%2f..%2fdeno.json"]) {
    const response = await fetch(`${guarded.url}${path}`);
    assert.doesNotMatch(await response.text(), /"imports"/, path);
  }
});

Deno.test("a token without the right to call lists, and calls nothing", async () => {
  const { text: token } = await guarded.token({ rights: ["read"] });
  const uses: [path: string, method: string, params: object][] = [
    ["/mcp?expose=all", "tools/call", { name: "box_echo", arguments: {} }],
    ["/mcp", "tools/call", { name: "tool_execute", arguments: { toolKey: "box_echo" } }],
    ["/mcp?expose=optimizer", "tools/call", {
      name: "optim.call_tool",
      arguments: { backend_id: "box", tool_name: "echo", parameters: {} },
    }],
    ["/servers/box/mcp", "tools/call", { name: "box.echo", arguments: {} }],
    ["/servers/box/mcp", "resources/read", { uri: "file:///a" }],
    ["/servers/box/mcp", "prompts/get", { name: "ask" }],
    ["/mcp?expose=all", "resources/read", { uri: "file:///a" }],
    ["/mcp?expose=all", "prompts/get", { name: "ask" }],
  ];
  for (const [path, method, params] of uses) {
    const visitor = await visit(path, token);
    assert.ok((await visitor.tools()).length > 0, path);
    const calls = server.calls.length;
    const { text } = await visitor.request(method, params);
    assert.match(text, /ACCESS_DENIED/, `${path} ${method}: ${text}`);
    assert.equal(server.calls.length, calls);
    const owner = await visit(path, guarded.owner);
    assert.doesNotMatch((await owner.request(method, params)).text, /ACCESS_DENIED/);
  }
});

Deno.test("a token without the right to manage finds no tool that changes the gateway", async () => {
  const { text: token } = await guarded.token({ rights: ["read", "call"] });
  for (const path of ["/gateway/mcp", "/mcp"]) {
    const owner = await visit(path, guarded.owner);
    const all = Tools.parse((await owner.request("tools/list")).result).tools;
    const visitor = await visit(path, token);
    const listed = await visitor.tools();
    const own = ["equip-toolset", "unequip-toolset", "tool_execute"];
    const changing = all.filter(({ name, annotations }) =>
      annotations?.readOnlyHint !== true && !own.includes(name)
    );
    assert.ok(changing.length > 0, path);
    for (const { name } of changing) {
      assert.ok(!listed.includes(name), `${path} lists ${name}`);
      assert.match(await visitor.call(name), /ACCESS_DENIED/, `${path} ${name}`);
    }
  }
  const changes: [string, string, unknown][] = [
    ["POST", "/api/servers", { name: "x", type: "http", url: "http://127.0.0.1:9/mcp" }],
    ["DELETE", "/api/servers/box", undefined],
    ["PUT", "/api/servers/box/tools", { enabled: [] }],
    ["POST", "/api/tokens", { name: "more", rights: ["manage"] }],
    ["PUT", "/api/projects/web", { servers: ["box"] }],
    ["PUT", "/api/optimization/enabled", { enabled: true }],
    ["POST", "/api/tools/box/echo/call", { arguments: {} }],
  ];
  for (const [method, path, body] of changes) {
    const { status, value } = await guarded.api(method, path, body, token);
    assert.equal(status, 403, `${method} ${path} ${JSON.stringify(value)}`);
  }
});

Deno.test("a token that manages and may not call calls nothing from the console either", async () => {
  const { text: token } = await guarded.token({ rights: ["read", "manage"] });
  const calls = server.calls.length;
  const body = { arguments: {}, confirmed: true };
  const call = (token: string) => guarded.api("POST", "/api/tools/box/echo/call", body, token);
  assert.equal((await call(token)).status, 403);
  assert.equal(server.calls.length, calls);
  assert.equal((await call(guarded.owner)).status, 200);
  assert.equal(server.calls.length, calls + 1);
});

Deno.test("a narrow token does not come into the console, which shows everything", async () => {
  await guarded.admin.saveProject({ name: "web", servers: [] });
  const rights = ["read", "call", "manage", "optimize"];
  for (
    const wishes of [{ servers: ["box"] }, { tools: ["box.*"] }, { toolsets: ["x"] }, {
      project: "web",
    }]
  ) {
    const { text: token } = await guarded.token({ rights, ...wishes });
    for (const path of ["/servers", "/api/servers", "/api/tokens", "/api/events", "/metrics"]) {
      const response = await guarded.get(path, { token });
      assert.equal(response.status, 403, `${path} ${JSON.stringify(wishes)}`);
      await response.body?.cancel();
    }
    const readiness = await (await guarded.get("/readyz", { token })).text();
    assert.doesNotMatch(readiness, /\bbox\b/);
  }
});

Deno.test("a token cannot make one that may do more than itself", async () => {
  const { text: token } = await guarded.token({ rights: ["read", "manage"] });
  const make = (rights: string[]) =>
    guarded.api("POST", "/api/tokens", { name: rights.join(" "), rights }, token);
  for (const rights of [["call"], ["read", "optimize"], ["read", "call", "manage", "optimize"]]) {
    const { status, value } = await make(rights);
    assert.equal(status, 403, JSON.stringify(value));
  }
  assert.equal((await make(["read", "manage"])).status, 201);
});

Deno.test("a token that is revoked at one gateway is cut off at another", async () => {
  const sibling = await guarded.start();
  const token = await guarded.token();
  const visitors = await Promise.all(
    ["/mcp", "/mcp?expose=all", "/servers/box/mcp", "/gateway/mcp"].map((path) =>
      Visitor.open(sibling, path, token.text)
    ),
  );
  const streams = await Promise.all(visitors.map((visitor) => visitor.listen()));
  assert.ok(streams.every(({ status, isOver }) => status === 200 && !isOver));
  const { status } = await guarded.api("DELETE", `/api/tokens/${token.id}`);
  assert.equal(status, 200);
  for (const stream of streams) await stream.over();
  for (const visitor of visitors) assert.equal((await visitor.request("tools/list")).status, 401);
});

Deno.test("a token that has expired lets nobody in", async () => {
  const expiresAt = Date.now() + 4_000;
  const { text: token } = await guarded.token({ expiresAt });
  const visitor = await visit("/mcp", token);
  assert.equal((await visitor.request("tools/list")).status, 200);
  await using stream = await visitor.listen();
  await stream.over();
  await new Promise((resolve) => setTimeout(resolve, expiresAt + 1 - Date.now()));
  for (const path of ["/mcp", "/api/servers"]) {
    const response = await guarded.get(path, { token });
    assert.equal(response.status, 401, path);
    assert.match(await response.text(), /has expired/);
  }
  assert.equal((await visitor.request("tools/list")).status, 401);
});

Deno.test("a token's text is nowhere but with its owner", async () => {
  const { text: token } = await guarded.token();
  await (await visit("/mcp", token)).tools();
  const made = await guarded.api("POST", "/api/tokens", { name: "by API", rights: ["read"] });
  const text = z.string().parse(made.value.text);
  const shown = [
    guarded.log,
    JSON.stringify((await guarded.api("GET", "/api/tokens")).value),
    await (await guarded.get("/security/tokens", { token: guarded.owner })).text(),
  ];
  for await (const { name, isFile } of Deno.readDir(guarded.folder)) {
    if (isFile) {
      shown.push(new TextDecoder().decode(await Deno.readFile(join(guarded.folder, name))));
    }
  }
  assert.ok(shown.length > 4);
  for (const place of shown) {
    for (const secret of [token, text, guarded.owner]) assert.ok(!place.includes(secret));
  }
});

Deno.test("a gateway that others could reach does not start without a token, and says how to make one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    for (
      const flags of [["--host", "0.0.0.0"], ["--public-url", "https://tools.example.com"], [
        "--require-token",
      ]]
    ) {
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [...startCommand(), "--port", "0", "--data-dir", folder, ...flags],
        cwd: folder,
        env: { XDG_CONFIG_HOME: folder, QUARTERMASTER_EMBEDDINGS: "none" },
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).output();
      const said = new TextDecoder().decode(stderr);
      assert.equal(code, 2, said);
      assert.match(said, /Cannot serve on .* has none yet/);
      assert.match(said, /quartermaster token create --name me/);
      assert.match(said, /QUARTERMASTER_ADMIN_TOKEN/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a caller's token is not handed on to a server", async () => {
  const { text: token } = await guarded.token();
  const visitor = await visit("/mcp", token);
  assert.match(await visitor.call("box_echo"), /called echo/);
  const atServer = await visit("/servers/box/mcp", token);
  assert.match(await atServer.call("box.echo"), /called echo/);
  assert.ok(heard.length > 2);
  for (const text of heard) {
    assert.ok(!text.includes(token) && !text.includes(guarded.owner) && !/bearer/i.test(text));
  }
});
