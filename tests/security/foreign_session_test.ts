import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { until } from "../gateway.ts";
import { bearer, Guarded, Visitor } from "./guarded.ts";

const ACCEPT = "application/json, text/event-stream";

let server: ScriptedServer;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  server = new ScriptedServer([tool("echo")]);
  guarded = await Guarded.open({ box: at(server) });
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** Everything that can be done with a session's id, and an event's where there is one. */
function tries(session: string, event: string): Record<string, RequestInit> {
  const common = { "mcp-session-id": session, accept: ACCEPT };
  const json = { ...common, "content-type": "application/json" };
  const post = (message: object) => ({
    method: "POST",
    headers: json,
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  return {
    list: post({ id: 1, method: "tools/list", params: {} }),
    call: post({ id: 2, method: "tools/call", params: { name: "box_echo", arguments: {} } }),
    ping: post({ id: 3, method: "ping" }),
    notification: post({ method: "notifications/cancelled", params: { requestId: 1 } }),
    answer: post({ id: 4, result: { action: "accept" } }),
    stream: { method: "GET", headers: common },
    resume: { method: "GET", headers: { ...common, "last-event-id": event } },
    end: { method: "DELETE", headers: common },
  };
}

async function send(url: URL, init: RequestInit, token: string | undefined) {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(bearer(token))) headers.set(name, value);
  const response = await fetch(url, { ...init, headers });
  // Never the whole: a stream that was let through would not end.
  const reader = response.body?.getReader();
  const first = response.status === 200 || response.status === 202 ? undefined : reader?.read();
  const text = new TextDecoder().decode((await first)?.value);
  await reader?.cancel();
  return { status: response.status, text };
}

Deno.test("another's session id opens nothing, with a token of one's own, a revoked one or none", async () => {
  const [victim, thief, revoked] = await Promise.all([
    guarded.token(),
    guarded.token({ rights: ["read", "call", "manage", "optimize"] }),
    guarded.token(),
  ]);
  await guarded.revoke(revoked);
  for (const path of ["/mcp", "/servers/box/mcp", "/gateway/mcp"]) {
    const owner = await Visitor.open(guarded.url, path, victim.text);
    await using stream = await owner.listen();
    assert.equal(stream.status, 200);
    const calls = server.calls.length;
    for (const [name, init] of Object.entries(tries(owner.session, "0-0"))) {
      const [theirs, nobody, ended, made] = await Promise.all(
        [thief.text, undefined, revoked.text, "qm_made_up_by_somebody"].map((token) =>
          send(owner.url, init, token)
        ),
      );
      assert.equal(theirs?.status, 404, `${path} ${name}`);
      assert.match(theirs?.text ?? "", /Session not found/);
      for (const refused of [nobody, ended, made]) {
        assert.equal(refused?.status, 401, `${path} ${name}`);
      }
    }
    assert.equal(server.calls.length, calls, "a call went through");
    assert.equal(stream.isOver, false, "the session was ended by somebody else");
    assert.ok((await owner.tools()).length > 0, "its owner can go on");
    assert.doesNotMatch(stream.text, /event: message/);
  }
});

Deno.test("a session id is of no use at another endpoint or in another project", async () => {
  const { text: token } = await guarded.token();
  await guarded.admin.saveProject({ name: "web", servers: [] });
  const owner = await Visitor.open(guarded.url, "/servers/box/mcp", token);
  for (const path of ["/mcp", "/gateway/mcp", "/servers/box/mcp?names=flat"]) {
    const { status } = await send(
      new URL(path, guarded.url),
      tries(owner.session, "0-0").list!,
      token,
    );
    assert.equal(status, 404, path);
  }
  const inProject = "/servers/box/mcp?project=web";
  await until(() => Visitor.open(guarded.url, inProject, token).catch(() => undefined));
  const { status } = await send(
    new URL(inProject, guarded.url),
    tries(owner.session, "0-0").list!,
    token,
  );
  assert.equal(status, 404);
  assert.equal((await owner.request("tools/list")).status, 200);
});

Deno.test("a gateway that takes a session over asks for the same token", async () => {
  const [victim, thief] = await Promise.all([guarded.token(), guarded.token()]);
  const owner = await Visitor.open(guarded.url, "/mcp", victim.text);
  const sibling = new URL("/mcp", await guarded.start());
  await guarded.knows(thief.text);
  for (const [name, init] of Object.entries(tries(owner.session, "0-0"))) {
    assert.equal((await send(sibling, init, thief.text)).status, 404, name);
    assert.equal((await send(sibling, init, undefined)).status, 401, name);
  }
  const { list } = tries(owner.session, "0-0");
  const headers = { ...list!.headers, ...bearer(victim.text) };
  const taken = await fetch(sibling, { ...list, headers });
  assert.match(await taken.text(), /tool_discovery/);
});
