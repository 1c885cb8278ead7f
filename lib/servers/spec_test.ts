import assert from "node:assert/strict";
import { ProgramServer, ServerSpec } from "../core/server.ts";
import {
  isSameServer,
  maskSpec,
  programSpec,
  runsTheSame,
  textMasker,
  unmaskSpec,
  withKeptFields,
  withoutKeptReferences,
} from "./spec.ts";

const REMOTE: ServerSpec = {
  type: "http",
  url: "https://ada:open-sesame@example.com/mcp?api_key=query-secret",
  headers: { Authorization: "Bearer header-secret", "X-Mode": "1" },
};
const LOCAL: ServerSpec = {
  type: "stdio",
  command: "npx",
  args: ["-y", "some-server", "--token", "argument-secret"],
  env: { API_KEY: "variable-secret", DEBUG: "1" },
};

Deno.test("maskSpec() shows no header, no variable, and no secret of address or arguments", () => {
  const text = JSON.stringify([maskSpec(REMOTE), maskSpec(LOCAL)]);
  for (const word of ["sesame", "secret", '"1"']) assert.ok(!text.includes(word), text);
  for (const word of ["example.com/mcp", "Authorization", "API_KEY", "some-server"]) {
    assert.ok(text.includes(word), text);
  }
});

const REFERS: ServerSpec = {
  type: "http",
  url: "https://example.com/mcp?api_key=${secret:KEY}",
  headers: {
    Authorization: "Bearer ${secret:TOKEN}",
    "X-Mixed": "half-of-it-${secret:TOKEN}",
    "X-Plain": "header-secret",
  },
};
const RUNS: ServerSpec = {
  type: "stdio",
  command: "npx",
  args: ["some-server", "--token", "${secret:TOKEN}"],
  env: { API_KEY: "${secret:KEY}", OTHER: "variable-secret" },
};

Deno.test("maskSpec() shows what only refers to a secret, and nothing written beside it", () => {
  assert.deepEqual(maskSpec(REFERS), {
    ...REFERS,
    headers: { Authorization: "Bearer ${secret:TOKEN}", "X-Mixed": "***", "X-Plain": "***" },
  });
  assert.deepEqual(maskSpec(RUNS), { ...RUNS, env: { API_KEY: "${secret:KEY}", OTHER: "***" } });
});

Deno.test("unmaskSpec() keeps a reference that is sent back as it was shown, or masked", () => {
  for (const spec of [REFERS, RUNS]) assert.deepEqual(unmaskSpec(maskSpec(spec), spec), spec);
  const masked: ServerSpec = { ...RUNS, env: { API_KEY: "***", OTHER: "***" } };
  assert.deepEqual(unmaskSpec(masked, RUNS), RUNS);
});

Deno.test("withoutKeptReferences() masks what stays as it is, and only towards the same place", () => {
  for (const spec of [REFERS, RUNS]) {
    const sent = withoutKeptReferences(maskSpec(spec), maskSpec(spec));
    const values = "env" in sent ? sent.env : "headers" in sent ? sent.headers : {};
    assert.deepEqual([...new Set(Object.values(values))], ["***"]);
    assert.deepEqual(unmaskSpec(sent, spec), spec);
  }
  const named: ServerSpec = { ...RUNS, env: { API_KEY: "${secret:ANOTHER}", B: "${secret:KEY}" } };
  assert.deepEqual(withoutKeptReferences(named, maskSpec(RUNS)), named);
  const elsewhere: ServerSpec[] = [
    { ...REFERS, url: "https://evil.example/mcp" },
    { ...RUNS, command: "env" },
    { ...RUNS, args: [] },
  ];
  for (const moved of elsewhere) {
    for (const shown of [maskSpec(REFERS), maskSpec(RUNS)]) {
      assert.deepEqual(withoutKeptReferences(moved, shown), moved);
    }
  }
});

Deno.test("textMasker() takes an entry's secrets out of what its server wrote", () => {
  const mask = textMasker(LOCAL);
  assert.equal(mask("Started with variable-secret"), "Started with ***");
  assert.equal(mask("Nothing to hide"), "Nothing to hide");
});

Deno.test("unmaskSpec() puts back what came masked, and takes what is new", () => {
  for (const spec of [REMOTE, LOCAL]) assert.deepEqual(unmaskSpec(maskSpec(spec), spec), spec);
  const changed = unmaskSpec(
    { ...maskSpec(LOCAL), env: { API_KEY: "***", DEBUG: "2" } } as ServerSpec,
    LOCAL,
  );
  assert.deepEqual(changed, { ...LOCAL, env: { API_KEY: "variable-secret", DEBUG: "2" } });
  const moved = unmaskSpec(
    { type: "http", url: "https://example.com/v2", headers: { Authorization: "***" } },
    REMOTE,
  );
  assert.deepEqual(moved.type === "http" && moved.headers, {
    Authorization: "Bearer header-secret",
  });
});

Deno.test("unmaskSpec() never sends a kept secret to another place", () => {
  const elsewhere: ServerSpec[] = [
    { type: "http", url: "https://evil.example/mcp", headers: { Authorization: "***" } },
    { type: "http", url: "http://example.com/mcp", headers: { Authorization: "***" } },
    { type: "stdio", command: "env", args: [], env: { API_KEY: "***" } },
    { type: "stdio", command: "npx", args: ["-y", "evil"], env: { API_KEY: "***" } },
    { type: "http", url: "https://ada:***@evil.example/mcp", headers: {} },
  ];
  for (const wanted of elsewhere) {
    for (const stored of [REMOTE, LOCAL]) {
      assert.throws(() => unmaskSpec(wanted, stored), { code: "INVALID_ARGUMENTS" });
    }
  }
  const masked = maskSpec(LOCAL);
  const args = masked.type === "stdio" ? masked.args : [];
  for (const command of ["npx", "evil"]) {
    const wanted: ServerSpec = { type: "stdio", command, args: ["x", ...args], env: {} };
    assert.throws(() => unmaskSpec(wanted, LOCAL), { code: "INVALID_ARGUMENTS" });
  }
});

const stored = ProgramServer.parse({
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
  assert.deepEqual(withKeptFields(other, stored), {
    ...other,
    mode: "read-only",
    maxConcurrent: 2,
    trust: "untrusted",
  });
  const isolation = { kind: "sandbox" as const, net: ["example.com"] };
  const kept = withKeptFields(stored, { ...stored, isolation });
  assert.deepEqual("isolation" in kept && kept.isolation, isolation);
  const changed = withKeptFields({ ...stored, mode: "all" }, stored);
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
    { isolation: { kind: "sandbox" as const } },
  ];
  for (const change of changes) {
    assert.equal(runsTheSame({ ...stored, ...change }, stored), false, JSON.stringify(change));
  }
  const sandbox = { kind: "sandbox" as const, write: ["/a"] };
  const isolated = { ...stored, isolation: sandbox };
  assert.ok(runsTheSame({ ...isolated }, isolated));
  for (
    const isolation of [undefined, { kind: "none" as const }, { ...sandbox, write: ["/a", "/b"] }]
  ) {
    assert.equal(runsTheSame({ ...stored, isolation } as typeof stored, isolated), false);
  }
  assert.ok(runsTheSame({ ...stored, isolation: { kind: "none" } }, stored));
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
      { startTimeoutMs: 500 },
      { disabled: false },
      // One that is down can be switched off, but is tried before it is switched on.
      { disabled: true },
    ]
  ) {
    assert.ok(isSameServer({ ...rest, ...change, type }, stored), JSON.stringify(change));
  }
  for (const change of [{ args: [] }, { lazy: false }]) {
    assert.ok(!isSameServer({ ...stored, ...change }, stored), JSON.stringify(change));
  }
  assert.ok(!isSameServer({ ...stored, disabled: false }, { ...stored, disabled: true }));
  assert.ok(!isSameServer({ ...stored, disabled: true, args: [] }, stored));
});

Deno.test("programAlone() is the program, and nothing that was decided about it", () => {
  assert.deepEqual(programSpec({ ...stored, cwd: "/tmp" }), {
    type: "stdio",
    command: "run",
    args: ["a"],
    env: { A: "1", B: "2" },
    cwd: "/tmp",
  });
  assert.ok(!("cwd" in programSpec(stored)));
  assert.deepEqual(programSpec({ ...stored, isolation: { kind: "sandbox" } }).isolation, {
    kind: "sandbox",
  });
  // A change that takes it away says so, for what is left out is kept.
  const taken: object = { isolation: undefined };
  assert.deepEqual(programSpec({ ...stored, ...taken }).isolation, { kind: "none" });
});
