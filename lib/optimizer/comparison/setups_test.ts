import assert from "node:assert/strict";
import { directConfig, gatewayConfig } from "./setups.ts";
import { SetUp } from "../../core/task_comparison.ts";

const PROGRAM = {
  type: "stdio",
  command: "node",
  args: ["server.js"],
  env: { KEY: "secret" },
} as const;

Deno.test("directConfig() has programs in their folder and addresses with their login", async () => {
  const config = directConfig([
    { name: "files", spec: { ...PROGRAM, args: [...PROGRAM.args], cwd: "/srv" }, tools: ["a.b"] },
    {
      name: "web",
      spec: { type: "http", url: "https://example.com/mcp", headers: { "X-Team": "7" } },
      authorization: "Bearer t",
      tools: [],
    },
  ], { cwd: "/work", baseEnv: { PATH: "/bin" } });
  assert.deepEqual(config.mcpServers, {
    files: {
      type: "stdio",
      command: "sh",
      args: ["-c", 'cd "$0" && exec "$@"', "/srv", "node", "server.js"],
      env: { PATH: "/bin", KEY: "secret" },
    },
    web: {
      type: "http",
      url: "https://example.com/mcp",
      headers: { "X-Team": "7", Authorization: "Bearer t" },
    },
  });
  assert.deepEqual(config.allowed, ["mcp__files__a_b"]);
  const call = { name: "mcp__files__a_b", arguments: { x: 1 }, failed: false };
  assert.deepEqual(await config.toolOf(call), { tool: "files.a.b", arguments: { x: 1 } });
});

Deno.test("gatewayConfig() allows only what finds, runs and is equipped, and reads executed calls", async () => {
  const nameOf = (key: string) =>
    Promise.resolve(key === "tk_1" || key === "files_read" ? "files.read" : undefined);
  const common = { address: "http://127.0.0.1:1", token: "t", equipped: ["files_read"], nameOf };
  const { mcpServers, allowed, toolOf } = gatewayConfig({ ...common, setup: "gateway" });
  assert.deepEqual(mcpServers, {
    quartermaster: {
      type: "http",
      url: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer t" },
    },
  });
  assert.ok(allowed.includes("mcp__quartermaster__tool_execute"));
  assert.ok(allowed.includes("mcp__quartermaster__files_read"));
  assert.ok(!allowed.includes("mcp__quartermaster"), "the gateway's own tools are not allowed");
  const executed = await toolOf({
    name: "mcp__quartermaster__tool_execute",
    arguments: { toolKey: "tk_1", arguments: { path: "x" } },
    failed: false,
  });
  assert.deepEqual(executed, { tool: "files.read", arguments: { path: "x" } });
  const listed = { name: "mcp__quartermaster__files_read", arguments: {}, failed: false };
  assert.equal((await toolOf(listed)).tool, "files.read");
  const canonical = gatewayConfig({ ...common, setup: "toolset:notes@canonical" });
  assert.match(
    JSON.stringify(canonical.mcpServers),
    /\/toolsets\/notes\/mcp\?descriptions=canonical"/,
  );
  assert.deepEqual(canonical.allowed, ["mcp__quartermaster"]);
});

Deno.test("a set-up is one of the known kinds", () => {
  for (
    const setup of ["direct", "gateway", "gateway@canonical", "toolset:a", "server:b@canonical"]
  ) {
    assert.ok(SetUp.safeParse(setup).success, setup);
  }
  for (const setup of ["direct@canonical", "toolset:", "server:a.b", "gateways"]) {
    assert.ok(!SetUp.safeParse(setup).success, setup);
  }
});
