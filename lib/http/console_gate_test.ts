import assert from "node:assert/strict";
import { Access } from "../auth/access.ts";
import type { ConsoleLogins } from "../auth/console_logins.ts";
import { hashOf } from "../auth/credentials.ts";
import { AccessScope, type AccessToken, type Right, RIGHTS } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { ConsoleGate, COOKIE } from "./console_gate.ts";

const URL_BASE = "http://localhost:3333";

function tokenWith(rights: string[]): AccessToken {
  const scope = AccessScope.parse({ rights });
  return { id: "aaaaaaaa", name: "a", hash: hashOf("qm_a"), scope, createdAt: 0 };
}

function gateFor(rights: string[]) {
  const access = new Access({ isRequired: true });
  access.load([tokenWith(rights)], []);
  const logins = {
    find: (cookie: string) => cookie === "good" ? "token:aaaaaaaa" : undefined,
  } as ConsoleLogins;
  return { access, gate: new ConsoleGate({ access, logins }) };
}

function requestTo(path: string, method = "GET", headers: Record<string, string> = {}) {
  return new Request(URL_BASE + path, {
    method,
    headers: { authorization: "Bearer qm_a", ...headers },
  });
}

async function outcome(
  gate: ConsoleGate,
  request: Request,
  rights: readonly Right[] = ["read"],
): Promise<string> {
  try {
    const principal = await gate.identify(request);
    gate.demand(request, principal, rights);
    return principal;
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error.code;
  }
}

Deno.test("ConsoleGate.demand() asks for every right of the list, and for a token without limits", async () => {
  for (const rights of [["read"], ["read", "manage"], ["manage", "call"]] as const) {
    const { gate } = gateFor([...rights]);
    assert.equal(await outcome(gate, requestTo("/servers"), rights), "token:aaaaaaaa");
    for (const missing of rights) {
      const { gate } = gateFor(RIGHTS.filter((right) => right !== missing));
      assert.equal(await outcome(gate, requestTo("/servers"), rights), "ACCESS_DENIED");
    }
  }
});

Deno.test("ConsoleGate.demand() tells a person of an identity provider which scopes to ask for", async () => {
  const vouched = (more: Partial<AccessScope>) => ({
    principal: "oauth:ann#1",
    name: "Ann",
    scope: { ...AccessScope.parse({ rights: ["read"] }), ...more },
    expiresAt: Date.now() + 60_000,
  });
  const gateOf = (more: Partial<AccessScope> = {}) => {
    const access = new Access({ isRequired: true, vouch: () => Promise.resolve(vouched(more)) });
    const logins = { find: () => "oauth:ann#1" } as unknown as ConsoleLogins;
    return new ConsoleGate({ access, logins });
  };
  const gate = gateOf();
  assert.equal(await outcome(gate, requestTo("/api/servers")), "oauth:ann#1");
  const call = requestTo("/api/tools/git/status/call", "POST");
  assert.throws(() => gate.demand(call, "oauth:ann#1", ["manage", "call"]), {
    code: "INSUFFICIENT_SCOPE",
    scopes: ["mcp:read", "mcp:call", "mcp:manage"],
  });
  const byCookie = new Request(`${URL_BASE}/settings`, {
    method: "POST",
    headers: { cookie: `${COOKIE}=good`, origin: URL_BASE },
  });
  assert.equal(await outcome(gate, byCookie, ["manage"]), "ACCESS_DENIED", "no token to ask for");
  const narrow = gateOf({ servers: ["git"] });
  for (const method of ["GET", "POST"]) {
    assert.equal(await outcome(narrow, requestTo("/servers", method)), "ACCESS_DENIED");
  }
});

Deno.test("ConsoleGate.identify() asks a proxy's guest for a token where this machine needs none", async () => {
  const access = new Access({ isRequired: false });
  access.load([tokenWith(["read"])], []);
  const logins = {
    find: (cookie: string) => cookie === "good" ? "token:aaaaaaaa" : undefined,
  } as ConsoleLogins;
  const gate = new ConsoleGate({ access, logins });
  const from = (headers: Record<string, string>, path = "/api/servers") =>
    outcome(gate, new Request(URL_BASE + path, { headers }));
  const proxied = { "x-forwarded-proto": "https" };
  assert.equal(await from({}), "everyone");
  assert.equal(await from(proxied), "TOKEN_REQUIRED");
  assert.equal(await from({ ...proxied, cookie: `${COOKIE}=old` }), "TOKEN_REQUIRED");
  // The login page is open to everyone, but a guest there has no rights.
  assert.equal(
    await gate.identify(new Request(`${URL_BASE}/login`, { headers: proxied })),
    "everyone",
  );
  assert.equal(await from(proxied, "/login"), "TOKEN_REQUIRED");
  assert.equal(await from({ ...proxied, cookie: `${COOKIE}=good` }), "token:aaaaaaaa");
  assert.equal(await from({ ...proxied, authorization: "Bearer qm_a" }), "token:aaaaaaaa");
});

Deno.test("ConsoleGate.identify() takes a change by cookie from a page of this gateway alone", async () => {
  const { gate } = gateFor(["read", "manage"]);
  const by = (path: string, headers: Record<string, string>) =>
    outcome(
      gate,
      new Request(URL_BASE + path, {
        method: "POST",
        headers: { cookie: `${COOKIE}=good`, ...headers },
      }),
    );
  for (const path of ["/settings", "/logout"]) {
    assert.equal(await by(path, {}), "FOREIGN_ORIGIN", path);
    assert.equal(await by(path, { "sec-fetch-site": "cross-site" }), "FOREIGN_ORIGIN", path);
  }
  assert.equal(await by("/settings", { origin: URL_BASE }), "token:aaaaaaaa");
  assert.equal(await by("/settings", { "sec-fetch-site": "same-origin" }), "token:aaaaaaaa");
});

Deno.test("ConsoleGate.stream() says nothing more to one whose token has ended", async () => {
  const { gate, access } = gateFor(["read"]);
  let say = (_: string) => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      say = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const response = await gate.stream(requestTo("/api/events"), () => new Response(body));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  say("event: activity\ndata: {}\n\n");
  say("before");
  assert.equal((await reader.read()).value, "before", "calls are for those who manage");
  access.load([], []);
  say("after");
  assert.deepEqual(await reader.read(), { done: true, value: undefined });
});
