import assert from "node:assert/strict";
import { CallsAnswer, readHeard } from "./browser.ts";

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

Deno.test("CallsAnswer takes the gateway's answer, and nothing else", () => {
  const { calls } = CallsAnswer.parse({ calls: [call("a")], hasOlder: true });
  assert.equal(calls[0]?.id, "a");
  assert.throws(() => CallsAnswer.parse({ error: { message: "no" } }));
});
