import assert from "node:assert/strict";
import { asksForToken, withTokenPlace } from "./entry_token.ts";

Deno.test("withTokenPlace() leaves a place for the token, and keeps one that is there", () => {
  const entry = { url: "http://127.0.0.1:3333/mcp" };
  const headers = { Authorization: "Bearer YOUR_TOKEN" };
  assert.deepEqual(withTokenPlace(entry), { ...entry, headers });
  assert.deepEqual(withTokenPlace(entry, { url: "http://127.0.0.1:1/mcp" }), { ...entry, headers });
  const kept = { Authorization: "Bearer mine", "X-Team": "a" };
  assert.deepEqual(withTokenPlace(entry, { ...entry, headers: kept }), { ...entry, headers: kept });
  const program = { command: "deno", args: [] };
  assert.deepEqual(withTokenPlace(program), program);
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
