import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/auth"
import {
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from "@modelcontextprotocol/sdk/client/auth.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { exportSPKI } from "jose";
import { at, tool } from "../combined_endpoints.ts";
import { IdentityProvider, type TokenWishes } from "../fixtures/identity_provider.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { Audited } from "./audited.ts";
import { bearer, Guarded, Visitor } from "./guarded.ts";

let provider: IdentityProvider;
let box: ScriptedServer;
let shed: ScriptedServer;
let nosy: Recorder;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  provider = await IdentityProvider.open();
  box = new ScriptedServer([tool("echo")]);
  shed = new ScriptedServer([tool("dig")]);
  nosy = new Recorder(box);
  guarded = await Guarded.open({ box: at(nosy), shed: at(shed) }, [
    "--require-token",
    "--oauth-issuer",
    provider.issuer,
  ]);
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  for (const one of [nosy, box, shed, provider]) await one?.[Symbol.asyncDispose]();
});

/** Stands before a server, and keeps everything that is sent to it. */
class Recorder implements AsyncDisposable {
  readonly seen: string[] = [];
  readonly #listener: Deno.HttpServer<Deno.NetAddr>;

  constructor(server: ScriptedServer) {
    const where = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#listener = Deno.serve(where, async (request) => {
      const { method, url } = request;
      const body = await request.text();
      this.seen.push([method, url, JSON.stringify([...request.headers]), body].join("\n"));
      const headers = new Headers(request.headers);
      headers.delete("host");
      return await fetch(server.url, { method, headers, ...(body === "" ? {} : { body }) });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.shutdown();
  }
}

function sign(claims: Record<string, unknown> = {}, more: TokenWishes = {}): Promise<string> {
  return provider.sign(guarded.url, { ...more, claims });
}

async function statusOf(path: string, token: string): Promise<number> {
  // A method that no endpoint answers: whoever is let in gets 405.
  const response = await fetch(new URL(path, guarded.url), {
    method: path.endsWith("/mcp") ? "PUT" : "GET",
    headers: bearer(token),
  });
  await response.body?.cancel();
  return response.status;
}

const seconds = () => Math.floor(Date.now() / 1000);

Deno.test("a person with the identity provider's token lists and calls, and no server sees the token", async () => {
  const token = await sign();
  for (const path of ["/mcp?expose=all", "/servers/box/mcp"]) {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(path, guarded.url), {
      requestInit: { headers: bearer(token) },
    });
    await client.connect(transport as never);
    const { tools } = await client.listTools();
    const name = tools.find(({ name }) => /^box.echo$/.test(name))?.name ?? "";
    const { content } = await client.callTool({ name, arguments: {} });
    assert.deepEqual(content, [{ type: "text", text: "called echo" }]);
    await client.close();
  }
  assert.ok(nosy.seen.some((text) => text.includes("tools/call")));
  const [, claims, signature] = token.split(".");
  for (const text of [...nosy.seen, guarded.log]) {
    for (const part of [token, claims!, signature!]) assert.ok(!text.includes(part));
    assert.doesNotMatch(text, /"authorization"/i);
  }
});

Deno.test("a token that is not the provider's, not for this gateway or not of this time lets nobody in", async () => {
  await using stranger = await IdentityProvider.open();
  const audience = guarded.url;
  const publicKey = new TextEncoder().encode(await exportSPKI(provider.key.publicKey));
  const hmac = async (text: string, secret: Uint8Array<ArrayBuffer>) => {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
  };
  const es256 = async (text: string) => {
    const algorithm = { name: "ECDSA", hash: "SHA-256" };
    const bytes = new TextEncoder().encode(text);
    return new Uint8Array(await crypto.subtle.sign(algorithm, provider.key.privateKey, bytes));
  };
  const jwk = new TextEncoder().encode(JSON.stringify(provider.key.jwk));
  const genuine = await sign();
  const [header, , signature] = genuine.split(".");
  const [, claims] = (await provider.forge(audience, {
    claims: { sub: "root", scope: "mcp:manage" },
  })).split(".");
  const attacks: Record<string, string> = {
    "wrong audience": await provider.sign("https://other.example.com"),
    "audience that begins alike": await provider.sign(`${audience}.example.com/mcp`),
    "no audience": await sign({ aud: undefined }),
    expired: await sign({ exp: seconds() - 60 }),
    "without an end": await sign({ exp: undefined }),
    "not yet valid": await sign({ nbf: seconds() + 120 }),
    "alg=none": await provider.forge(audience, { header: { alg: "none" } }),
    "alg=nOnE": await provider.forge(audience, { header: { alg: "nOnE" } }),
    "no signature": await provider.forge(audience, { header: { alg: "ES256" } }),
    "HS256 by the public key": await provider.forge(
      audience,
      { header: { alg: "HS256" } },
      (text) => hmac(text, publicKey),
    ),
    "HS256 by the published key": await provider.forge(
      audience,
      { header: { alg: "HS256" } },
      (text) => hmac(text, jwk),
    ),
    "foreign issuer": await stranger.sign(audience),
    "foreign key, our issuer": await stranger.sign(audience, { claims: { iss: provider.issuer } }),
    "foreign key under our key's name": await stranger.sign(audience, {
      claims: { iss: provider.issuer },
      header: { kid: provider.key.kid },
    }),
    "key in the header": await stranger.sign(audience, {
      claims: { iss: provider.issuer },
      header: { jwk: stranger.key.jwk, jku: `${stranger.issuer}/keys` },
    }),
    "unknown key": await sign({}, { header: { kid: "made-up" } }),
    "wrong type": await sign({}, { header: { typ: "logout+jwt" } }),
    "no type": await sign({}, { header: { typ: undefined } }),
    "what must be understood and is not": await provider.forge(
      audience,
      { header: { alg: "ES256", crit: ["x"], x: 1 } },
      es256,
    ),
    "other claims under a genuine signature": [header, claims, signature].join("."),
    "claims that cannot be understood": await sign({ mcp_servers: "box" }),
    "a mode that there is not": await sign({ mcp_mode: "readonly" }),
    "a claim that there is not": await sign({ mcp_server: ["shed"] }),
  };
  for (const [attack, token] of Object.entries(attacks)) {
    for (const path of ["/mcp", "/servers/box/mcp", "/gateway/mcp", "/api/servers"]) {
      const response = await fetch(new URL(path, guarded.url), { headers: bearer(token) });
      assert.equal(response.status, 401, `${attack} at ${path}`);
      const challenge = response.headers.get("www-authenticate") ?? "";
      assert.match(challenge, /^Bearer resource_metadata="http:/, attack);
      assert.doesNotMatch(await response.text(), /\bbox\b/);
    }
  }
  assert.deepEqual(stranger.asked, [], "nobody else is asked for keys");
  const byHand = await provider.forge(audience, { header: { alg: "ES256" } }, es256);
  for (const path of ["/mcp", "/servers/box/mcp", "/gateway/mcp"]) {
    for (const token of [genuine, byHand]) assert.equal(await statusOf(path, token), 405, path);
  }
  assert.equal(await statusOf("/api/servers", genuine), 200);
});

Deno.test("a token without a scope that counts gets 403, and is told what to ask for", async () => {
  for (const claims of [{ scope: "openid email" }, { scope: undefined }, { scp: [], scope: "" }]) {
    const headers = bearer(await sign(claims));
    const response = await fetch(new URL("/mcp", guarded.url), { method: "PUT", headers });
    await response.body?.cancel();
    assert.equal(response.status, 403, JSON.stringify(claims));
    const { error, scope } = extractWWWAuthenticateParams(response);
    assert.deepEqual([error, scope], ["insufficient_scope", "mcp:read mcp:call"]);
  }
});

Deno.test("a call that a token has no scope for is answered with the scopes to ask for", async () => {
  const token = await sign({ scope: "mcp:read mcp:optimize" });
  const visitor = await Visitor.open(guarded.url, "/servers/box/mcp", token);
  assert.deepEqual(await visitor.tools(), ["box.echo"]);
  const before = box.calls.length;
  const response = await visitor.post("tools/call", { name: "box.echo", arguments: {} });
  assert.match(await response.text(), /INSUFFICIENT_SCOPE/);
  assert.equal(response.status, 403);
  assert.equal(box.calls.length, before);
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  assert.deepEqual([error, scope], ["insufficient_scope", "mcp:read mcp:call mcp:optimize"]);
  assert.match(resourceMetadataUrl?.pathname ?? "", /\/servers\/box\/mcp$/);
  assert.match(
    await visitor.call("box.dig"),
    /TOOL_NOT_FOUND/,
    "no scope brings what is not there",
  );
  // Some tools of the gateway's own only read.
  const main = await Visitor.open(guarded.url, "/mcp", token);
  const found = await main.request("tools/call", {
    name: "tool_discovery",
    arguments: { query: "echo" },
  });
  assert.equal(found.status, 200);
  assert.doesNotMatch(found.text, /ACCESS_DENIED|INSUFFICIENT_SCOPE/);
});

Deno.test("at every endpoint a call is answered with the scopes that it needs, and is in the audit log", async (t) => {
  const toolset = { name: "both", tools: ["box.echo", "shed.dig"] };
  assert.ok((await guarded.api("POST", "/api/toolsets", toolset)).status < 300);
  await guarded.api("PUT", "/api/projects/sheds", { servers: ["shed"] });
  const audited = new Audited(guarded);
  const claims = { sub: "cat", name: "Cat" };
  const reading = await sign({ ...claims, scope: "mcp:read" });
  const narrow = await sign({ ...claims, scope: "mcp:read", mcp_servers: ["shed"] });
  const server = { name: "new", url: "http://127.0.0.1:59997/mcp" };

  interface Wanted {
    endpoint: string;
    name: string;
    args?: object;
    meta?: object;
    token?: string;
  }

  async function call({ endpoint, name, args = {}, meta, token = reading }: Wanted) {
    const visitor = await Visitor.open(guarded.url, endpoint, token);
    await audited.news();
    const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
    const before = box.calls.length + shed.calls.length;
    const response = await visitor.post("tools/call", params);
    const text = await response.text();
    assert.equal(box.calls.length + shed.calls.length, before, "nothing is called");
    const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const noted = (await audited.news()).map(({ action, subject }) => `${action} ${subject}`);
    const { status } = response;
    return { status, text, error, scope, place: resourceMetadataUrl?.pathname, noted };
  }

  const callScopes = "mcp:read mcp:call";
  const challenged: (Wanted & { scopes: string; subject: string })[] = [
    { endpoint: "/mcp?expose=all", name: "box_echo", scopes: callScopes, subject: "box.echo" },
    { endpoint: "/mcp", name: "shed.dig", scopes: callScopes, subject: "shed.dig" },
    { endpoint: "/toolsets/both/mcp", name: "box_echo", scopes: callScopes, subject: "box.echo" },
    { endpoint: "/servers/box/mcp", name: "box.echo", scopes: callScopes, subject: "box.echo" },
    {
      endpoint: "/mcp",
      name: "tool_execute",
      args: { toolKey: "box_echo", arguments: {} },
      scopes: callScopes,
      subject: "box.echo",
    },
    {
      endpoint: "/mcp?expose=all",
      name: "shed_dig",
      meta: { projectId: "sheds" },
      scopes: callScopes,
      subject: "shed.dig",
    },
    { endpoint: "/mcp", name: "shed_dig", token: narrow, scopes: callScopes, subject: "shed.dig" },
    {
      endpoint: "/mcp",
      name: "delete-toolset",
      args: { name: "both", confirm: true },
      scopes: "mcp:read mcp:manage",
      subject: "(gateway).delete-toolset",
    },
    {
      endpoint: "/gateway/mcp",
      name: "add_server",
      args: server,
      scopes: "mcp:read mcp:manage",
      subject: "(gateway).add_server",
    },
  ];
  for (const { scopes, subject, ...wanted } of challenged) {
    await t.step(`${wanted.name} at ${wanted.endpoint}`, async () => {
      const { status, text, error, scope, place, noted } = await call(wanted);
      assert.equal(status, 403, text);
      assert.match(text, /INSUFFICIENT_SCOPE/);
      assert.deepEqual([error, scope], ["insufficient_scope", scopes]);
      assert.ok(
        place?.endsWith(`oauth-protected-resource${wanted.endpoint.replace(/\?.*/, "")}`),
        place,
      );
      assert.deepEqual(noted, [`call.refuse ${subject}`]);
    });
  }

  const answered: [Wanted, RegExp][] = [
    [{ endpoint: "/mcp?expose=all", name: "box_dig" }, /TOOL_NOT_FOUND/],
    [{ endpoint: "/toolsets/both/mcp", name: "tool_execute" }, /TOOL_NOT_FOUND/],
    [{ endpoint: "/mcp", name: "tool_execute", args: { toolKey: "box_dig" } }, /TOOLKEY_INVALID/],
    [{ endpoint: "/mcp", name: "box_echo", token: narrow }, /TOOL_NOT_FOUND/],
    [{ endpoint: "/mcp", name: "add_server" }, /TOOL_NOT_FOUND/],
    [{ endpoint: "/mcp", name: "shed_dig", meta: { projectId: "none" } }, /There is no project/],
    [
      { endpoint: "/gateway/mcp", name: "add_server", args: server, token: narrow },
      /ACCESS_DENIED/,
    ],
    [{
      endpoint: "/gateway/mcp",
      name: "add_server",
      args: server,
      meta: { projectId: "sheds" },
    }, /ACCESS_DENIED/],
  ];
  for (const [wanted, said] of answered) {
    await t.step(`not ${wanted.name} at ${wanted.endpoint}: ${said.source}`, async () => {
      const { status, text, error } = await call(wanted);
      assert.equal(status, 200, text);
      assert.match(text, said);
      assert.equal(error, undefined);
    });
  }

  await t.step("resources and prompts too", async () => {
    const visitor = await Visitor.open(guarded.url, "/mcp", reading);
    const response = await visitor.post("prompts/get", { name: "any" });
    await response.body?.cancel();
    assert.equal(response.status, 403);
    assert.equal(extractWWWAuthenticateParams(response).scope, callScopes);
  });

  await t.step("the API", async () => {
    const post = (token: string) =>
      fetch(new URL("/api/servers", guarded.url), {
        method: "POST",
        headers: { "content-type": "application/json", ...bearer(token) },
        body: JSON.stringify(server),
      });
    const response = await post(reading);
    assert.match(await response.text(), /INSUFFICIENT_SCOPE/);
    assert.equal(response.status, 403);
    const { error, scope } = extractWWWAuthenticateParams(response);
    assert.deepEqual([error, scope], ["insufficient_scope", "mcp:read mcp:manage"]);
    const refused = await post(narrow);
    assert.match(await refused.text(), /ACCESS_DENIED/);
    assert.equal(refused.headers.get("www-authenticate"), null);
  });

  await t.step("a call by the API", async () => {
    const reads = { sub: "dan", scope: "mcp:read" };
    const codes = { INSUFFICIENT_SCOPE: {}, ACCESS_DENIED: { mcp_servers: ["shed"] } };
    for (const [code, claims] of Object.entries(codes)) {
      const token = await sign({ ...reads, ...claims });
      await audited.news();
      const answers = [];
      for (const tool of ["echo", "made-up"]) {
        const { value } = await guarded.api("POST", `/api/tools/box/${tool}/call`, {}, token);
        answers.push(value.error);
      }
      assert.deepEqual(answers[0], answers[1]);
      assert.match(JSON.stringify(answers), new RegExp(code));
      const noted = (await audited.news()).map(({ action, subject }) => `${action} ${subject}`);
      assert.deepEqual(noted, ["call.refuse box.echo"]);
    }
  });

  await t.step("a token of the gateway's own is told of no scopes", async () => {
    const { text: token } = await guarded.token({ rights: ["read"] });
    const { status, text, error } = await call({ endpoint: "/mcp", name: "box_echo", token });
    assert.equal(status, 200);
    assert.match(text, /ACCESS_DENIED/);
    assert.equal(error, undefined);
  });

  await t.step("with more scopes the session goes on at once", async () => {
    const visitor = await Visitor.open(guarded.url, "/mcp", reading);
    assert.match(await visitor.call("box_echo"), /INSUFFICIENT_SCOPE/);
    visitor.headers.set("authorization", `Bearer ${await sign(claims)}`);
    assert.match(await visitor.call("box_echo"), /called echo/);
  });
});

Deno.test("a token that is made out to one endpoint opens no other", async () => {
  const token = await provider.sign(`${guarded.url}/servers/box/mcp`);
  assert.equal(await statusOf("/servers/box/mcp", token), 405);
  for (const path of ["/mcp", "/servers/shed/mcp", "/s/box/mcp", "/gateway/mcp", "/api/servers"]) {
    assert.equal(await statusOf(path, token), 401, path);
  }
});

Deno.test("whoever is not let in is told where to go, and why where a token was sent", async () => {
  const expired = await sign({ exp: seconds() - 60 });
  for (const [path, place] of [["/servers/box/mcp", "/servers/box/mcp"], ["/api/servers", ""]]) {
    for (const [headers, wrong] of [[{}, undefined], [bearer(expired), "invalid_token"]] as const) {
      const response = await fetch(new URL(path!, guarded.url), { headers });
      await response.body?.cancel();
      assert.equal(response.status, 401);
      const { error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
      assert.equal(error, wrong);
      assert.equal(
        resourceMetadataUrl?.href,
        `${guarded.url}/.well-known/oauth-protected-resource${place}`,
      );
      const challenge = response.headers.get("www-authenticate") ?? "";
      if (wrong && place) assert.match(challenge, /error_description="[^"]*it has expired"/);
    }
  }
});

Deno.test("a token does not lend its scopes to another of the same person", async () => {
  const open = async (claims: Record<string, unknown>, path = "/servers/box/mcp") =>
    await Visitor.open(guarded.url, path, await sign(claims));
  const [reads, calls] = [await open({ scope: "mcp:read" }), await open({})];
  for (let round = 0; round < 3; round++) {
    const before = box.calls.length;
    assert.match(await reads.call("box.echo"), /ACCESS_DENIED|INSUFFICIENT_SCOPE/);
    assert.equal(box.calls.length, before);
    assert.match(await calls.call("box.echo"), /called echo/);
  }
  // Nor by way of its session.
  reads.headers.set("mcp-session-id", calls.session);
  const before = box.calls.length;
  assert.doesNotMatch(await reads.call("box.echo"), /called/);
  assert.equal(box.calls.length, before);
});

Deno.test("a session goes on with another token of the same person, with that token's rights alone", async () => {
  const all = "/mcp?expose=all";
  const [wide, reads, shedOnly] = await Promise.all([
    sign(),
    sign({ scope: "mcp:read" }),
    sign({ mcp_servers: ["shed"] }),
  ]);
  const visitor = await Visitor.open(guarded.url, all, wide);
  const show = (token: string) => visitor.headers.set("authorization", `Bearer ${token}`);
  const before = box.calls.length;
  show(reads);
  assert.ok((await visitor.tools()).includes("box_echo"));
  assert.match(await visitor.call("box_echo"), /INSUFFICIENT_SCOPE/);
  show(shedOnly);
  assert.ok(!(await visitor.tools()).includes("box_echo"));
  assert.match(await visitor.call("box_echo"), /TOOL_NOT_FOUND/);
  assert.match(await visitor.call("shed_dig"), /called dig/);
  assert.equal(box.calls.length, before);
  // What is said to the session as it was made is not for a narrower one.
  await using listening = await visitor.listen();
  assert.equal(listening.status, 403);
  show(wide);
  assert.match(await visitor.call("box_echo"), /called echo/);
  assert.equal(box.calls.length, before + 1);
  const stepping = await Visitor.open(guarded.url, "/servers/box/mcp", reads);
  assert.doesNotMatch(await stepping.call("box.echo"), /called/);
  stepping.headers.set("authorization", `Bearer ${wide}`);
  assert.match(await stepping.call("box.echo"), /called echo/, "with more scopes, at once");
});

Deno.test("what a person has equipped is equipped with each of their tokens", async () => {
  const toolset = { name: "digging", tools: ["shed.dig"] };
  assert.ok((await guarded.api("POST", "/api/toolsets", toolset)).status < 300);
  const endpoint = "/mcp?expose=toolset";
  const [ann, narrow, bob] = await Promise.all(
    [{}, { scope: "mcp:read" }, { sub: "bob" }].map(async (claims) =>
      Visitor.open(guarded.url, endpoint, await sign(claims))
    ),
  );
  assert.match(await ann!.call("equip-toolset", { name: "digging" }), /digging/);
  const isEquipped = async (visitor: Visitor) => (await visitor.tools()).includes("shed_dig");
  assert.deepEqual(
    [await isEquipped(ann!), await isEquipped(narrow!), await isEquipped(bob!)],
    [true, true, false],
  );
});

Deno.test("a token for some servers finds no trace of the others", async () => {
  const token = await sign({ mcp_servers: ["shed"] });
  const visitor = await Visitor.open(guarded.url, "/mcp?expose=all", token);
  const listed = await visitor.tools();
  assert.ok(listed.includes("shed_dig") && !listed.includes("box_echo"), listed.join());
  assert.match(await visitor.call("box_echo"), /There is no tool|TOOL_NOT_FOUND/);
  assert.match(await visitor.call("shed_dig"), /called dig/);
  assert.equal(await statusOf("/servers/box/mcp", token), 404);
  assert.equal(await statusOf("/api/servers", token), 403);
});

Deno.test("claims limit what a person calls, and say which calls are let through", async () => {
  const endpoint = "/servers/box/mcp";
  const open = async (claims: Record<string, unknown>) =>
    await Visitor.open(guarded.url, endpoint, await sign(claims));
  const few = { sub: "carl", mcp_calls_per_minute: 2 };
  const carl = await open(few);
  assert.match(await carl.call("box.echo"), /called echo/);
  // Nobody gets another count by asking for other scopes.
  const again = await open({ ...few, scope: "mcp:call" });
  assert.match(await again.call("box.echo"), /called echo/);
  assert.match(await carl.call("box.echo"), /LIMIT_EXCEEDED.*limited to 2 per minute/s);
  assert.match(await again.call("box.echo"), /LIMIT_EXCEEDED/);
  // Nor does a token with another limit use up this one, or the other way round.
  const more = await open({ ...few, mcp_calls_per_minute: 3 });
  for (let count = 0; count < 3; count++) {
    assert.match(await more.call("box.echo"), /called echo/);
  }
  assert.match(await more.call("box.echo"), /LIMIT_EXCEEDED.*limited to 3 per minute/s);
  const reader = await open({ sub: "dora", mcp_mode: "read-only" });
  const before = box.calls.length;
  assert.match(await reader.call("box.echo"), /ACCESS_DENIED.*this token allows only/s);
  assert.equal(box.calls.length, before);
  // With her other token she may, in the same session too, and still not with the first one.
  const show = async (claims: Record<string, unknown>) =>
    reader.headers.set("authorization", `Bearer ${await sign({ sub: "dora", ...claims })}`);
  await show({});
  assert.match(await reader.call("box.echo"), /called echo/);
  await show({ mcp_mode: "read-only" });
  assert.match(await reader.call("box.echo"), /ACCESS_DENIED/);
});

Deno.test("a person whose claims name a project cannot leave it", async () => {
  for (const [name, server] of [["attic", "box"], ["garden", "shed"]] as const) {
    await guarded.admin.saveProject({ name, servers: [server] });
  }
  const all = "/mcp?expose=all";
  const bound = { sub: "emil", mcp_project: "garden" };
  const token = await sign(bound);
  const visitor = await until(() => Visitor.open(guarded.url, all, token).catch(() => undefined));
  assert.deepEqual(await visitor.tools(), ["shed_dig"]);
  assert.match(await visitor.call("box_echo"), /TOOL_NOT_FOUND/);
  assert.match(await visitor.call("box_echo", {}, { projectId: "attic" }), /ACCESS_DENIED/);
  assert.match(await visitor.call("shed_dig"), /called dig/);
  assert.equal(await statusOf("/servers/box/mcp", token), 404);
  assert.equal(await statusOf("/servers/shed/mcp?project=attic", token), 403);
  // Nor by way of a session of a token that is in none.
  const free = await Visitor.open(guarded.url, all, await sign({ sub: "emil" }));
  assert.match(await free.call("box_echo"), /called echo/);
  free.headers.set("authorization", `Bearer ${token}`);
  assert.equal((await free.request("tools/list")).status, 404);
  // What is for those alone who see everything.
  const mighty = await sign({ ...bound, scope: "mcp:read mcp:call mcp:manage" });
  for (const path of ["/api/servers", "/api/tokens", "/security/tokens"]) {
    assert.equal(await statusOf(path, mighty), 403, path);
  }
  const nowhere = await sign({ sub: "emil", mcp_project: "nonesuch" });
  for (const path of ["/mcp", "/servers/shed/mcp", "/gateway/mcp"]) {
    assert.equal(await statusOf(path, nowhere), 404, path);
  }
});

Deno.test("a person's narrow token is not told of the toolset that a wider one has equipped", async () => {
  const toolset = { name: "secretive", tools: ["shed.dig"] };
  assert.ok((await guarded.api("POST", "/api/toolsets", toolset)).status < 300);
  const endpoint = "/mcp?expose=toolset";
  const person = { sub: "fred" };
  const wide = await Visitor.open(guarded.url, endpoint, await sign(person));
  assert.match(await wide.call("equip-toolset", { name: "secretive" }), /secretive/);
  const token = await sign({ ...person, mcp_toolsets: ["other"] });
  const narrow = await Visitor.open(guarded.url, endpoint, token);
  assert.ok((await wide.tools()).includes("shed_dig"));
  assert.ok(!(await narrow.tools()).includes("shed_dig"));
  for (const name of ["list-saved-toolsets", "get-active-toolset"]) {
    assert.match(await wide.call(name), /secretive/);
    assert.doesNotMatch(await narrow.call(name), /secretive/, name);
  }
});

Deno.test("a session is of no use to another person, nor to its own after the token's end", async () => {
  const ann = await Visitor.open(guarded.url, "/mcp", await sign());
  const theft = { ...bearer(await sign({ sub: "bob" })), "mcp-session-id": ann.session };
  for (const [name, value] of Object.entries(theft)) ann.headers.set(name, value);
  assert.equal((await ann.request("tools/list")).status, 404);
  // Half a minute is left for clocks that differ.
  const soon = await Visitor.open(guarded.url, "/mcp", await sign({ exp: seconds() - 24 }));
  assert.equal((await soon.request("tools/list")).status, 200);
  await until(async () => (await soon.request("tools/list")).status === 401 || undefined);
});

Deno.test("clients find where to get a token, for each endpoint", async () => {
  for (const path of ["/mcp", "/servers/box/mcp", "/toolsets/none/mcp"]) {
    const url = new URL(path, guarded.url);
    const metadata = await discoverOAuthProtectedResourceMetadata(url);
    assert.equal(metadata.resource, url.href);
    assert.deepEqual(metadata.authorization_servers, [provider.issuer]);
    assert.ok(metadata.scopes_supported?.includes("mcp:call"));
  }
  const whole = await guarded.get("/.well-known/oauth-protected-resource");
  assert.equal((await whole.json()).resource, guarded.url);
  for (const path of ["/settings", "/servers/box", "/mcp/more", "/%2e%2e/mcp"]) {
    const response = await guarded.get(`/.well-known/oauth-protected-resource${path}`);
    assert.equal(response.status, 404, path);
    await response.body?.cancel();
  }
});

Deno.test("a key counts from when it is published until it is withdrawn", async () => {
  const old = await provider.rotate({ keeps: true });
  // The attacks have had a key looked for already: how often that may be is bounded.
  const fetches = provider.fetches;
  for (let round = 0; round < 5; round++) await statusOf("/mcp", await sign());
  assert.ok(provider.fetches <= fetches + 1);
  await using fresh = await Guarded.open({}, [
    "--require-token",
    "--oauth-issuer",
    provider.issuer,
  ]);
  const put = async (key: typeof old) => {
    const token = await provider.sign(fresh.url, { key, claims: { jti: crypto.randomUUID() } });
    const init = { method: "PUT", headers: bearer(token) };
    const response = await fetch(new URL("/mcp", fresh.url), init);
    await response.body?.cancel();
    return response.status;
  };
  assert.deepEqual([await put(old), await put(provider.key)], [405, 405]);
  const withdrawn = await provider.rotate();
  assert.equal(await put(provider.key), 405, "found when it was first seen");
  assert.deepEqual([await put(old), await put(withdrawn)], [401, 401]);
});
