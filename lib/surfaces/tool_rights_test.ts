import assert from "node:assert/strict";
import { z } from "zod";
import { RightMissing } from "../auth/refusals.ts";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { builtin, type BuiltinTool } from "./builtin_tool.ts";
import type { CallerRights } from "./call_gate.ts";
import { serverTools } from "./server_tools.ts";
import type { ServersAdmin } from "./servers_admin.ts";
import { ToolRights } from "./tool_rights.ts";

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

Deno.test("ToolRights.mayUse() asks for manage where a tool changes the gateway, or reads a log", () => {
  const rights = new ToolRights(RIGHTS);
  const tools = serverTools({} as ServersAdmin);
  rights.ofGateway(tools);
  const forReaders = tools.filter((tool) => rights.mayUse("read", tool)).map(({ name }) => name);
  assert.deepEqual(forReaders, ["list_servers", "get_enabled_tools"]);
  for (const tool of tools) {
    assert.ok(rights.mayUse("read manage", tool), tool.name);
    assert.ok(!rights.mayUse("~read manage", tool), tool.name);
  }
});

Deno.test("ToolRights.mayUse() asks for optimize where a tool spends model time, else for read", () => {
  const rights = new ToolRights(RIGHTS);
  rights.ofModels([named("optimize_tools")]);
  assert.ok(rights.mayUse("optimize", named("optimize_tools")));
  assert.ok(!rights.mayUse("read manage", named("optimize_tools")));
  assert.ok(rights.mayUse("~read", named("tool_discovery")));
  assert.ok(!rights.mayUse("call", named("tool_discovery")));
});

Deno.test("ToolRights.demand() names the right that is missing, unless it would be of no use", () => {
  const rights = new ToolRights(RIGHTS);
  rights.ofGateway([named("add_server")]);
  rights.ofToolsets([named("build-toolset")]);
  const missing = (principal: string, tool: string): string => {
    try {
      rights.demand(principal, named(tool));
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
