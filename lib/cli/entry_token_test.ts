import assert from "node:assert/strict";
import { asksForToken, withOwn, withTokenPlace } from "./client_files.ts";

Deno.test("withTokenPlace() leaves a place for the token where there is none", () => {
  const entry = { url: "http://127.0.0.1:3333/mcp" };
  const headers = { Authorization: "Bearer YOUR_TOKEN" };
  assert.deepEqual(withTokenPlace(entry), { ...entry, headers });
  for (const name of ["Authorization", "authorization"]) {
    const own = { ...entry, headers: { [name]: "Bearer mine" } };
    assert.deepEqual(withTokenPlace(own), own);
  }
  const team = { "X-Team": "a" };
  assert.deepEqual(withTokenPlace({ ...entry, ...{ headers: team } }), {
    ...entry,
    headers: { ...headers, ...team },
  });
  const program = { command: "deno", args: [] };
  assert.deepEqual(withTokenPlace(program), program);
});

Deno.test("withOwn() keeps what somebody put into the entry before", () => {
  const entry = { url: "http://127.0.0.1:3333/mcp" };
  const headers = { authorization: "Bearer mine", "X-Team": "a" };
  assert.deepEqual(withOwn(entry, { url: "http://127.0.0.1:1/mcp", headers }), {
    ...entry,
    headers,
  });
  const program = { command: "deno", args: ["run"] };
  const env = { QUARTERMASTER_TOKEN: "mine" };
  assert.deepEqual(withOwn(program, { command: "old", args: [], env }), { ...program, env });
  for (const before of [undefined, "x", { url: "http://127.0.0.1:1/mcp" }]) {
    assert.deepEqual(withOwn(entry, before), entry);
    assert.deepEqual(withOwn(program, before), program);
  }
  const unfilled = { ...entry, headers: { Authorization: "Bearer YOUR_TOKEN" } };
  assert.deepEqual(withOwn(entry, unfilled), entry);
});

Deno.test("asksForToken() takes a refusal for a yes, and no answer for a no", async () => {
  for (const [status, expected] of [[401, true], [200, false]] as const) {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("{}", { status }),
    );
    const address = `http://127.0.0.1:${server.addr.port}`;
    try {
      assert.equal(await asksForToken(address), expected);
    } finally {
      await server.shutdown();
    }
    assert.equal(await asksForToken(address), false);
  }
});
