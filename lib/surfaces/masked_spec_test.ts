import assert from "node:assert/strict";
import type { ServerSpec } from "../core/server.ts";
import { maskSpec, textMasker, unmaskSpec } from "./masked_spec.ts";

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
