import assert from "node:assert/strict";
import * as z from "zod";
import { RightMissing } from "../auth/grants.ts";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { builtin, type BuiltinTool } from "../mcp/builtin_tool.ts";
import type { CallerRights } from "../mcp/call.ts";
import { gatewayTools } from "./gateway_tools.ts";
import { operationTools } from "./mcp.ts";
import { SERVER_OPERATIONS } from "./servers.ts";
import { servicesOf } from "./testing/services.ts";

/** Callers are named after their rights; one with ~ before them is for some servers alone. */
const RIGHTS: CallerRights = {
  admits: () => true,
  admitsServer: () => true,
  admitsToolset: () => true,
  grants: (principal: string) => ({
    isWhole: !principal.startsWith("~"),
    may: (right: Right) => principal.replace("~", "").split(" ").includes(right),
  }),
  demand(principal, right) {
    if (!this.grants(principal).may(right)) throw new RightMissing(right, "This");
  },
};

function named(name: string): BuiltinTool {
  const run = () => Promise.resolve({ text: "", data: {} });
  return builtin({ name, title: name, description: name, input: z.object({}), run });
}

Deno.test("mayUse() asks for manage where a tool changes the gateway, or reads a log", () => {
  const rights = gatewayTools(servicesOf({}), RIGHTS);
  const tools = operationTools(Object.values(SERVER_OPERATIONS), servicesOf({}));
  const forReaders = tools.filter((tool) => rights.mayUse("read", tool)).map(({ name }) => name);
  assert.deepEqual(forReaders, ["list_servers", "get_enabled_tools"]);
  for (const tool of tools) {
    assert.ok(rights.mayUse("read manage", tool), tool.name);
    assert.ok(!rights.mayUse("~read manage", tool), tool.name);
  }
});

Deno.test("mayUse() asks for what a tool declares, else for read", () => {
  const rights = gatewayTools(servicesOf({}), RIGHTS);
  const needs = { rights: ["optimize" as const], isWhole: true };
  const optimize = { ...named("optimize_tools"), needs };
  assert.ok(rights.mayUse("optimize", optimize));
  assert.ok(!rights.mayUse("read manage", optimize));
  assert.ok(rights.mayUse("~read", named("tool_discovery")));
  assert.ok(!rights.mayUse("call", named("tool_discovery")));
  // What it can call directly, it can call through another tool.
  assert.ok(rights.mayUse("call", { ...named("tool_execute"), forwards: true }));
  assert.ok(!rights.mayUse("read", { ...named("tool_execute"), forwards: true }));
});

Deno.test("demandUse() names the right that is missing, unless it would be of no use", () => {
  const rights = gatewayTools(servicesOf({}), RIGHTS);
  const add = { ...named("add_server"), needs: { rights: ["manage" as const], isWhole: true } };
  const build = {
    ...named("build-toolset"),
    needs: { rights: ["manage" as const], isWhole: false },
  };
  const missing = (principal: string, tool: string): string => {
    try {
      rights.demandUse(principal, [add, build].find(({ name }) => name === tool) ?? named(tool));
      return "";
    } catch (error) {
      assert.ok(error instanceof GatewayError && error.code === "ACCESS_DENIED");
      return error instanceof RightMissing ? error.right : "none that would help";
    }
  };
  assert.equal(missing("read", "add_server"), "manage");
  assert.equal(missing("read manage", "add_server"), "");
  assert.equal(missing("~read", "add_server"), "none that would help");
  assert.equal(missing("~read manage", "add_server"), "none that would help");
  assert.equal(missing("~read", "build-toolset"), "manage");
  assert.equal(missing("call", "tool_discovery"), "read");
});
