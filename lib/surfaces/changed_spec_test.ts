import assert from "node:assert/strict";
import { ServerSpec, StdioServer } from "../core/server.ts";
import { isReachedTheSame, programAlone, runsTheSame, withKept } from "./changed_spec.ts";

const stored = StdioServer.parse({
  type: "stdio",
  command: "run",
  args: ["a"],
  env: { A: "1", B: "2" },
  lazy: true,
  mode: "read-only",
  maxConcurrent: 2,
  trust: "untrusted",
});

Deno.test("withKept() keeps what an owner has decided, unless the change says otherwise", () => {
  const other = ServerSpec.parse({ type: "http", url: "https://a.example/" });
  assert.deepEqual(withKept(other, stored), {
    ...other,
    mode: "read-only",
    maxConcurrent: 2,
    trust: "untrusted",
  });
  const changed = withKept({ ...stored, mode: "all" }, stored);
  assert.equal(changed.mode, "all");
  assert.equal("lazy" in changed && changed.lazy, true);
});

Deno.test("runsTheSame() sees every part of what is run", () => {
  assert.ok(runsTheSame({ ...stored, env: { B: "2", A: "1" }, timeoutMs: 500 }, stored));
  const changes = [
    { command: "other" },
    { args: [] },
    { args: ["a", "b"] },
    { env: { A: "1" } },
    { env: { A: "1", B: "3" } },
    { cwd: "/tmp" },
  ];
  for (const change of changes) {
    assert.equal(runsTheSame({ ...stored, ...change }, stored), false, JSON.stringify(change));
  }
  assert.equal(runsTheSame(stored, undefined), false);
  assert.equal(runsTheSame(stored, { type: "demo" }), false);
});

Deno.test("isReachedTheSame() looks at all but what was decided about a server", () => {
  const { type, ...rest } = stored;
  for (
    const change of [
      {},
      { trust: "trusted" as const },
      { changes: "hold" as const },
      { mode: "all" as const, maxConcurrent: 9 },
      { timeoutMs: 500 },
      { disabled: false },
      // One that is down can be switched off, but is tried before it is switched on.
      { disabled: true },
    ]
  ) {
    assert.ok(isReachedTheSame({ ...rest, ...change, type }, stored), JSON.stringify(change));
  }
  for (const change of [{ args: [] }, { lazy: false }]) {
    assert.ok(!isReachedTheSame({ ...stored, ...change }, stored), JSON.stringify(change));
  }
  assert.ok(!isReachedTheSame({ ...stored, disabled: false }, { ...stored, disabled: true }));
  assert.ok(!isReachedTheSame({ ...stored, disabled: true, args: [] }, stored));
});

Deno.test("programAlone() is the program, and nothing that was decided about it", () => {
  assert.deepEqual(programAlone({ ...stored, cwd: "/tmp" }), {
    type: "stdio",
    command: "run",
    args: ["a"],
    env: { A: "1", B: "2" },
    cwd: "/tmp",
  });
  assert.ok(!("cwd" in programAlone(stored)));
});
