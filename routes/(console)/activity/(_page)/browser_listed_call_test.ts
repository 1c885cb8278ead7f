import assert from "node:assert/strict";
import { readCalls, readHeard } from "./browser.ts";

const call = (id: string) => ({
  id,
  at: 0,
  endpoint: "mcp?default",
  session: "s",
  principal: "p",
  server: "git",
  tool: "status",
  ms: 1,
  ok: true,
});

Deno.test("readHeard() turns calls to the newest first, and knows other events", () => {
  const heard = readHeard({ calls: [call("a"), call("b")], skipped: 2 });
  assert.deepEqual([heard?.calls.map(({ id }) => id), heard?.skipped], [["b", "a"], 2]);
  for (const other of [{}, null, { cleared: true }, { calls: [{ id: "a" }] }]) {
    assert.equal(readHeard(other), undefined);
  }
});

Deno.test("readCalls() takes the gateway's answer, and nothing else", () => {
  const { calls } = readCalls({ calls: [call("a")], hasOlder: true });
  assert.equal(calls[0]?.id, "a");
  assert.throws(() => readCalls({ error: { message: "no" } }));
});
